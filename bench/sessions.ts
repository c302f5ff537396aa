import { parseArgs } from 'node:util';
import { RuleModel, temporaryDirectory } from '@groundcrew/testkit';
import { type Figure, reportOf } from './budgets/report.js';
import { chosen } from './chosen.js';
import { openFetchingModel } from './sessions/long-session.js';
import { makeManySessions } from './sessions/many-sessions.js';
import { churn, listCosts, resumeCost, searchCosts, type Timed } from './sessions/measures.js';

const usage = `Measures how long sessions and large stores stay usable, and fails when a budget is missed.

  npm run bench:sessions                       all of it: some twenty minutes
  npm run bench:sessions -- --only NAME        resume, list, search or churn; may be repeated
  npm run bench:sessions -- --megabytes 1,50   the sizes of the sessions to resume; 1,50,500 unless given
  npm run bench:sessions -- --sessions N       how many sessions are listed, searched, or made and deleted; 10000
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    megabytes: { type: 'string', default: '1,50,500' },
    sessions: { type: 'string', default: '10000' },
    help: { type: 'boolean', default: false },
  },
});

const budget = {
  answer: 1000,
  memory: 150,
  growth: 1.5,
  list: 50,
  search: 200,
  leftBytes: 4 * 1024 * 1024,
};
const sessions = Number(values.sessions);

const measures: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  resume: async () => {
    const home = temporaryDirectory();
    const model = await openFetchingModel();
    const figures: Figure[] = [];
    let first: { readonly milliseconds: number; readonly peak: number } | undefined;
    for (const megabytes of values.megabytes.split(',').map(Number)) {
      const cost = await resumeCost({ home: home.path, model }, { megabytes, say });
      first ??= cost;
      // Below this, what a start costs by chance is more than what the session does.
      const isFlat = cost.milliseconds <= Math.max(200, first.milliseconds * budget.growth);
      const isSmall = cost.peak - cost.idle < budget.memory && cost.peak <= first.peak * budget.growth;
      figures.push({
        what: `resume of ${Math.round(cost.megabytes)} MB of records: first answer; memory, idle and at most`,
        figure: `${cost.milliseconds.toFixed(0)} ms; ${cost.idle.toFixed(0)} MB, ${cost.peak.toFixed(0)} MB`,
        isKept: isFlat && cost.milliseconds < budget.answer && isSmall,
      });
    }
    await model.close();
    home.remove();
    return figures;
  },
  list: () => inLargeHome(listCosts, (name) => (name === 'all sessions' ? undefined : budget.list)),
  search: () =>
    inLargeHome(searchCosts, (name) => (name.startsWith('the first') ? undefined : budget.search)),
  churn: async () => {
    const home = temporaryDirectory();
    const model = await RuleModel.open(() => ({ chunks: ['Something about it.'] }));
    const { before, after, rows, names } = await churn({ home: home.path, model }, { cycles: sessions, say });
    await model.close();
    home.remove();
    return [
      {
        what: `${sessions} sessions made, searched and deleted: bytes of the home after the first 100 and at the end; rows and directories left`,
        figure: `${before}, ${after}; ${JSON.stringify(rows)}, ${names.length}`,
        isKept: after - before < budget.leftBytes && names.length === 0 && Object.keys(rows).length === 0,
      },
    ];
  },
};

if (values.help) process.stdout.write(usage);
else process.exitCode = (await main()) ? 0 : 1;
process.exit();

async function main(): Promise<boolean> {
  const figures: Figure[] = [];
  for (const [, measure] of chosen(measures, values.only)) figures.push(...(await measure()));
  console.log(reportOf(figures));
  return figures.every(({ isKept }) => isKept !== false);
}

async function inLargeHome(
  measure: (home: string) => Promise<Readonly<Record<string, Timed>>>,
  budgetOf: (name: string) => number | undefined,
): Promise<readonly Figure[]> {
  const home = temporaryDirectory();
  const model = await RuleModel.open(() => ({
    chunks: ['The SUBJECT needs sand and patience. '.repeat(10)],
  }));
  await makeManySessions({ home: home.path, model }, sessions);
  const costs = await measure(home.path);
  await model.close();
  home.remove();
  return Object.entries(costs).map(([name, { milliseconds, longestWait, found }]) => {
    const most = budgetOf(name);
    return {
      what: `${sessions} sessions, ${name}: time; the longest wait of another client`,
      figure: `${milliseconds.toFixed(0)} ms; ${longestWait.toFixed(0)} ms (${found} found)`,
      ...(most !== undefined && { isKept: milliseconds <= most }),
    };
  });
}

function say(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}
