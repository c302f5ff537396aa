import { setTimeout as pause } from 'node:timers/promises';
import type { AnyEvent } from '@groundcrew/protocol';
import type { WireClient, WireSession } from '@groundcrew/testkit';
import { lookTool, prompts } from './model.js';
import { comes, durable, found, isLastWord, type Stage } from './stage.js';
import type { SubjectProcess } from './subject.js';
import { type Finding, share } from './table.js';

const rounds = 5;
const skipping = [{ ...lookTool, skipPermission: true }];

/** Milliseconds between the question and the kill, for runtimes that write a little later than they send. */
const moments = [
  { name: 'at once', delay: 0 },
  { name: 'a second later', delay: 1000 },
];

/** kill -9 in the middle of a turn that waits for users; then another process, and the answers. */
export async function pendingTool(stage: Stage): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const moment of moments) findings.push(...(await openCalls(stage, moment)));
  findings.push(...(await openPermission(stage)), ...(await notContinued(stage)));
  return findings;
}

/** Two calls of one message are open; they are answered in the other order, each twice. */
async function openCalls(stage: Stage, moment: (typeof moments)[number]): Promise<readonly Finding[]> {
  const times: number[] = [];
  const sum = { received: 0, kept: 0, accepted: 0, twice: 0, ended: 0 };
  for (let round = 0; round < rounds; round++) {
    const left = await killAt(stage, { ...moment, prompt: prompts.lookTwice, tools: skipping, questions: 2 });
    sum.received += left.received.length;
    await takeUp(
      stage,
      left,
      { tools: skipping, continuePendingWork: true },
      async ({ session, process }) => {
        for (const requestId of left.requestIds.toReversed()) {
          const { success } = await session.answerTool(requestId, { result: 'seen' });
          if (success && times.length === round) times.push(performance.now() - process.startedAt);
          if (success) sum.accepted += 1;
          if ((await session.answerTool(requestId, { result: 'again' })).success) sum.twice += 1;
        }
        if (await comes(session.next('assistant.message', isLastWord))) sum.ended += 1;
        sum.kept += found(left.received, await session.stored());
      },
    );
  }
  return [
    {
      what: `killed ${moment.name} with two tool calls open: events sent, and found by the next process`,
      outcome: share(sum.kept, sum.received),
    },
    {
      what: `killed ${moment.name}: calls answered under their old ids, last one first`,
      outcome: share(sum.accepted, 2 * rounds),
    },
    { what: `killed ${moment.name}: calls answered twice`, outcome: String(sum.twice) },
    { what: `killed ${moment.name}: turns that went on to their end`, outcome: share(sum.ended, rounds) },
    {
      what: `killed ${moment.name}: start of the next process to the first accepted answer, best of ${rounds}`,
      outcome: times.length === 0 ? '–' : `${Math.min(...times).toFixed(0)} ms`,
    },
  ];
}

async function openPermission(stage: Stage): Promise<readonly Finding[]> {
  const sum = { approved: 0, ended: 0 };
  for (let round = 0; round < rounds; round++) {
    const left = await killAt(stage, { delay: 1000, prompt: prompts.look, tools: [lookTool], questions: 1 });
    await takeUp(stage, left, { continuePendingWork: true }, async ({ session }) => {
      const { success } = await session.decide(left.requestIds[0] ?? '', { kind: 'approve-once' });
      if (!success) return;
      sum.approved += 1;
      const { data } = await session.next('external_tool.requested');
      await session.answerTool(data.requestId, { result: 'seen' });
      await session.next('assistant.message', isLastWord);
      sum.ended += 1;
    });
  }
  return [
    {
      what: 'killed with a permission request open: approved under its old id',
      outcome: share(sum.approved, rounds),
    },
    { what: 'its tool then ran and the turn ended', outcome: share(sum.ended, rounds) },
  ];
}

/** Resumed by a client that does not want the old work. */
async function notContinued(stage: Stage): Promise<readonly Finding[]> {
  const sum = { refused: 0, answered: 0 };
  const before = stage.model.refusals.length;
  for (let round = 0; round < rounds; round++) {
    const left = await killAt(stage, { delay: 1000, prompt: prompts.look, tools: skipping, questions: 1 });
    await takeUp(stage, left, { tools: skipping }, async ({ session }) => {
      const { success } = await session.answerTool(left.requestIds[0] ?? '', { result: 'late' });
      if (!success) sum.refused += 1;
      await session.send(prompts.hello);
      await session.next('assistant.message', isLastWord);
      sum.answered += 1;
    });
  }
  return [
    {
      what: 'resumed without `continuePendingWork`: late answers refused',
      outcome: share(sum.refused, rounds),
    },
    { what: 'and the next prompt answered', outcome: share(sum.answered, rounds) },
    {
      what: 'histories that a strict model service refused',
      outcome: String(stage.model.refusals.length - before),
    },
  ];
}

/** What a killed process left. */
interface Left {
  readonly home: string;
  readonly sessionId: string;
  readonly requestIds: readonly string[];
  readonly received: readonly AnyEvent[];
}

/** Lets a turn run until it waits for so many answers, then kills the process. */
async function killAt(
  stage: Stage,
  how: {
    readonly prompt: string;
    readonly tools: readonly object[];
    readonly questions: number;
    readonly delay: number;
  },
): Promise<Left> {
  const home = stage.newHome();
  const process = stage.start({ home, door: 'stdio' });
  const client = await process.connect();
  const session = await client.create(stage.settings({ tools: how.tools }));
  await session.send(how.prompt);
  const requestIds = await client.until(() => asked(session, how.questions), 'the questions');
  await pause(how.delay);
  await process.kill();
  const received = durable(session.events);
  await process.end();
  return { home, sessionId: session.sessionId, requestIds, received };
}

/** The ids of the questions, once there are so many. */
function asked({ events }: WireSession, count: number): readonly string[] | undefined {
  const ids = events
    .filter(({ type }) => type === 'external_tool.requested' || type === 'permission.requested')
    .map(({ data }) => (data as { requestId: string }).requestId);
  return ids.length >= count ? ids : undefined;
}

/** Resumes in a new process; what fails there counts as not having happened. */
async function takeUp(
  stage: Stage,
  { home, sessionId }: Left,
  settings: Readonly<Record<string, unknown>>,
  play: (after: {
    readonly process: SubjectProcess;
    readonly client: WireClient;
    readonly session: WireSession;
  }) => Promise<void>,
): Promise<void> {
  const process = stage.start({ home, door: 'stdio' });
  const client = await process.connect();
  await comes(
    client.resume(sessionId, stage.settings(settings)).then((session) => play({ process, client, session })),
  );
  await process.end();
}
