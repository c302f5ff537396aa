import { afterAll, beforeAll, expect, test } from 'vitest';
import { FreezeWorld, isFrozen } from '../security/freeze.js';
import { freezeCases } from '../security/freeze-cases.js';

const world = new FreezeWorld();
beforeAll(() => world.open());
afterAll(() => world.close());

test.each(freezeCases({ events: 30_000, files: 3000 }))(
  'a neighbour is answered in time beside $name',
  // The machine may be busy with other tests: a runtime that freezes does so every time.
  { retry: 3, timeout: 60_000 },
  async (one) => {
    const pings = await world.tryOften(one);
    expect(isFrozen(pings), JSON.stringify(pings)).toBe(false);
  },
);
