import { randomUUID } from 'node:crypto';

/** Time and identity, given rather than taken, so that tests may fix both. */
export interface Clock {
  now(): Date;
  /** Now, as events say it: ISO 8601 in UTC, to the millisecond. */
  timestamp(): string;
  /** A UUID that is unique. */
  newId(): string;
}

/** The machine's own time. */
export function systemClock(): Clock {
  let at = 0;
  let text = '';
  return {
    now: () => new Date(),
    timestamp: () => {
      const now = Date.now();
      if (now !== at) {
        at = now;
        text = new Date(now).toISOString();
      }
      return text;
    },
    newId: () => randomUUID(),
  };
}

/** Milliseconds on a clock that only goes forward. The `performance` global would be loaded for it, at the first session. */
export function monotonic(): number {
  return process.uptime() * 1000;
}
