import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LogRecord } from '@groundcrew/store';
import type { Rule } from '@groundcrew/testkit';
import { type HookedInput, idOf, workIn } from './client.js';
import { effectsFile, next, rule, work } from './conversation.js';
import { type Lab, type Life, live } from './lab.js';
import { type Ledger, newLedger } from './ledger.js';
import { durableStory, storyFaults } from './verdict.js';
import { type Failure, verdict } from './walk.js';

/** Where a guarded runtime is killed: at a write step, or while its n-th hook is asked, or when that has answered. */
export type GuardedKill =
  | { readonly at: 'step'; readonly count: number }
  | { readonly at: 'hook asked' | 'hook answered'; readonly count: number };

/** How a guarded session is taken up again. */
type Recovery = 'continued' | 'resumed without its pending work' | 'continued before its guard came back';
const recoveries: readonly Recovery[] = [
  'continued',
  'resumed without its pending work',
  'continued before its guard came back',
];

const forbidden = 'call-2';
const secret = 'call-1 ok';

/** The model of the conversation; what it must never read is a fault. */
export function watchedRule(leaks: string[]): Rule {
  return (messages, ...rest) => {
    if (JSON.stringify(messages).includes(secret)) leaks.push('the model read what a hook had replaced');
    return rule(messages, ...rest);
  };
}

/** Denies one call, changes the arguments of another and the result of a third. */
async function guard(hookType: string, { toolName, toolArgs }: HookedInput): Promise<unknown> {
  if (hookType === 'preToolUse' && toolName === 'pay')
    return { permissionDecision: 'deny', permissionDecisionReason: 'no money' };
  if (hookType === 'preToolUse' && toolName === 'bash')
    return {
      permissionDecision: 'allow',
      modifiedArgs: { ...toolArgs, command: `echo guarded >> ${effectsFile}` },
    };
  if (hookType === 'postToolUse' && toolArgs?.n === 1)
    return { modifiedResult: { textResultForLlm: 'replaced', resultType: 'success' } };
  return null;
}

/** The same, and calls `kill` at the n-th hook. */
function deadlyGuard(kill: GuardedKill, deed: () => void): typeof guard {
  let count = 0;
  return async (hookType, input) => {
    count += 1;
    if (kill.at === 'step' || count !== kill.count) return guard(hookType, input);
    if (kill.at === 'hook asked') {
      deed();
      return new Promise(() => undefined);
    }
    setImmediate(deed);
    return guard(hookType, input);
  };
}

/** The story of a guarded conversation without a crash, and how many hooks it asks. */
export async function undisturbedGuard(
  lab: Lab,
): Promise<{ readonly story: readonly string[]; readonly hooks: number }> {
  const home = await lab.newHome();
  const ledger = newLedger('undisturbed');
  let hooks = 0;
  const counting: typeof guard = (hookType, input) => {
    hooks += 1;
    return guard(hookType, input);
  };
  await firstLife(lab, { home, ledgers: [ledger], roles: [{ hooks: counting }] });
  const asked = hooks;
  await laterLife(lab, { home, ledgers: [ledger] }, 'continued');
  const records = await lab.stores.read(home, ledger.sessionId);
  const problems = [...ledger.problems, ...guardFaults({ home, ledger, records })];
  if (problems.length > 0) throw new Error(`An undisturbed run went wrong:\n${problems.join('\n')}`);
  return { story: guardedStory(records), hooks: asked };
}

/** Kills a guarded runtime once and goes on in every way; undefined when there was no such moment. */
export async function killGuarded(
  lab: Lab,
  kill: GuardedKill,
  options: { readonly story: readonly string[]; readonly leaks: string[] },
): Promise<readonly Failure[] | undefined> {
  const home = await lab.newHome();
  const ledger = newLedger('guarded');
  const failpoint = kill.at === 'step' ? { failpoint: kill.count } : {};
  const { wasKilled } = await firstLife(lab, { home, ledgers: [ledger], ...failpoint }, kill);
  if (!wasKilled && ledger.problems.length === 0) return undefined;
  const failures: Failure[] = [];
  for (const how of recoveries) {
    const copy = await lab.copyOf(home);
    const own = structuredClone(ledger);
    const problems = await recover(lab, { home: copy, ledgers: [own] }, how);
    const records = await lab.stores.read(copy, own.sessionId);
    problems.push(...guardFaults({ home: copy, ledger: own, records }), ...options.leaks.splice(0));
    if (how !== 'resumed without its pending work')
      problems.push(...storyFaults(guardedStory(records), options.story));
    if (problems.length > 0)
      failures.push({ deed: `a guarded runtime killed at ${kill.at} ${kill.count}, ${how}`, problems });
  }
  return failures;
}

async function recover(lab: Lab, life: Life & { ledgers: readonly [Ledger] }, how: Recovery) {
  const { wasKilled } = await laterLife(lab, life, how);
  const [ledger] = life.ledgers;
  const problems = await verdict(lab, { home: life.home, ledger });
  return wasKilled ? [...problems, 'the runtime died after the restart'] : problems;
}

function firstLife(lab: Lab, life: Life, kill?: GuardedKill) {
  let deed: () => void = () => undefined;
  const roles = life.roles ?? [{ hooks: kill ? deadlyGuard(kill, () => deed()) : guard }];
  return live(lab, { ...life, roles }, async ([client], runtime) => {
    deed = () => void runtime.kill();
    const [ledger] = life.ledgers;
    if (!client || !ledger) return;
    await client.create(ledger);
    await client.send(ledger, work);
    await client.untilIdle(ledger, [work]);
  });
}

/** Where the guard comes late, the client that goes on has no hooks and no user to ask: every call waits. */
function laterLife(lab: Lab, life: Life, how: Recovery) {
  const isLate = how === 'continued before its guard came back';
  const late: Pick<Life, 'clients' | 'roles'> = {
    clients: 2,
    roles: [{ asksNobody: true }, { hooks: guard }],
  };
  const shape = isLate ? late : { roles: [{ hooks: guard }] };
  return live(lab, { ...life, ...shape }, async ([client, second]) => {
    const [ledger] = life.ledgers;
    if (!client || !ledger) return;
    ledger.lives += 1;
    const continuePendingWork = how !== 'resumed without its pending work';
    try {
      await client.resume(ledger, { continuePendingWork });
    } catch (error) {
      if (ledger.isCreated || !(error instanceof Error && error.message.includes('not found'))) throw error;
      // A session that was never acknowledged is made again, with its guard.
      await (second ?? client).create(ledger);
      if (second) await client.resume(ledger, { continuePendingWork });
    }
    await second?.join(ledger);
    await client.answerOpen(ledger, { isAwaited: continuePendingWork });
    if (!ledger.acknowledged.includes(idOf(ledger, work))) await client.send(ledger, work);
    await client.send(ledger, next);
    await client.untilIdle(ledger, [next]);
  });
}

/** What came to pass although a hook forbade it, or otherwise than a hook said. */
function guardFaults({
  home,
  ledger,
  records,
}: {
  readonly home: string;
  readonly ledger: Ledger;
  readonly records: readonly LogRecord[];
}): readonly string[] {
  const ran = records.filter(
    ({ type, json }) =>
      (type === 'call.intended' || type === 'external_tool.requested') && json.includes(forbidden),
  );
  const file = join(workIn(home, ledger.sessionId), effectsFile);
  const effects = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  const shown = records.filter(
    ({ type, json }) => type === 'tool.execution_complete' && json.includes(secret),
  );
  return [
    ...ran.map(({ type }) => `a denied call went on: ${type}`),
    ...(ledger.effects.includes(forbidden) ? ['a denied call was run'] : []),
    ...effects.filter((line) => line !== 'guarded').map((line) => `ran with other arguments: ${line}`),
    ...shown.map(() => 'clients were shown a result that a hook had replaced'),
  ];
}

/** Hooks may be asked again after a kill; what comes of it is the same. */
function guardedStory(records: readonly LogRecord[]): readonly string[] {
  return durableStory(records).filter((line) => !line.startsWith('hook.'));
}
