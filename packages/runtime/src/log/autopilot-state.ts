import type { EventOf } from '@groundcrew/protocol';

/** An agent that has answered and has not stopped yet. */
export interface StopRequest {
  readonly interactionId: string;
  /** How often hooks have kept it from stopping. */
  readonly blocks: number;
  /** A user rejected a call: it does not go on by itself. */
  readonly isRejected: boolean;
}

/** Whether autopilot still works towards the objective. */
export interface Objective {
  readonly id: number;
  readonly status: NonNullable<EventOf<'session.autopilot_objective_changed'>['data']['status']>;
}
