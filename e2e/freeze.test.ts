import { byExtent } from '@groundcrew/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FreezeWorld, longestPing } from '../security/freeze.js';
import { freezeCases } from '../security/freeze-cases.js';

const world = new FreezeWorld();
beforeAll(() => world.open());
afterAll(() => world.close());

const sizes = byExtent({
  short: { events: 8_000, files: 1000, commands: 5, sessions: 300 },
  full: { events: 30_000, files: 3000, commands: 20, sessions: 1500 },
});

test.each(freezeCases(sizes))(
  'a neighbour is answered in time beside $name',
  { timeout: 60_000 },
  async (one) => {
    const pings = await world.tryOften(one);
    expect(pings.p99, JSON.stringify(pings)).toBeLessThanOrEqual(longestPing);
  },
);
