import type { AnyEvent, EventData } from '@groundcrew/protocol';
import { ChaosClient } from './client.js';
import { also, next, work } from './conversation.js';
import type { Lab } from './lab.js';
import { type Ledger, newLedger } from './ledger.js';
import { RuntimeChild } from './runtime-child.js';
import { type Failure, verdict } from './walk.js';

interface Rival {
  readonly runtime: RuntimeChild;
  readonly client: ChaosClient;
}

/** Two runtimes on one home, one of which is stopped for a while. */
export async function rivalRuns(lab: Lab): Promise<readonly (Failure | undefined)[]> {
  return [
    await contest(lab, 'an idle owner is stopped while another process takes its session', fencedOwner),
    await contest(lab, 'an owner with open questions is stopped, then killed', killedWhileStopped),
    await contest(lab, 'an owner with open questions is stopped, robbed of its session, and goes on', robbed),
    await contest(lab, 'an owner goes on while who robbed it has not written anything yet', robbedInSilence),
  ];
}

type Contest = (rivals: {
  readonly owner: Rival;
  readonly other: Rival;
  readonly ledger: Ledger;
}) => Promise<void>;

async function contest(lab: Lab, deed: string, play: Contest): Promise<Failure | undefined> {
  const home = await lab.newHome();
  const ledger = newLedger('contested');
  const rivals = [await startRival(lab, home), await startRival(lab, home)] as const;
  const [owner, other] = rivals;
  try {
    await play({ owner, other, ledger });
  } catch (error) {
    ledger.problems.push(String(error));
  } finally {
    await Promise.all(rivals.map(({ runtime }) => runtime.kill()));
  }
  const problems = await verdict(lab, { home, ledger });
  return problems.length === 0 ? undefined : { deed, problems };
}

async function startRival(lab: Lab, home: string): Promise<Rival> {
  const { program, model, stores } = lab;
  const environment = { ...lab.environment, ...stores.environment(home) };
  const runtime = new RuntimeChild({ program, home, door: 'stdio', environment });
  const client = await ChaosClient.connect({ runtime, model, servesTools: true });
  await client.wire.call('ping', {});
  return { runtime, client };
}

/**
 * What the stopped owner writes under its old epoch must be refused. It may claim the idle session back and then say it
 * again; the other process, fenced in its turn, does the same. Neither may find the log changed behind its back.
 */
const fencedOwner: Contest = async ({ owner, other, ledger }) => {
  await owner.client.create(ledger);
  await owner.client.send(ledger, next);
  await owner.client.untilIdle(ledger, [next]);
  owner.runtime.signal('SIGSTOP');
  const stale = owner.client.send(ledger, also);
  await other.client.resume(ledger, { continuePendingWork: false, disableResume: true });
  owner.runtime.signal('SIGCONT');
  await stale;
  await owner.client.untilIdle(ledger, [also]);
  await other.client.send(ledger, work);
  await other.client.untilIdle(ledger, [work]);
};

/** The owner finds, when it goes on, answers that were waiting for it to questions that are answered elsewhere by then. */
const robbed: Contest = async ({ owner, other, ledger }) => {
  const stale = await stopWithAnswers(owner, ledger);
  await other.client.resume(ledger, { continuePendingWork: true, takeOver: true });
  await other.client.answerOpen(ledger, { isAwaited: true });
  await other.client.untilIdle(ledger, [work]);
  owner.runtime.signal('SIGCONT');
  await refused(stale, ledger);
  await owner.client.until(ledger, (events) => events.at(-1)?.type === 'session.idle');
  await other.client.send(ledger, next);
  await other.client.untilIdle(ledger, [next]);
};

/** The log is as the owner left it, and yet the owner may not write: only who has claimed the session last. */
const robbedInSilence: Contest = async ({ owner, other, ledger }) => {
  const stale = await stopWithAnswers(owner, ledger);
  other.client.isSilent = true;
  await other.client.resume(ledger, { continuePendingWork: true, takeOver: true, disableResume: true });
  owner.runtime.signal('SIGCONT');
  await refused(stale, ledger);
  other.client.isSilent = false;
  await other.client.answerOpen(ledger, { isAwaited: true });
  await other.client.untilIdle(ledger, [work]);
};

/** Stops the owner while its session asks; resolves with answers it has been sent since. */
async function stopWithAnswers(owner: Rival, ledger: Ledger): Promise<readonly Promise<unknown>[]> {
  await owner.client.create(ledger);
  owner.client.isSilent = true;
  await owner.client.send(ledger, work);
  const isOpen = (kind: string) => (events: readonly AnyEvent[]) => events.some(({ type }) => type === kind);
  for (const kind of ['permission.requested', 'external_tool.requested'])
    await owner.client.until(ledger, isOpen(kind));
  const asked = (await owner.client.stored(ledger)).filter(({ type }) => type === 'external_tool.requested');
  owner.runtime.signal('SIGSTOP');
  return asked.map(({ data }) => {
    const { requestId } = data as EventData<'external_tool.requested'>;
    const params = { sessionId: ledger.sessionId, requestId, result: 'stale' };
    return owner.client.wire.failure('session.tools.handlePendingToolCall', params);
  });
}

async function refused(answers: readonly Promise<unknown>[], ledger: Ledger): Promise<void> {
  for (const answer of await Promise.all(answers))
    if (JSON.stringify(answer).includes('"success":true'))
      ledger.problems.push('an answer was accepted by a process that had lost its session');
}

/** A living owner's work is protected however long it is silent; a dead one's is taken over at once. */
const killedWhileStopped: Contest = async ({ owner, other, ledger }) => {
  await owner.client.create(ledger);
  owner.client.isSilent = true;
  await owner.client.send(ledger, work);
  await owner.client.until(ledger, (events) => events.some(({ type }) => type === 'permission.requested'));
  owner.runtime.signal('SIGSTOP');
  const refusal = await other.client.wire.failure('session.resume', { sessionId: ledger.sessionId });
  if (!String(refusal.message).includes('is in use by process'))
    ledger.problems.push(`a session in use was not refused by name: ${JSON.stringify(refusal)}`);
  await owner.runtime.kill();
  await other.client.resume(ledger, { continuePendingWork: true });
  await other.client.answerOpen(ledger, { isAwaited: true });
  await other.client.untilIdle(ledger, [work]);
};
