import type { EventData } from '@groundcrew/protocol';

/** A limit of the session that is spent: which one, and in its own unit what it allows and what is spent of it. */
export type SessionLimitsRequest = Omit<EventData<'session_limits_exhausted.requested'>, 'requestId'>;

/** How a session goes on that has spent what it may: with so much more, with no such limit, or not at all. */
export type SessionLimitsAnswer =
  | { readonly action: 'add'; readonly additional: number }
  | { readonly action: 'set'; readonly max: number }
  | { readonly action: 'unset' }
  | { readonly action: 'cancel' };

/** Says how a session goes on that has spent what it may. One that throws leaves the question to other clients. */
export type SessionLimitsHandler = (
  request: SessionLimitsRequest,
  invocation: { readonly sessionId: string; readonly requestId: string },
  signal: AbortSignal,
) => SessionLimitsAnswer | Promise<SessionLimitsAnswer>;
