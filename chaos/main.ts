import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildProgram, openLab } from './lab.js';
import { buildMutant, mutations } from './mutations.js';
import { buildPowerCut, cutPower } from './power-cut.js';
import { killAtRandom } from './random-kills.js';
import { rivalRuns } from './rivals.js';
import { type Failure, killAtStep, undisturbed } from './walk.js';

const usage = `Kills real runtimes and looks whether they lived up to what they had told.

  npm run chaos                      every write step of a turn, power cuts, two runtimes, random kills
  npm run chaos -- --only NAME       one part of it: walk, power, rivals or random; may be repeated
  npm run chaos -- --step K          the walk and the power cuts at one write step only
  npm run chaos -- --seed N          the first seed of the random kills; run i has seed N + i
  npm run chaos -- --runs N          how many random kills
  npm run chaos -- --long            every power cut, and 500 random kills unless --runs says otherwise
  npm run chaos -- --mutations       breaks one promise at a time on purpose; each must be found out
`;

type Part = 'walk' | 'power' | 'rivals' | 'random';
const allParts: readonly Part[] = ['walk', 'power', 'rivals', 'random'];

interface Flags {
  readonly parts: readonly Part[];
  readonly step?: number;
  readonly seed: number;
  readonly runs: number;
  readonly isLong: boolean;
}

/** What a part of the chaos came to. */
interface Result {
  readonly part: Part;
  readonly runs: number;
  readonly failures: readonly Failure[];
  /** What else there is to say: K, the seeds, why nothing was done. */
  readonly remark: string;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    step: { type: 'string' },
    seed: { type: 'string' },
    runs: { type: 'string' },
    long: { type: 'boolean', default: false },
    mutations: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(usage);
else process.exitCode = (values.mutations ? await runMutations() : await runAll(flagsFrom())) ? 0 : 1;
process.exit();

function flagsFrom(): Flags {
  const parts = allParts.filter((part) => values.only.includes(part));
  if (parts.length < values.only.length) throw new Error(`There is no such part: ${values.only.join(', ')}`);
  return {
    parts: parts.length > 0 ? parts : allParts,
    seed: Number(values.seed ?? Math.floor(Math.random() * 1_000_000)),
    runs: Number(values.runs ?? (values.long ? 500 : 20)),
    isLong: values.long,
    ...(values.step !== undefined && { step: Number(values.step) }),
  };
}

async function runAll(flags: Flags): Promise<boolean> {
  const program = buildProgram();
  const results: Result[] = [];
  for (const part of flags.parts) {
    const began = performance.now();
    const result = await runPart(part, { program, flags });
    results.push(result);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(
      `${part.padEnd(7)} ${result.remark}, ${result.runs} runs, ${result.failures.length} failures, ${seconds} s`,
    );
    for (const failure of result.failures) tell(failure);
  }
  const runs = results.reduce((sum, result) => sum + result.runs, 0);
  const failures = results.reduce((sum, result) => sum + result.failures.length, 0);
  console.log(`chaos: ${results.map(({ remark }) => remark).join(', ')}, ${runs} runs, ${failures} failures`);
  return failures === 0;
}

/** Each fault is looked for where it must show; the first failure is proof enough. */
async function runMutations(): Promise<boolean> {
  let survivors = 0;
  const flags: Flags = { parts: allParts, seed: 1, runs: 10, isLong: false };
  for (const mutation of mutations) {
    const program = await buildMutant(mutation);
    let proof: Failure | undefined;
    for (const part of allParts) {
      const { failures } = await runPart(part, { program, flags, stopsAtFailure: true });
      proof = failures[0];
      if (proof) break;
    }
    if (!proof) survivors += 1;
    console.log(`${proof ? 'found out' : 'SURVIVED '} ${mutation.name}`);
    if (proof) tell({ ...proof, problems: proof.problems.slice(0, 3) });
  }
  console.log(`mutations: ${mutations.length} faults, ${survivors} survived`);
  return survivors === 0;
}

interface PartOptions {
  readonly program: string;
  readonly flags: Flags;
  readonly stopsAtFailure?: boolean;
}

function runPart(part: Part, options: PartOptions): Promise<Result> {
  switch (part) {
    case 'walk':
      return walk(options, { part, stride: 1 });
    case 'power':
      return walkInTheDark(options);
    case 'rivals':
      return contests(options);
    case 'random':
      return randomKills(options);
  }
}

/** Every k from 1 until a run that no failpoint ends. */
async function walk(
  { program, flags, stopsAtFailure }: PartOptions,
  how: {
    readonly part: Part;
    readonly stride: number;
    readonly environment?: Readonly<Record<string, string>>;
    readonly between?: (home: string) => void;
  },
): Promise<Result> {
  const { part, stride, environment = {}, between } = how;
  const lab = await openLab({ program, environment });
  const failures: Failure[] = [];
  let runs = 0;
  try {
    const { story } = await undisturbed(lab);
    const { step: only } = flags;
    let step = only ?? 1;
    for (; ; step += stride) {
      const tally = await killAtStep(lab, step, { story, ...(between && { between }) });
      if (!tally) break;
      runs += tally.runs;
      failures.push(...tally.failures.map((each) => replayable(each, `--only ${part} --step ${step}`)));
      if (only !== undefined || (stopsAtFailure && failures.length > 0)) break;
    }
    const steps = only === undefined ? `K = ${step - 1}` : `step ${only}`;
    return { part, runs, failures, remark: stride === 1 ? steps : `every ${stride}th step` };
  } catch (error) {
    return { part, runs, failures: [{ deed: 'nothing', problems: [String(error)] }], remark: 'an end' };
  } finally {
    await lab.close();
  }
}

async function walkInTheDark(options: PartOptions): Promise<Result> {
  const { isLong, step } = options.flags;
  const folder = mkdtempSync(join(tmpdir(), 'groundcrew-power-'));
  try {
    const environment = buildPowerCut(folder);
    if (!environment)
      return {
        part: 'power',
        runs: 0,
        failures: [],
        remark: 'no power cuts (they need Linux and a C compiler)',
      };
    const stride = isLong || step !== undefined ? 1 : 5;
    return await walk(options, { part: 'power', stride, environment, between: cutPower });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function contests({ program }: PartOptions): Promise<Result> {
  const lab = await openLab({ program });
  const outcomes = await rivalRuns(lab);
  await lab.close();
  const failures = outcomes
    .filter((failure) => failure !== undefined)
    .map((failure) => replayable(failure, '--only rivals'));
  return { part: 'rivals', runs: outcomes.length, failures, remark: 'two runtimes' };
}

async function randomKills({ program, flags, stopsAtFailure }: PartOptions): Promise<Result> {
  const lab = await openLab({ program, chunkPause: 3 });
  const failures: Failure[] = [];
  let runs = 0;
  for (; runs < flags.runs && !(stopsAtFailure && failures.length > 0); runs++) {
    const seed = flags.seed + runs;
    const failure = await killAtRandom(lab, seed);
    if (failure) failures.push(replayable(failure, `--only random --seed ${seed} --runs 1`));
  }
  await lab.close();
  return { part: 'random', runs, failures, remark: `seeds from ${flags.seed}` };
}

function replayable(failure: Failure, flags: string): Failure {
  return { ...failure, problems: [...failure.problems, `again: npm run chaos -- ${flags}`] };
}

function tell({ deed, problems }: Failure): void {
  console.log(`  FAILED ${deed}`);
  for (const problem of problems) console.log(`    ${problem}`);
}
