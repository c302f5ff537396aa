import { randomInt } from 'node:crypto';

const highestFirstEpoch = 2 ** 47;

/**
 * The epoch of a session's first claim. It is drawn at random. A session that was removed and made anew under its
 * id therefore refuses appends of a writer of the old one.
 */
export function firstEpoch(): number {
  return randomInt(1, highestFirstEpoch);
}
