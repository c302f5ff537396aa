import type { Interaction } from '../loop/interaction.js';

/** The loop of a session while it works: one prompt after the other, until none waits. */
export interface Run {
  controller: AbortController;
  interaction?: Interaction;
  /** Its prompt is stored; until then whoever sent it hears of a failure, and nobody else. */
  isSafe: boolean;
  readonly done: Promise<void>;
}

/**
 * What ends a run. Its signal has one listener for good: while many come and go, one at a time, each of them would stay alive
 * with all that it knows until V8 looks through its whole heap.
 */
export function runController(): AbortController {
  const controller = new AbortController();
  controller.signal.addEventListener('abort', heardByOthers);
  return controller;
}

const heardByOthers = (): undefined => undefined;
