import { parseArgs } from 'node:util';
import { buildProgram } from './lab.js';
import { buildMutant, mutations } from './mutations.js';
import { allParts, type Extent, type Part, runPart } from './parts.js';
import { postgresStores } from './stores.js';
import type { Failure } from './walk.js';

const usage = `Kills real runtimes and checks that they kept every event they had sent.

  npm run chaos                      every write step of a turn, without and with agents, power cuts, two runtimes, random kills
  npm run chaos -- --only NAME       one part of it: walk, agents, compaction, guard, power, rivals or random; may be repeated
  npm run chaos -- --step K          the walks and the power cuts at one write step only
  npm run chaos -- --seed N          the first seed of the random kills; run i has seed N + i
  npm run chaos -- --runs N          how many random kills
  npm run chaos -- --store postgres  the same with sessions in PostgreSQL; power cuts are the server's affair
  npm run chaos -- --long            every power cut, and 500 random kills unless --runs says otherwise
  npm run chaos -- --mutations       breaks one promise at a time on purpose; each must be found out
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    step: { type: 'string' },
    seed: { type: 'string' },
    runs: { type: 'string' },
    store: { type: 'string', default: 'sqlite' },
    long: { type: 'boolean', default: false },
    mutations: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(usage);
else process.exitCode = (values.mutations ? await runMutations() : await runAll()) ? 0 : 1;
process.exit();

async function runAll(): Promise<boolean> {
  const program = buildProgram();
  const stores = values.store === 'postgres' ? await postgresStores() : undefined;
  const extent: Extent = { ...extentFrom(), ...(stores && { stores }) };
  const summary: string[] = [];
  let runs = 0;
  let failures = 0;
  for (const part of chosenParts()) {
    const began = performance.now();
    const result = await runPart(part, program, extent);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`${part}: ${result.remark}, ${count(result.runs, result.failures.length)}, ${seconds} s`);
    result.failures.forEach(printReport);
    summary.push(`${part} ${result.remark}`);
    runs += result.runs;
    failures += result.failures.length;
  }
  await stores?.close();
  console.log(`chaos: ${summary.join('; ')}; ${count(runs, failures)}`);
  return failures === 0;
}

/** Each fault is looked for until it shows; the same program without a fault must show nothing. */
async function runMutations(): Promise<boolean> {
  const extent = { strides: { walk: 1, power: 1, guard: 1 }, seed: 1, runs: 10, stopsAtFailure: true };
  const control = await firstFailure(await buildMutant(undefined), {
    ...extent,
    strides: { walk: 5, power: 10, guard: 10 },
  });
  console.log(
    control ? 'the program fails without a fault, so nothing is proved' : 'no fault: nothing found',
  );
  if (control) printReport(control);
  let survivors = 0;
  for (const mutation of mutations) {
    const proof = await firstFailure(await buildMutant(mutation), extent, mutation.part);
    if (!proof) survivors += 1;
    console.log(`${mutation.name}: ${proof ? 'found out' : 'SURVIVED'}`);
    if (proof) printReport({ ...proof, problems: proof.problems.slice(0, 3) });
  }
  console.log(`mutations: ${mutations.length} faults, ${survivors} survived`);
  return survivors === 0 && !control;
}

async function firstFailure(program: string, extent: Extent, only?: Part): Promise<Failure | undefined> {
  for (const part of only ? [only] : allParts) {
    const { failures } = await runPart(part, program, extent);
    if (failures[0]) return failures[0];
  }
  return undefined;
}

function chosenParts(): readonly Part[] {
  const unknown = values.only.filter((name) => !allParts.some((part) => part === name));
  if (unknown.length > 0) throw new Error(`There is no such part: ${unknown.join(', ')}`);
  if (values.store === 'postgres' && values.only.length === 0)
    return ['walk', 'agents', 'compaction', 'guard', 'rivals', 'random'];
  return values.only.length === 0 ? allParts : allParts.filter((part) => values.only.includes(part));
}

function extentFrom(): Extent {
  const { step, long: isLong } = values;
  return {
    strides: { walk: 1, guard: isLong ? 1 : 3, power: isLong ? 1 : 6 },
    seed: Number(values.seed ?? Math.floor(Math.random() * 1_000_000)),
    runs: Number(values.runs ?? (isLong ? 500 : 15)),
    ...(step !== undefined && { step: Number(step) }),
  };
}

function count(runs: number, failures: number): string {
  return `${runs} runs, ${failures} failures`;
}

function printReport({ deed, problems }: Failure): void {
  console.log(`  FAILED ${deed}`);
  for (const problem of problems) console.log(`    ${problem}`);
}
