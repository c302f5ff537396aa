import { randomUUID } from 'node:crypto';

/** Time and identity, given rather than taken, so that tests may fix both. */
export interface Clock {
  now(): Date;
  newId(): string;
}

export const systemClock: Clock = {
  now: () => new Date(),
  newId: () => randomUUID(),
};
