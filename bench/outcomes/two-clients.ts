import { connect } from 'node:net';
import type { WireClient, WireSession } from '@groundcrew/testkit';
import { lookTool, prompts } from './model.js';
import { comes, durable, isLastWord, type Stage } from './stage.js';
import type { SubjectProcess } from './subject.js';
import { type Finding, share, yesNo } from './table.js';

const streamed = 10_000;
const mostWaits = 6;
const skipping = [{ ...lookTool, skipPermission: true }];

/** Two clients on one session, by sockets; the first brings the tool. */
export async function twoClients(stage: Stage): Promise<readonly Finding[]> {
  const process = stage.start({ home: stage.newHome(), door: 'port' });
  try {
    return [...(await together(stage, process)), ...(await besideASleeper(stage, process))];
  } finally {
    await process.end();
  }
}

async function together(stage: Stage, process: SubjectProcess): Promise<readonly Finding[]> {
  const [one, two] = [await process.connect(), await process.connect()];
  const ours = await one.create(stage.settings({ tools: skipping }));
  const theirs = await two.resume(ours.sessionId, stage.settings({ tools: [] }));
  for (const sender of [ours, theirs]) {
    await sender.send(prompts.hello);
    await Promise.all([ours.next('session.idle'), theirs.next('session.idle')]);
  }
  const order = [ours, theirs].map((session) => durable(session.events).map(({ id }) => id));
  const [mine = [], other = []] = order;
  const isSame = other.length > 0 && mine.slice(-other.length).join() === other.join();

  const answers = await race(ours, theirs);
  const isSeenByBoth = await comes(
    Promise.all([ours, theirs].map((session) => session.next('external_tool.completed'))),
  );
  await Promise.all([ours, theirs].map((session) => session.next('session.idle')));

  await ours.send(prompts.look);
  const { data } = await theirs.next('external_tool.requested');
  await one.close();
  const isTaken = (await theirs.answerTool(data.requestId, { result: 'by the other' })).success;
  const isEnded = await comes(theirs.next('session.idle'));
  const isUnknown = await comes(
    theirs
      .send(prompts.look)
      .then(() => theirs.next('tool.execution_complete'))
      .then(() => theirs.next('session.idle')),
  );
  await two.close();
  return [
    { what: 'two clients: both received the same events in the same order', outcome: yesNo(isSame) },
    { what: 'both answer one call at once: answers accepted', outcome: share(answers, 2) },
    { what: 'both informed that it was answered', outcome: yesNo(isSeenByBoth) },
    {
      what: 'the owner of a tool hangs up in a call: the other may answer, and the turn ends',
      outcome: yesNo(isTaken && isEnded),
    },
    {
      what: 'a later call of that tool is reported as unknown, and the turn ends',
      outcome: yesNo(isUnknown),
    },
  ];
}

async function race(ours: WireSession, theirs: WireSession): Promise<number> {
  await ours.send(prompts.look);
  const { data } = await theirs.next('external_tool.requested');
  const answers = await Promise.all(
    [ours, theirs].map((session) => session.answerTool(data.requestId, { result: 'seen' })),
  );
  return answers.filter(({ success }) => success).length;
}

/** A long stream to one client, alone and beside another that has stopped reading. */
async function besideASleeper(stage: Stage, process: SubjectProcess): Promise<readonly Finding[]> {
  const client = await process.connect();
  const session = await client.create(stage.settings());
  const alone = await streamTo(client, session);
  const before = process.memory;
  const sleeper = await sleepOn(process, { ...stage.settings({ tools: [] }), sessionId: session.sessionId });
  await session.next('session.resume');
  const beside = await streamTo(client, session);
  const after = process.memory;
  sleeper.destroy();
  await client.close();
  return [
    {
      what: `a turn of ${streamed} deltas, alone → beside a client that does not read`,
      outcome: `${seconds(alone)} → ${seconds(beside)}`,
    },
    { what: 'memory that the client that does not read costs', outcome: `${Math.round(after - before)} MB` },
  ];
}

/** How long the turn takes; one wait of a client is too short for some. */
async function streamTo(client: WireClient, session: WireSession): Promise<number> {
  const began = performance.now();
  const before = session.events.length;
  await session.send(prompts.stream(streamed));
  const isOver = () => {
    const isIdle = session.events.at(-1)?.type === 'session.idle';
    return (isIdle && session.events.slice(before).some(isLastWord)) || undefined;
  };
  for (let wait = 0; wait < mostWaits; wait++)
    if (await comes(client.until(isOver, 'the end of the stream'))) return performance.now() - began;
  return Number.POSITIVE_INFINITY;
}

/** A client that attaches and never reads what it is sent. */
async function sleepOn(process: SubjectProcess, settings: object) {
  const socket = connect(await process.port(), '127.0.0.1');
  socket.pause();
  const params = { ...settings, requestPermission: true, toolFilterPrecedence: 'excluded' };
  for (const message of [
    { jsonrpc: '2.0', id: 1, method: 'connect', params: {} },
    { jsonrpc: '2.0', id: 2, method: 'session.resume', params },
  ]) {
    const body = JSON.stringify(message);
    socket.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }
  return socket;
}

function seconds(milliseconds: number): string {
  return milliseconds === Number.POSITIVE_INFINITY
    ? 'no end in a minute'
    : `${(milliseconds / 1000).toFixed(2)} s`;
}
