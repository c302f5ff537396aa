import { byExtent } from '@groundcrew/testkit';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram } from '../chaos/lab.js';
import { type Part, runPart } from '../chaos/parts.js';

// The short form of `npm run chaos`, which kills at every write step and says how to repeat a failure.
const extent = {
  strides: byExtent({
    short: { walk: 45, agents: 160, compaction: 130, power: 90, guard: 130 },
    full: { walk: 9, agents: 30, compaction: 10, power: 20, guard: 30 },
  }),
  seed: 1,
  runs: byExtent({ short: 1, full: 3 }),
};

let program = '';
beforeAll(() => {
  program = buildProgram();
}, 60_000);

test.each<[string, Part]>([
  ['killed at a write step', 'walk'],
  ['killed at a write step while agents work', 'agents'],
  ['killed at a write step while its conversation is summarised', 'compaction'],
  ['killed at a write step or while a hook is asked, with a client whose hooks guard it,', 'guard'],
  ['cut off from power at a write step', 'power'],
  ['stopped while another takes its session', 'rivals'],
  ['killed at any time, with several sessions and clients', 'random'],
])(
  'a runtime that is %s loses no event that it sent',
  async (_, part) => {
    const { failures } = await runPart(part, program, extent);
    expect(failures).toEqual([]);
  },
  120_000,
);
