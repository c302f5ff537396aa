import type { EventData } from '@groundcrew/protocol';
import type { TraceContext } from '../settings/session-settings.js';
import type { Toolset } from '../tools/toolset.js';

/** A call as the model made it, its arguments read. */
export interface CallToRun {
  readonly toolCallId: string;
  readonly name: string;
  readonly arguments: unknown;
  readonly argumentsText: string;
  /** Why its arguments could not be read. */
  readonly problem?: string;
  /** What was approved for it before a process died; the same is not asked again, and nothing else is covered. */
  readonly granted?: readonly EventData<'permission.requested'>[];
}

/** The turn that a call belongs to. */
export interface GateTurn {
  readonly toolset: Toolset;
  readonly model: string;
  readonly interactionId: string;
  readonly turnId: string;
  readonly trace: TraceContext;
}
