import type { Lab } from './lab.js';
import { type Ledger, newLedger } from './ledger.js';
import { firstLife, laterLife } from './lives.js';
import { durableStory, examineEffects, examineLog, storyFaults } from './verdict.js';

/** One run that lost an event it had sent. */
export interface Failure {
  /** What was done to the runtime, in words. */
  readonly deed: string;
  readonly problems: readonly string[];
}

/** How a part of the chaos went. */
export interface Tally {
  readonly runs: number;
  readonly failures: readonly Failure[];
}

/** The story of a conversation without a crash. */
export async function undisturbed(lab: Lab): Promise<{ story: readonly string[]; milliseconds: number }> {
  const home = await lab.newHome();
  const ledger = newLedger('undisturbed');
  const { milliseconds } = await firstLife(lab, { home, ledgers: [ledger] });
  await laterLife(lab, { home, ledgers: [ledger] }, { continuePendingWork: true });
  const records = await lab.stores.read(home, ledger.sessionId);
  const problems = [...ledger.problems, ...examineLog(ledger, records)];
  if (problems.length > 0) throw new Error(`An undisturbed run went wrong:\n${problems.join('\n')}`);
  return { story: durableStory(records), milliseconds };
}

/** Kills the runtime at write step k and goes on in both ways; undefined when there was no such step. */
export async function killAtStep(
  lab: Lab,
  step: number,
  options: {
    readonly story: readonly string[];
    /** What happens to the home between two lives. */
    readonly between?: (home: string) => void;
  },
): Promise<Tally | undefined> {
  const home = await lab.newHome();
  const ledger = newLedger('walk');
  const { wasKilled } = await firstLife(lab, { home, ledgers: [ledger], failpoint: step });
  if (!wasKilled && ledger.problems.length === 0) return undefined;
  options.between?.(home);
  const copy = await lab.copyOf(home);
  const failures = [
    await recover(lab, { home, ledger: structuredClone(ledger), step, story: options.story }),
    await recover(lab, { home: copy, ledger, step }),
  ];
  return { runs: 2, failures: failures.filter((failure) => failure !== undefined) };
}

async function recover(
  lab: Lab,
  crash: {
    readonly home: string;
    readonly ledger: Ledger;
    readonly step: number;
    /** Present when pending work is to be continued: then it must come to this in the end. */
    readonly story?: readonly string[];
  },
): Promise<Failure | undefined> {
  const { home, ledger, step, story } = crash;
  const continuePendingWork = story !== undefined;
  const { wasKilled } = await laterLife(lab, { home, ledgers: [ledger] }, { continuePendingWork });
  const problems = await verdict(lab, { home, ledger });
  if (wasKilled) problems.push('the runtime died after the restart');
  if (story)
    problems.push(...storyFaults(durableStory(await lab.stores.read(home, ledger.sessionId)), story));
  if (problems.length === 0) return undefined;
  const how = continuePendingWork ? 'continued' : 'resumed without its pending work';
  return { deed: `killed at write step ${step}, ${how}`, problems };
}

/** All that is wrong with one session at the end, the model's refusals included. */
export async function verdict(
  lab: Lab,
  { home, ledger }: { readonly home: string; readonly ledger: Ledger },
): Promise<string[]> {
  const refusals = lab.model.refusals.splice(0).map((fault) => `the model refused a history: ${fault}`);
  try {
    const records = await lab.stores.read(home, ledger.sessionId);
    const effects = examineEffects({ home, sessionId: ledger.sessionId, records });
    return [...ledger.problems, ...refusals, ...examineLog(ledger, records), ...effects];
  } catch (error) {
    return [...ledger.problems, ...refusals, `the log cannot be read: ${String(error)}`];
  }
}
