import type { EventData } from '@groundcrew/protocol';

/** A limit of the session that is spent: which one, and in its own unit what it allows and what is spent of it. */
export type SessionLimitsRequest = Omit<EventData<'session_limits_exhausted.requested'>, 'requestId'>;

/** How a session continues at a limit: with so much more, without that limit, or not at all. */
export type SessionLimitsAnswer =
  | { readonly action: 'add'; readonly additional: number }
  | { readonly action: 'set'; readonly max: number }
  | { readonly action: 'unset' }
  | { readonly action: 'cancel' };

/** Decides how a session continues that has reached a limit. If it throws, the question stays open for other clients. */
export type SessionLimitsHandler = (
  request: SessionLimitsRequest,
  invocation: { readonly sessionId: string; readonly requestId: string },
  signal: AbortSignal,
) => SessionLimitsAnswer | Promise<SessionLimitsAnswer>;
