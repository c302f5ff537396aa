import { randomInt } from 'node:crypto';

const highestFirstEpoch = 2 ** 47;

/**
 * The epoch of a session's first claim. It is drawn at random so that a session which was removed and made anew under
 * the same id can never accept an append from a writer of the old one.
 */
export function firstEpoch(): number {
  return randomInt(1, highestFirstEpoch);
}
