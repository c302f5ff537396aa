import { expect, test } from 'vitest';
import { attackCommands } from '../security/commands.js';

test('of generated commands, none that runs unasked does more than its approval or its class says', async () => {
  const { tried, violations } = await attackCommands({ count: 300, seed: 13 });
  expect({ tried, violations }).toEqual({ tried: 300, violations: [] });
}, 60_000);
