import { Face } from './face/face.js';
import type { World } from './world.js';

/** Shows sessions in a terminal until the user leaves; resolves with the exit code. */
export function runTerminal(world: World): Promise<number> {
  return new Face(world).run();
}

export type { ConnectionWatch, OpenedSession, SessionChoice, StopSignal, World } from './world.js';
