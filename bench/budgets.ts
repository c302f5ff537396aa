import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { killToAnswer } from './budgets/answer.js';
import { crowd } from './budgets/crowd.js';
import { type Figure, reportOf } from './budgets/report.js';
import { unloaded } from './budgets/unloaded.js';
import { chosen } from './chosen.js';
import { openModel } from './outcomes/model.js';
import { Stage } from './outcomes/stage.js';

const usage = `Measures what open sessions, their clients and unloaded sessions cost, and fails when a budget is missed.

  npm run budgets                     all of it; on a quiet machine, please
  npm run budgets -- --only NAME      crowd, answer or unloaded; may be repeated
  npm run budgets -- --sessions N     how many sessions are unloaded
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    sessions: { type: 'string', default: '10000' },
    help: { type: 'boolean', default: false },
  },
});

const measures: Readonly<Record<string, (stage: Stage) => Promise<readonly Figure[]>>> = {
  crowd: async (stage) => [...(await crowd(stage)), ...(await crowd(stage, { sleepers: 10 }))],
  answer: killToAnswer,
  unloaded: async (stage) => {
    const sessions = Number(values.sessions);
    const idle = await unloaded(stage, { sessions, left: 'idle' });
    return [...idle, ...(await unloaded(stage, { sessions, left: 'waiting' }))];
  },
};

if (values.help) process.stdout.write(usage);
else process.exitCode = (await main()) ? 0 : 1;
process.exit();

async function main(): Promise<boolean> {
  const wanted = chosen(measures, values.only);
  const root = mkdtempSync(join(tmpdir(), 'groundcrew-budgets-'));
  const program = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));
  const model = await openModel();
  const stage = new Stage({ name: 'Groundcrew', command: [program] }, model, root);
  const figures: Figure[] = [];
  try {
    for (const [, measure] of wanted) figures.push(...(await measure(stage)));
  } finally {
    await model.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
  console.log(reportOf(figures));
  return figures.every(({ isKept }) => isKept !== false);
}
