import { setTimeout as pause } from 'node:timers/promises';
import { isBusy } from './faults.js';
import { monotonic } from './monotonic.js';

const longestPause = 16;

/** How long to leave a locked file alone, in milliseconds: longer each time, and jittered so that rivals part. */
export function busyPause(attempt: number): number {
  return 1 + Math.random() * Math.min(2 ** attempt, longestPause);
}

/** Calls until the answer is not busy, the event loop free in between; after `limit` milliseconds the error is thrown. */
export async function whileBusy<T>(call: () => T, limit: number): Promise<T> {
  const end = monotonic() + limit;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return call();
    } catch (error) {
      if (!isBusy(error) || monotonic() > end) throw error;
      await pause(busyPause(attempt));
    }
  }
}
