import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killCompactedAtStep, summarisingRule } from './compacted.js';
import { rule as crewRule, killCrewAtStep } from './crew.js';
import { type GuardedKill, killGuarded, undisturbedGuard, watchedRule } from './guarded.js';
import { type Lab, openLab } from './lab.js';
import { buildPowerCut, cutPower } from './power-cut.js';
import { killAtRandom } from './random-kills.js';
import { rivalRuns } from './rivals.js';
import type { ChaosStores } from './stores.js';
import { type Failure, killAtStep, type Tally, undisturbed } from './walk.js';

/** One kind of harm. */
export type Part = 'walk' | 'agents' | 'compaction' | 'guard' | 'power' | 'rivals' | 'random';
/** All of them, in the order they are done. */
export const allParts: readonly Part[] = [
  'walk',
  'agents',
  'compaction',
  'guard',
  'power',
  'rivals',
  'random',
];

/** How much of it is done. */
export interface Extent {
  /** The walks and the power cuts take every so many write steps. */
  readonly strides: {
    readonly walk: number;
    readonly power: number;
    readonly guard: number;
    readonly agents?: number;
    readonly compaction?: number;
  };
  /** Only this write step. */
  readonly step?: number;
  /** The first seed of the random kills, and how many there are. */
  readonly seed: number;
  readonly runs: number;
  /** Where sessions are kept; files in the homes unless given. */
  readonly stores?: ChaosStores;
  /** One failure is enough. */
  readonly stopsAtFailure?: boolean;
}

/** What a part of the chaos came to. */
export interface Result {
  readonly runs: number;
  readonly failures: readonly Failure[];
  /** What else there is to say: K, the seeds, why nothing was done. */
  readonly remark: string;
}

/** Does one kind of harm to the program. */
export function runPart(part: Part, program: string, extent: Extent): Promise<Result> {
  switch (part) {
    case 'walk':
      return walk(part, extent, { program });
    case 'agents':
      return walkWithAgents(program, extent);
    case 'compaction':
      return walkWithSummary(program, extent);
    case 'guard':
      return guardedWalk(program, extent);
    case 'power':
      return walkInTheDark(program, extent);
    case 'rivals':
      return contests(program, extent);
    case 'random':
      return randomKills(program, extent);
  }
}

/** Every k from 1 until a run that no failpoint ends. */
async function walk(
  part: 'walk' | 'power',
  extent: Extent,
  place: {
    readonly program: string;
    readonly environment?: Readonly<Record<string, string>>;
    readonly between?: (home: string) => void;
  },
): Promise<Result> {
  const { step: only, strides, stopsAtFailure } = extent;
  const lab = await openLab({ ...place, ...storesOf(extent) });
  const failures: Failure[] = [];
  let runs = 0;
  let step = only ?? 1;
  try {
    const { story } = await undisturbed(lab);
    for (; ; step += strides[part]) {
      const tally = await killAtStep(lab, step, { story, ...(place.between && { between: place.between }) });
      if (!tally) break;
      runs += tally.runs;
      failures.push(...tally.failures.map((each) => replayable(each, `--only ${part} --step ${step}`)));
      if (only !== undefined || (stopsAtFailure && failures.length > 0)) break;
    }
  } catch (error) {
    failures.push({ deed: 'nothing was done to it', problems: String(error).split('\n') });
  } finally {
    await lab.close();
  }
  return { runs, failures, remark: remarkOn(step, extent, part) };
}

/** Every k of a session in which five agents work for another, some of them for one another. */
async function walkWithAgents(program: string, extent: Extent): Promise<Result> {
  const lab = await openLab({ program, rule: crewRule, ...storesOf(extent) });
  return walkSteps('agents', extent, { lab, killAt: (step) => killCrewAtStep(lab, step) });
}

/** Every k of a session that is compacted between two prompts. */
async function walkWithSummary(program: string, extent: Extent): Promise<Result> {
  const seen: string[] = [];
  const lab = await openLab({ program, rule: summarisingRule(seen), ...storesOf(extent) });
  return walkSteps('compaction', extent, { lab, killAt: (step) => killCompactedAtStep(lab, step, seen) });
}

async function walkSteps(
  part: 'agents' | 'compaction',
  extent: Extent,
  { lab, killAt }: { readonly lab: Lab; killAt(step: number): Promise<Tally | undefined> },
): Promise<Result> {
  const { step: only, strides, stopsAtFailure } = extent;
  const failures: Failure[] = [];
  let runs = 0;
  let step = only ?? 1;
  for (; ; step += strides[part] ?? 1) {
    const tally = await killAt(step);
    if (!tally) break;
    runs += tally.runs;
    failures.push(...tally.failures.map((each) => replayable(each, `--only ${part} --step ${step}`)));
    if (only !== undefined || (stopsAtFailure && failures.length > 0)) break;
  }
  await lab.close();
  return { runs, failures, remark: remarkOn(step, extent, part) };
}

/** The walk of a session whose client has hooks; killed also while each of them is asked, and when it has answered. */
async function guardedWalk(program: string, extent: Extent): Promise<Result> {
  const { step: only, strides, stopsAtFailure } = extent;
  const leaks: string[] = [];
  const lab = await openLab({ program, rule: watchedRule(leaks), ...storesOf(extent) });
  const failures: Failure[] = [];
  let runs = 0;
  let steps = 0;
  try {
    const { story, hooks } = await undisturbedGuard(lab);
    for (const kill of killsOf({ hooks, stride: strides.guard, only })) {
      const found = await killGuarded(lab, kill, { story, leaks });
      if (!found && kill.at === 'step') break;
      if (kill.at === 'step') steps = kill.count;
      runs += found ? 3 : 0;
      failures.push(...(found ?? []).map((each) => replayable(each, `--only guard --step ${kill.count}`)));
      if (stopsAtFailure && failures.length > 0) break;
    }
  } catch (error) {
    failures.push({ deed: 'nothing was done to it', problems: String(error).split('\n') });
  } finally {
    await lab.close();
  }
  return {
    runs,
    failures,
    remark: strides.guard === 1 && only === undefined ? `K = ${steps}` : 'some steps',
  };
}

/** First while hooks are asked, of which there is a known number, then write steps until there are no more. */
function* killsOf(options: {
  readonly hooks: number;
  readonly stride: number;
  readonly only: number | undefined;
}): Generator<GuardedKill> {
  const { hooks, stride, only } = options;
  for (let count = only ?? 1; count <= (only ?? hooks); count += stride)
    for (const at of ['hook asked', 'hook answered'] as const) yield { at, count };
  for (let count = only ?? 1; count <= (only ?? Number.POSITIVE_INFINITY); count += stride)
    yield { at: 'step', count };
}

function remarkOn(
  end: number,
  { step, strides }: Extent,
  part: 'walk' | 'agents' | 'compaction' | 'power',
): string {
  if (step !== undefined) return `step ${step}`;
  const stride = strides[part] ?? 1;
  return stride === 1 ? `K = ${end - 1}` : `every ${stride}th step`;
}

/** The walk, with all that was not synced taken back after each kill. */
async function walkInTheDark(program: string, extent: Extent): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'groundcrew-power-'));
  try {
    const environment = buildPowerCut(folder);
    if (environment) return await walk('power', extent, { program, environment, between: cutPower });
    return { runs: 0, failures: [], remark: 'none (they need Linux and a C compiler)' };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function contests(program: string, extent: Extent): Promise<Result> {
  const lab = await openLab({ program, ...storesOf(extent) });
  const outcomes = await rivalRuns(lab);
  await lab.close();
  const failures = outcomes
    .filter((failure) => failure !== undefined)
    .map((failure) => replayable(failure, '--only rivals'));
  return { runs: outcomes.length, failures, remark: 'two runtimes' };
}

async function randomKills(program: string, extent: Extent): Promise<Result> {
  const lab = await openLab({ program, chunkPause: 3, ...storesOf(extent) });
  const failures: Failure[] = [];
  let runs = 0;
  for (; runs < extent.runs && !(extent.stopsAtFailure && failures.length > 0); runs++) {
    const seed = extent.seed + runs;
    const failure = await killAtRandom(lab, seed);
    if (failure) failures.push(replayable(failure, `--only random --seed ${seed} --runs 1`));
  }
  await lab.close();
  return { runs, failures, remark: `seeds from ${extent.seed}` };
}

function storesOf({ stores }: Extent): { readonly stores?: ChaosStores } {
  return stores ? { stores } : {};
}

function replayable(failure: Failure, flags: string): Failure {
  return { ...failure, problems: [...failure.problems, `again: npm run chaos -- ${flags}`] };
}
