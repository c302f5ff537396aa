import { expect, test } from 'vitest';
import { attacks } from '../security/attacks.js';

// The short form of `npm run attack`, which makes many more cases and says how to repeat them.
test.each(attacks.filter(({ shortCount }) => shortCount > 0))(
  '$name: no promise breaks',
  async ({ run, shortCount }) => {
    const { tried, violations } = await run({ count: shortCount, seed: 1 });
    expect(violations).toEqual([]);
    expect(tried).toBeGreaterThan(0);
  },
  120_000,
);
