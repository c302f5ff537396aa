import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AnyEvent, EventData } from '@groundcrew/protocol';
import type { WireClient, WireSession } from '@groundcrew/testkit';
import type { Random } from '../../chaos/random.js';
import { countFile, prompts } from './model.js';
import { approveAll, comes, durable, found, isLastWord, type Stage } from './stage.js';
import { type Finding, share } from './table.js';

const sessionsAtOnce = 4;

/** So long a turn that was interrupted may take to be finished by the next process. */
const patience = 5000;

interface Played {
  readonly session: WireSession;
  readonly directory: string;
  readonly acknowledged: string[];
}

interface Sum {
  prompts: number;
  kept: number;
  finished: number;
  received: number;
  found: number;
  sessions: number;
  resumed: number;
  answered: number;
  repeated: number;
  survivors: number;
}

/** kill -9 at a time drawn by lot, while four sessions have two prompts each; then another process, again and again. */
export async function runningTurns(
  stage: Stage,
  options: { readonly runs: number; readonly random: Random },
): Promise<readonly Finding[]> {
  const whole = await undisturbed(stage);
  const refusals = stage.model.refusals.length;
  const sum: Sum = {
    prompts: 0,
    kept: 0,
    finished: 0,
    received: 0,
    found: 0,
    sessions: 0,
    resumed: 0,
    answered: 0,
    repeated: 0,
    survivors: 0,
  };
  for (let run = 0; run < options.runs; run++) await oneRun(stage, options.random.next() * whole, sum);
  return [
    {
      what: 'killed while turns ran: prompts acknowledged, and found once',
      outcome: share(sum.kept, sum.prompts),
    },
    { what: 'events sent, and found', outcome: share(sum.found, sum.received) },
    { what: 'sessions that could be resumed', outcome: share(sum.resumed, sum.sessions) },
    {
      what: 'acknowledged prompts answered without being sent again',
      outcome: share(sum.finished, sum.prompts),
    },
    { what: 'sessions that answered the next prompt', outcome: share(sum.answered, sum.sessions) },
    { what: 'shell commands run twice', outcome: String(sum.repeated) },
    {
      what: 'histories refused by a strict model service',
      outcome: String(stage.model.refusals.length - refusals),
    },
    { what: 'processes left behind by the killed one', outcome: String(sum.survivors) },
  ];
}

/** How long the same takes when nothing is killed. */
async function undisturbed(stage: Stage): Promise<number> {
  const { process, played, began } = await play(stage, stage.newHome());
  await Promise.all(played.map(({ session }) => session.next('session.idle')));
  const milliseconds = performance.now() - began;
  await process.end();
  return milliseconds;
}

async function oneRun(stage: Stage, killAfter: number, sum: Sum): Promise<void> {
  const home = stage.newHome();
  const { process: doomed, played } = await play(stage, home);
  await pause(killAfter);
  await doomed.kill();
  const received = played.map(({ session }) => durable(session.events));
  await pause(300);
  sum.survivors += doomed.survivors().length;
  await doomed.end();
  const process = stage.start({ home, door: 'stdio' });
  const client = await process.connect();
  await Promise.all(
    played.map((each, index) => settle(stage, client, { ...each, received: received[index] ?? [] }, sum)),
  );
  await process.end();
}

/** Starts a process with four sessions and sends two prompts to each, the second while the first is worked on. */
async function play(stage: Stage, home: string) {
  const process = stage.start({ home, door: 'stdio' });
  const client = await process.connect();
  const played = await Promise.all(
    Array.from({ length: sessionsAtOnce }, async (_, index): Promise<Played> => {
      const directory = join(home, 'work', String(index));
      mkdirSync(directory);
      const session = await client.create(stage.settings({ workingDirectory: directory }));
      void approveAll(client, session.sessionId);
      return { session, directory, acknowledged: [] };
    }),
  );
  const began = performance.now();
  for (const { session, acknowledged } of played)
    for (const prompt of [`${prompts.count} first`, `${prompts.stream(20)} second`])
      session.send(prompt).then(
        () => acknowledged.push(prompt),
        () => undefined,
      );
  return { process, played, began };
}

async function settle(
  stage: Stage,
  client: WireClient,
  { session: old, directory, acknowledged, received }: Played & { readonly received: readonly AnyEvent[] },
  sum: Sum,
): Promise<void> {
  sum.sessions += 1;
  sum.prompts += acknowledged.length;
  sum.received += received.length;
  const session = await client
    .resume(old.sessionId, stage.settings({ workingDirectory: directory, continuePendingWork: true }))
    .catch(() => undefined);
  if (!session) return;
  sum.resumed += 1;
  for (const { requestId } of await openPermissions(session))
    await session.decide(requestId, { kind: 'approve-once' });
  void approveAll(client, session.sessionId);
  const stored = await untilAnswered(session, acknowledged);
  sum.kept += acknowledged.filter(
    (prompt) => stored.filter((event) => says(event, prompt)).length === 1,
  ).length;
  sum.finished += acknowledged.filter((prompt) => isAnswered(stored, prompt)).length;
  sum.found += found(received, stored);
  if (linesOf(join(directory, countFile)) > 1) sum.repeated += 1;
  const answers = session.events.filter(isLastWord).length;
  const next = session
    .send(`${prompts.hello} next`)
    .then(() =>
      client.until(() => session.events.filter(isLastWord).length > answers || undefined, 'an answer'),
    );
  if (await comes(next)) sum.answered += 1;
}

async function openPermissions(session: WireSession): Promise<readonly { readonly requestId: string }[]> {
  const { items } = await session.call<{ items: readonly { requestId: string }[] }>(
    'session.permissions.pendingRequests',
  );
  return items;
}

/** The stored events, once every prompt is answered or patience has run out. */
async function untilAnswered(session: WireSession, asked: readonly string[]): Promise<readonly AnyEvent[]> {
  const began = performance.now();
  for (;;) {
    const stored = await session.stored();
    const isOver = asked.every((prompt) => isAnswered(stored, prompt));
    if (isOver || performance.now() - began > patience) return stored;
    await pause(50);
  }
}

function says(event: AnyEvent, prompt: string): boolean {
  return event.type === 'user.message' && (event.data as EventData<'user.message'>).content.includes(prompt);
}

function isAnswered(stored: readonly AnyEvent[], prompt: string): boolean {
  const from = stored.findIndex((event) => says(event, prompt));
  if (from === -1) return false;
  const next = stored.findIndex((event, index) => index > from && event.type === 'user.message');
  return stored.slice(from, next === -1 ? undefined : next).some(isLastWord);
}

function linesOf(file: string): number {
  try {
    return readFileSync(file, 'utf8').trim().split('\n').length;
  } catch {
    return 0;
  }
}
