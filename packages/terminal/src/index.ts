import { Face } from './face/face.js';
import type { TerminalContext } from './terminal-context.js';

/** Shows sessions in a terminal until the user leaves; resolves with the exit code. */
export function runTerminal(world: TerminalContext): Promise<number> {
  return new Face(world).run();
}

export type {
  ConnectionWatch,
  OpenedSession,
  SessionChoice,
  StopSignal,
  TerminalContext,
} from './terminal-context.js';
