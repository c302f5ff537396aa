import type { EventData } from '@groundcrew/protocol';
import type { CallReview, CallReviews } from '../hooks/tool-hooks.js';
import type { OpenCall } from '../log/state.js';
import type { TraceContext } from '../settings/session-settings.js';
import type { AgentWatch } from '../telemetry/observer.js';
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
  /** What telemetry sees of the agent; nothing where telemetry is off. */
  readonly watch?: AgentWatch;
}

/** The trace that one call belongs to. */
export function traceOf({ call, turn }: { readonly call: CallToRun; readonly turn: GateTurn }): TraceContext {
  return turn.watch?.toolTrace(call.toolCallId) ?? turn.trace;
}

/** A call on its way through the gate. */
export interface Passage {
  /** As it is run. */
  readonly call: CallToRun;
  /** As the model made it; hooks that are asked again see this. */
  readonly original: CallToRun;
  readonly turn: GateTurn;
  readonly signal: AbortSignal;
  /** The user approved it while the session's hooks were away: its result does not wait for them. */
  readonly isUnguarded?: boolean;
  /** The hooks of all calls of its message. */
  readonly reviews?: CallReviews;
}

/** A call of which only the log is left: as it is run, and as the model made it. */
export function callsOf({ toolCallId, toolName: name, granted = [], modified, problem, ...open }: OpenCall) {
  const original: CallToRun = {
    toolCallId,
    name,
    arguments: open.arguments,
    argumentsText: '',
    granted,
    ...(problem !== undefined && { problem }),
  };
  return { original, call: modifiedCall(original, modified) };
}

/** Arguments that a hook has written can be read, whatever the model wrote. */
export function modifiedCall(call: CallToRun, modified: CallReview['modified']): CallToRun {
  if (!modified) return call;
  const { problem: _, ...readable } = call;
  return { ...readable, arguments: modified.arguments };
}
