import { createHash } from 'node:crypto';
import type { Exchange, HttpRequest } from './exchange.js';
import { retryAfterSeconds } from './failure.js';

/** No call waits longer for others. A service that asks for more has no pace but a quota that is spent: it says so to each. */
const longestWaitMs = 60_000;
const firstWaitMs = 500;

/** A key whose service has said that there were too many calls. */
interface Limited {
  until: number;
  /** How many calls in a row it has limited, each begun after the one before was answered. */
  times: number;
  /** When it was said last here. */
  refusedAt: number;
  /** The one call that tries whether it is over. */
  trial: Promise<void> | undefined;
}

/** A key that is held: by a hash, which opens nothing. */
export interface KeyHold {
  readonly key: string;
  readonly milliseconds: number;
}

/** Model calls with one limiter for each key. */
export interface KeyLimiter {
  readonly exchange: Exchange;
  /** Another process has been refused: calls with this key wait here too. */
  hold(held: KeyHold): void;
}

/** What a limiter stands on. */
export interface KeyLimiterOptions {
  readonly clock?: { now(): number };
  /** Called when a service has refused a call: other processes that use the key should know. */
  onHold?(held: KeyHold): void;
}

/**
 * One limiter for each key of a service: after a 429, calls of all sessions with this key wait as long as it asks for. Then
 * one of them tries, and the others follow when it was let in.
 */
export function limitedByKey(
  exchange: Exchange,
  { clock = Date, onHold }: KeyLimiterOptions = {},
): KeyLimiter {
  const limited = new Map<string, Limited>();
  const hold = ({ key, milliseconds }: KeyHold) => {
    const now = clock.now();
    for (const [each, { until, trial }] of limited)
      if (until + longestWaitMs < now && trial === undefined) limited.delete(each);
    const known = limited.get(key);
    const until = now + Math.min(Math.max(0, milliseconds), longestWaitMs);
    const first = { times: 1, refusedAt: now, trial: undefined };
    limited.set(key, { ...first, ...known, until: Math.max(known?.until ?? 0, until) });
  };
  const limitedExchange: Exchange = async (request, signal) => {
    const key = keyOf(request);
    const trial = await turnOf(limited, key, { signal, clock });
    const madeAt = clock.now();
    try {
      const response = await exchange(request, signal);
      const known = limited.get(key);
      if (response.status === 429) {
        const asked = retryAfterSeconds(response.headers['retry-after'], clock.now());
        if (asked !== undefined && asked * 1000 > longestWaitMs) limited.delete(key);
        else {
          const refused = afterRefusal(known, { asked, madeAt, now: clock.now() });
          limited.set(key, { ...refused, trial: undefined });
          onHold?.({ key, milliseconds: refused.until - clock.now() });
        }
      } else if (trial || (known && known.until <= clock.now())) limited.delete(key);
      return response;
    } finally {
      trial?.();
      const known = limited.get(key);
      if (known?.trial !== undefined && trial) known.trial = undefined;
    }
  };
  return { exchange: limitedExchange, hold };
}

/** Resolves when the call may be made, for the one that tries with what ends the trial. */
async function turnOf(
  limited: Map<string, Limited>,
  key: string,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: { now(): number } },
): Promise<(() => void) | undefined> {
  for (;;) {
    const known = limited.get(key);
    if (!known) return undefined;
    const left = known.until - clock.now();
    if (left > 0) await pause(left, signal);
    else if (known.trial !== undefined) await orAborted(known.trial, signal);
    else {
      let end: () => void = () => undefined;
      known.trial = new Promise((resolve) => {
        end = resolve;
      });
      return end;
    }
  }
}

/** Many calls that were under way together are refused together: that is once, and no reason to wait longer. */
function afterRefusal(
  known: Limited | undefined,
  {
    asked,
    madeAt,
    now,
  }: { readonly asked: number | undefined; readonly madeAt: number; readonly now: number },
): Omit<Limited, 'trial'> {
  const isSameTime = known !== undefined && madeAt <= known.refusedAt;
  const times = (known?.times ?? 0) + (isSameTime ? 0 : 1);
  const own = firstWaitMs * 2 ** Math.min(times - 1, 6);
  // What may come at once, or at a time that is over, is believed one time.
  const isBelieved = asked !== undefined && (asked > 0 || times === 1);
  const wait = Math.min(isBelieved ? asked * 1000 : own, longestWaitMs);
  const until = Math.max(known?.until ?? 0, now + wait);
  return { times, refusedAt: isSameTime ? known.refusedAt : now, until };
}

/** The service and the key, of which only a hash is kept. */
function keyOf({ url, headers = {} }: HttpRequest): string {
  const shown = Object.entries(headers).filter(([name]) =>
    /^(?:authorization|x-api-key|api-key)$/i.test(name),
  );
  const text = JSON.stringify([new URL(url).origin, ...shown.map(([, value]) => value)]);
  return createHash('sha256').update(text).digest('base64');
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return orAborted(
    new Promise((resolve) => {
      setTimeout(resolve, milliseconds).unref();
    }),
    signal,
  );
}

function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    void work.then(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
  });
}
