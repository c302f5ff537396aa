import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { AnyEvent } from '@groundcrew/protocol';
import {
  type AskedModel,
  callTools,
  hold,
  liveRuntime,
  providerOf,
  say,
  story,
  streamChunks,
  type WireSession,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--port', '0'] });
const look = { name: 'look', skipPermission: true };
const receive = { name: 'hear', skipPermission: true };
const lookTwice = callTools(
  { id: 'c1', name: 'look', arguments: {} },
  { id: 'c2', name: 'look', arguments: {} },
);

/** The tools of clients that the model was offered. */
const offered = ({ body }: AskedModel) =>
  body.tools?.map((tool) => tool.function.name).filter((name) => name === 'look' || name === 'hear');

/** A client by a bare socket, which can vanish without a goodbye or stop reading. */
async function bareClient(...requests: readonly { readonly method: string; readonly params: object }[]) {
  const socket = connect(await runtime.process.port(), '127.0.0.1');
  for (const [id, request] of requests.entries()) {
    const body = JSON.stringify({ jsonrpc: '2.0', id, ...request });
    socket.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }
  return socket;
}

function attaching(sessionId: string, more: object = {}) {
  return {
    method: 'session.resume',
    params: { sessionId, toolFilterPrecedence: 'excluded', requestPermission: true, ...more },
  };
}

/** Ends the connection as a dead machine's kernel would: no FIN, only a reset. */
function vanish(socket: Socket): void {
  socket.resetAndDestroy();
}

describe('what clients bring', () => {
  test('a second client without tools does not take away those of the first', async () => {
    const model = runtime.script(say('a'), say('b'));
    const [one, two] = [await runtime.connect(), await runtime.connect()];
    const ours = await one.create({ ...providerOf(model), tools: [look] });
    await ours.turn('Alone');
    await two.resume(ours.sessionId);
    await ours.turn('Together');
    expect(model.requests.map(offered)).toEqual([['look'], ['look']]);
  });

  test('a client that leaves by destroy takes its tools along', async () => {
    const model = runtime.script(say('a'), say('b'));
    const [one, two] = [await runtime.connect(), await runtime.connect()];
    const ours = await one.create({ ...providerOf(model), tools: [look] });
    const theirs = await two.resume(ours.sessionId, { tools: [receive] });
    await ours.turn('Together');
    await theirs.call('session.destroy');
    await ours.turn('Alone');
    expect(model.requests.map(offered)).toEqual([['look', 'hear'], ['look']]);
  });

  test('a socket that drops in the middle of a turn is noticed before the next model call of that turn', async () => {
    const model = runtime.script(callTools({ id: 'c1', name: 'look', arguments: {} }), say('done'));
    const one = await runtime.connect();
    const ours = await one.create({ ...providerOf(model), tools: [look] });
    const socket = await bareClient(attaching(ours.sessionId, { tools: [receive] }));
    await ours.next('session.resume');
    await ours.send('Look');
    const { data } = await ours.next('external_tool.requested');
    vanish(socket);
    await one.call('ping', {});
    await ours.answerTool(data.requestId, { result: 'a tree' });
    await ours.next('session.idle');
    expect(model.requests.map(offered)).toEqual([['look', 'hear'], ['look']]);
  });

  test('a client whose second resume fails stays attached as it was, and leaves whole', async () => {
    const model = runtime.script(say('a'), say('b'));
    const [one, two] = [await runtime.connect(), await runtime.connect()];
    const ours = await one.create({ ...providerOf(model), tools: [look] });
    const theirs = await two.resume(ours.sessionId, { tools: [receive] });
    expect(await theirs.failure('session.resume', { tools: [receive, look] })).toMatchObject({
      code: -32603,
    });
    await Promise.all([ours.turn('Together'), theirs.untilIdle()]);
    await two.close();
    await ours.turn('Alone');
    expect(model.requests.map(offered)).toEqual([['look', 'hear'], ['look']]);
    await ours.call('session.destroy');
    expect(ours.events.at(-1)?.type).toBe('session.shutdown');
  });

  test('a socket that drops before its resume is answered leaves no client behind', async () => {
    const model = runtime.script(say('a'), say('b'));
    const client = await runtime.connect(runtime.process, { hasGaps: true });
    const session = await client.create({ ...providerOf(model), tools: [look] });
    await session.turn('One');
    await session.call('session.destroy');
    // Each of them waits for the one before: the last is answered after its socket is gone.
    const passers = await Promise.all(
      Array.from({ length: 20 }, () => bareClient(attaching(session.sessionId))),
    );
    await Promise.all(passers.map((passer) => once(passer.end().resume(), 'close')));
    const again = await client.resume(session.sessionId, { ...providerOf(model), tools: [look] });
    await again.turn('Two');
    await again.call('session.destroy');
    expect(again.events.at(-1)?.type).toBe('session.shutdown');
  });

  test('commands and forms are the union, broadcast as clients come and go', async () => {
    const [one, two] = [await runtime.connect(), await runtime.connect()];
    const ours = await one.create({ commands: [{ name: 'tidy', description: 'Tidies' }] });
    const theirs = await two.resume(ours.sessionId, {
      commands: [{ name: 'sort', description: 'Sorts' }],
      requestElicitation: true,
    });
    const changed = await ours.next('commands.changed');
    expect(changed.data.commands.map(({ name }) => name)).toEqual(['tidy', 'sort']);
    expect((await ours.next('capabilities.changed')).data).toEqual({ ui: { elicitation: true } });
    await theirs.next('session.resume');
    await two.close();
    expect((await ours.next('commands.changed')).data.commands.map(({ name }) => name)).toEqual(['tidy']);
    expect((await ours.next('capabilities.changed')).data).toEqual({ ui: { elicitation: false } });
  });
});

describe('questions', () => {
  test('a handler that never answers blocks no other: other calls end, other sessions work, and the turn can be aborted', async () => {
    const model = runtime.script(lookTwice, say('never'));
    const client = await runtime.connect();
    const session = await client.create({ ...providerOf(model), tools: [look] });
    await session.send('Look twice');
    await session.next('external_tool.requested');
    const { data } = await session.next('external_tool.requested');
    expect(await session.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    expect((await session.next('tool.execution_complete')).data.toolCallId).toBe(data.toolCallId);
    const other = await client.create(providerOf(runtime.script(say('meanwhile'))));
    expect(story(await other.turn('Hello'))).toContain('assistant.message "meanwhile"');
    await session.call('session.abort');
    expect((await session.next('session.idle')).data).toEqual({ aborted: true });
  });

  test('both clients see a call asked for, allowed and answered, with the same outcome', async () => {
    const model = runtime.script(callTools({ id: 'c1', name: 'look', arguments: {} }), say('seen'));
    const [one, two] = [await runtime.connect(), await runtime.connect()];
    const ours = await one.create({ ...providerOf(model), tools: [{ name: 'look' }] });
    const theirs = await two.resume(ours.sessionId);
    await ours.send('Look');
    const asked = await theirs.next('permission.requested');
    await theirs.decide(asked.data.requestId, { kind: 'approve-once' });
    const { data } = await ours.next('external_tool.requested');
    await ours.answerTool(data.requestId, { result: 'a tree' });
    await Promise.all([ours.next('session.idle'), theirs.next('session.idle')]);
    const received = [ours, theirs].map(({ events }) =>
      events.filter(({ type }) => /^(permission|external_tool|tool)\./.test(type)),
    );
    expect(received[0]).toEqual(received[1]);
    expect(story(received[0] ?? [])).toEqual([
      'tool.execution_start look#c1',
      'permission.requested custom-tool',
      'permission.completed approved',
      'external_tool.requested look#c1',
      'external_tool.completed',
      'tool.execution_complete c1 ok "a tree"',
    ]);
  });
});

describe('unloaded with a question that no client is there to answer', () => {
  test('the turn goes on to its question alone, waits out of memory, and goes on with the next client', async () => {
    const held = hold(lookTwice);
    const model = runtime.script(held.reply, say('seen'));
    const one = await runtime.connect();
    const ours = await one.create({ ...providerOf(model), tools: [look] });
    await ours.send('Look twice');
    await model.asked(1);
    await one.close();
    held.release();
    const two = await runtime.connect();
    const other = await two.create({ sessionId: `beside-${ours.sessionId}` });
    await other.call('session.log', { message: 'time passes' });
    const theirs = await two.resume(ours.sessionId, { ...providerOf(model) });
    const resumed = await theirs.next('session.resume');
    const { questions } = await pendingOf(theirs);
    expect(resumed.data).toMatchObject({ sessionWasActive: true });
    for (const requestId of questions.toReversed())
      expect(await theirs.answerTool(requestId, { result: 'a tree' })).toEqual({ success: true });
    await theirs.next('session.idle');
    expect(story(await theirs.stored()).filter((line) => line.startsWith('session.'))).toEqual([
      'session.start',
      'session.resume',
    ]);
    expect(story(await theirs.stored()).at(-2)).toBe('assistant.message "seen"');
  });
});

test('a client that is too far behind is cut off, the others notice nothing, and it reads on from its cursor', async () => {
  // More than the 16 megabytes that may wait for one client, and what the system keeps for it besides.
  const chunks = Array.from({ length: 8 }, () => 'x'.repeat(400_000));
  const answers = 8;
  const model = runtime.script(...Array.from({ length: answers }, () => streamChunks(...chunks)));
  const reader = await runtime.connect();
  const infiniteSessions = { enabled: false };
  const session = await reader.create({ ...providerOf(model), streaming: true, infiniteSessions });
  const sleeper = await bareClient(attaching(session.sessionId));
  await session.next('session.resume');
  const { cursor } = await session.call<{ cursor: string }>('session.eventLog.tail');
  sleeper.pause();
  for (let turn = 0; turn < answers; turn += 1) await session.turn('Go on and on');
  const said = session.events.filter(({ type }) => type === 'assistant.message_delta');
  expect(said).toHaveLength(answers * chunks.length);

  const closed = new Promise<void>((resolve) => sleeper.once('close', () => resolve()));
  sleeper.on('error', () => undefined).resume();
  await closed;
  const again = await runtime.connect();
  const returned = await again.resume(session.sessionId, { disableResume: true });
  const events = await readFrom(returned, cursor);
  const durable = session.events.filter(({ ephemeral }) => !ephemeral);
  expect(events.map(({ id }) => id)).toEqual(durable.slice(-events.length).map(({ id }) => id));
  expect(events.map(({ type }) => type)).toContain('assistant.message');
}, 60_000);

/** All events after the cursor: a page ends before it gets too large for a client. */
async function readFrom(session: WireSession, start: string): Promise<readonly AnyEvent[]> {
  const events: AnyEvent[] = [];
  for (let cursor = start, hasMore = true; hasMore; ) {
    const page = await session.call<{ events: readonly AnyEvent[]; cursor: string; hasMore: boolean }>(
      'session.eventLog.read',
      { cursor, max: 1000 },
    );
    events.push(...page.events);
    ({ cursor, hasMore } = page);
  }
  return events;
}

async function pendingOf(session: Awaited<ReturnType<typeof runtime.client.create>>) {
  const stored = await session.stored();
  return {
    questions: stored.flatMap(({ type, data }) =>
      type === 'external_tool.requested' ? [(data as { requestId: string }).requestId] : [],
    ),
  };
}
