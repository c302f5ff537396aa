import type { LogRecord } from '@groundcrew/store';
import type { Lab, Life, LifeEnd } from './lab.js';
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
export function killAtStep(
  lab: Lab,
  step: number,
  options: {
    readonly story: readonly string[];
    /** What happens to the home between two lives. */
    readonly between?: (home: string) => void;
  },
): Promise<Tally | undefined> {
  const { story, between } = options;
  return killInBothWays(lab, step, {
    name: 'walk',
    firstLife,
    laterLife,
    faults: (records, { isContinued }) => (isContinued ? storyFaults(durableStory(records), story) : []),
    ...(between && { between }),
  });
}

/** A conversation that is killed: how it begins, how it goes on, and what its log must have in the end. */
interface KilledConversation {
  readonly name: string;
  /** What was killed, in words; nothing for the usual conversation. */
  readonly title?: string;
  firstLife(lab: Lab, life: Life): Promise<LifeEnd>;
  laterLife(lab: Lab, life: Life, how: { readonly continuePendingWork: boolean }): Promise<LifeEnd>;
  /** What is wrong with the log, besides what every log is examined for. */
  faults(records: readonly LogRecord[], how: { readonly isContinued: boolean }): readonly string[];
  /** What happens to the home between two lives. */
  between?(home: string): void;
}

/** Kills the runtime at write step k of a conversation, and goes on in both ways; undefined when there was no such step. */
export async function killInBothWays(
  lab: Lab,
  step: number,
  conversation: KilledConversation,
): Promise<Tally | undefined> {
  const home = await lab.newHome();
  const ledger = newLedger(conversation.name);
  const { wasKilled } = await conversation.firstLife(lab, { home, ledgers: [ledger], failpoint: step });
  if (!wasKilled && ledger.problems.length === 0) return undefined;
  conversation.between?.(home);
  const copy = await lab.copyOf(home);
  const recover = recovery(lab, step, conversation);
  const failures = [
    await recover({ home, ledger: structuredClone(ledger), isContinued: true }),
    await recover({ home: copy, ledger, isContinued: false }),
  ];
  return { runs: 2, failures: failures.filter((failure) => failure !== undefined) };
}

/** What is left of a killed conversation, and whether its pending work is to be continued. */
interface Remains {
  readonly home: string;
  readonly ledger: Ledger;
  readonly isContinued: boolean;
}

function recovery(lab: Lab, step: number, { title, laterLife, faults }: KilledConversation) {
  return async ({ home, ledger, isContinued }: Remains): Promise<Failure | undefined> => {
    const how = { continuePendingWork: isContinued };
    const { wasKilled } = await laterLife(lab, { home, ledgers: [ledger] }, how);
    const problems = await verdict(lab, { home, ledger });
    if (wasKilled) problems.push('the runtime died after the restart');
    // The verdict says it when the log cannot be read.
    const records = await lab.stores.read(home, ledger.sessionId).catch(() => undefined);
    if (records) problems.push(...faults(records, { isContinued }));
    if (problems.length === 0) return undefined;
    const killed = `killed at write step ${step}, ${isContinued ? 'continued' : 'resumed without its pending work'}`;
    return { deed: title === undefined ? killed : `${title}, ${killed}`, problems };
  };
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
