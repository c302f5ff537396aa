import type { StoreError } from '@groundcrew/store';
import { Interruption } from '../interruption.js';
import type { Interaction } from '../turn/interaction.js';

/** Another process writes the session now, or it was deleted. */
export function isLoss(error: StoreError): boolean {
  return error.kind === 'stale_owner' || error.kind === 'unknown_session' || error.kind === 'seq_conflict';
}

/** Why a turn that took too long was ended, and what to do. */
export function timeLimitText(milliseconds: number): string {
  return `The turn was ended after ${Math.round(milliseconds / 60_000)} minutes. Send another prompt to go on.`;
}

/** The session is closed: what a turn worked on stays as it is. */
export function isLeftAsItIs({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof Interruption && reason.kind === 'close';
}

/** How a turn ended. `held`: prompts that wait go on waiting. `stopped`: nothing more is said here. */
export type TurnOutcome = 'answered' | 'aborted' | 'held' | 'stopped';

/** The work of an agent while it runs: one prompt after the other, until none waits. */
export interface Run {
  controller: AbortController;
  interaction?: Interaction;
  /** Its prompt is stored; until then a failure is reported to its sender alone. */
  isSafe: boolean;
  readonly done: Promise<void>;
}
