import type { AssistantMessageEvent, EventOf, EventType, Session, SessionEvent } from '@groundcrew/sdk';
import { TestingError } from './errors.js';

/** How long to wait. */
export interface WaitOptions {
  /** Milliseconds; 10,000 unless given. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

/** The first event of this type from now on. Rejects when the session fails first, is left, or takes too long. */
export function getNextEventOfType<K extends EventType>(
  session: Session,
  type: K,
  options: WaitOptions = {},
): Promise<EventOf<K>> {
  return firstEvent(session, options, type, (event) =>
    event.type === type ? (event as EventOf<K>) : undefined,
  );
}

/**
 * What the agent said last, once the session is idle: at once if it is, else when the running turn is over.
 * Rejects when the turn fails, or ends without a word.
 */
export async function getFinalAssistantMessage(
  session: Session,
  options: WaitOptions = {},
): Promise<AssistantMessageEvent> {
  const idle = new AbortController();
  const signals = [idle.signal, ...(options.signal ? [options.signal] : [])];
  const waiting = getNextEventOfType(session, 'session.idle', {
    ...options,
    signal: AbortSignal.any(signals),
  });
  waiting.catch(() => undefined);
  const { processing } = await session.call('session.metadata.isProcessing');
  if (processing) await waiting;
  else idle.abort();
  return lastWord(await session.getEvents());
}

function lastWord(events: readonly SessionEvent[]): AssistantMessageEvent {
  const asked = events.findLastIndex((event) => event.type === 'user.message');
  const turn = events.slice(asked + 1);
  const failure = turn.find((event) => event.type === 'session.error');
  if (failure?.type === 'session.error') throw failed(failure);
  const said = turn.findLast((event) => event.type === 'assistant.message' && event.agentId === undefined);
  if (said?.type === 'assistant.message') return said;
  throw new TestingError('not_as_expected', 'The session is idle, and the agent has said nothing');
}

async function firstEvent<T>(
  session: Session,
  { timeout = 10_000, signal }: WaitOptions,
  what: string,
  pick: (event: SessionEvent) => T | undefined,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeout);
  const ending = AbortSignal.any([late.signal, ...(signal ? [signal] : [])]);
  const seen: string[] = [];
  try {
    for await (const event of session.events(ending)) {
      const found = pick(event);
      if (found !== undefined) return found;
      seen.push(event.type);
      if (event.type === 'session.error') throw failed(event);
    }
  } finally {
    clearTimeout(timer);
  }
  signal?.throwIfAborted();
  const why = late.signal.aborted
    ? `did not come within ${timeout} ms`
    : 'did not come before the session was left';
  throw new TestingError('timeout', `${what} ${why}; heard: ${seen.slice(-20).join(', ') || 'nothing'}`);
}

function failed({ data }: EventOf<'session.error'>): TestingError {
  return new TestingError('session_error', `The session failed: ${data.message}`);
}
