import type { Interaction } from '../turn/interaction.js';

/** The loop of a session while it works: one prompt after the other, until none waits. */
export interface Run {
  controller: AbortController;
  interaction?: Interaction;
  /** Its prompt is stored; until then whoever sent it hears of a failure, and nobody else. */
  isSafe: boolean;
  readonly done: Promise<void>;
}
