import { connect, type Socket } from 'node:net';
import { callTools, liveRuntime, providerOf, say, story, streamChunks } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--port', '0'] });
/** Answers of megabytes fill the window: these tests are not about what happens then. */
const infiniteSessions = { enabled: false };

/** A connection without manners: what it sends is sent as it is. */
async function rawSocket(): Promise<Socket> {
  const socket = connect(await runtime.process.port(), '127.0.0.1');
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return socket;
}

const frame = (body: string) => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const ping = (id: unknown) => frame(JSON.stringify({ jsonrpc: '2.0', id, method: 'ping', params: {} }));

/** All that comes until the peer hangs up. */
function untilClosed(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('end', () => socket.end());
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

describe('what is no message ends its own connection and no other', () => {
  test.each([
    ['garbage', 'GET / HTTP/1.1\r\n\r\n', -32700],
    ['no JSON', frame('{oops'), -32700],
    ['no object', frame('42'), -32600],
    ['a batch', frame('[]'), -32600],
    ['a length of no sense', 'Content-Length: many\r\n\r\n', -32700],
    ['a negative length', 'Content-Length: -5\r\n\r\n', -32700],
    ['a length without end', 'Content-Length: 99999999999999\r\n\r\n', -32600],
    ['a header without end', 'X: '.padEnd(70_000, 'x'), -32700],
  ])('%s', async (_name, bytes, code) => {
    const socket = await rawSocket();
    const received = untilClosed(socket);
    socket.write(bytes);
    expect(await received).toMatch(new RegExp(`"code":(${code}|-32600|-32700)`));
    expect(await runtime.client.call('ping', {})).toMatchObject({ message: 'pong' });
  });

  test('a peer that hangs up in the middle of a message', async () => {
    const socket = await rawSocket();
    const received = untilClosed(socket);
    socket.end('Content-Length: 100\r\n\r\n{"half":');
    expect(await received).toBe('');
    expect(await runtime.client.call('ping', {})).toMatchObject({ message: 'pong' });
  });
});

test('headers in any case, more of them, split anywhere, and ids of any type are fine', async () => {
  const socket = await rawSocket();
  const received = untilClosed(socket);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'ü-1', method: 'ping', params: { message: 'ñ🚀' } });
  const bytes = Buffer.from(`content-length: ${Buffer.byteLength(body)}\r\nContent-Type: x\r\n\r\n${body}`);
  for (const byte of bytes) socket.write(Buffer.from([byte]));
  for (const id of [0, -1, 1.5, '', 'uuid-like']) socket.write(ping(id));
  const wanted = ['"ü-1"', '0', '-1', '1.5', '""', '"uuid-like"'];
  let text = '';
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if ((text.match(/Content-Length/g) ?? []).length === wanted.length) resolve();
    });
  });
  socket.end();
  await received;
  for (const id of wanted) expect(text).toContain(`"id":${id},"result":{"message":"pong`);
  expect(text).toContain('pong: ñ🚀');
});

test('ten thousand requests at once are answered, or refused as worth another try', async () => {
  const client = await runtime.connect();
  const session = await client.create({ sessionId: 'crowd' });
  const calls = Array.from({ length: 10_000 }, (_, index) =>
    index % 10 === 0
      ? session.failure('session.log', { message: `note ${index}` })
      : client.failure('ping', {}),
  );
  const answers = await Promise.all(calls);
  const refused = answers.filter((answer) => 'code' in answer);
  for (const answer of refused)
    expect(answer).toMatchObject({ code: expect.any(Number), data: { code: 'overloaded', retryable: true } });
  expect(answers.length - refused.length).toBeGreaterThan(1000);
  expect(await client.call('ping', {})).toMatchObject({ message: 'pong' });
  expect(await runtime.client.call('ping', {})).toMatchObject({ message: 'pong' });
});

test('a client that does not read misses nothing once it reads again, and no other client waits for it', async () => {
  const chunks = Array.from({ length: 3000 }, (_, index) => `${index} `.padEnd(4000, '.'));
  // Half of it at a time: who reads is never 8 MiB behind, however busy the machine is, and who does not is in the end.
  const halves = [chunks.slice(0, 1500), chunks.slice(1500)] as const;
  const model = runtime.script(streamChunks(...halves[0]), streamChunks(...halves[1]), say('last'));
  const reader = await runtime.connect();
  const session = await reader.create({ ...providerOf(model), streaming: true, infiniteSessions });
  const sleeper = await rawSocket();
  const params = { sessionId: session.sessionId, toolFilterPrecedence: 'excluded' };
  sleeper.write(frame(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session.resume', params })));
  await session.next('session.resume');
  sleeper.pause();
  await session.turn('Stream');
  await session.turn('Stream on');
  await session.turn('Again');
  const textOf = (list: readonly { type: string; data: unknown }[]) =>
    list.flatMap(({ type, data }) =>
      type === 'assistant.message_delta' ? [(data as { deltaContent: string }).deltaContent] : [],
    );
  expect(textOf(session.events)).toEqual([...chunks, 'last']);
  const events = await readEvents(sleeper, (event) => event.type === 'session.idle', 3);
  const durable = (list: readonly { id: string; ephemeral?: boolean }[]) =>
    list.flatMap(({ id, ephemeral }) => (ephemeral ? [] : [id]));
  expect(durable(events)).toEqual(durable(session.events).slice(-durable(events).length));
  const sum = textOf(events);
  expect(sum.length).toBeLessThan(chunks.length);
  expect(sum.join('')).toBe(`${chunks.join('')}last`);
  sleeper.destroy();
});

test('a client that is behind and resumes again hears everything in the order in which it happened', async () => {
  const chunks = Array.from({ length: 2000 }, (_, index) => `${index} `.padEnd(4000, '.'));
  const model = runtime.script(streamChunks(...chunks), say('second'), say('third'));
  const reader = await runtime.connect();
  const session = await reader.create({ ...providerOf(model), streaming: true, infiniteSessions });
  const sleeper = await rawSocket();
  const params = { sessionId: session.sessionId, toolFilterPrecedence: 'excluded' };
  const resume = (id: number) =>
    sleeper.write(frame(JSON.stringify({ jsonrpc: '2.0', id, method: 'session.resume', params })));
  resume(1);
  await session.next('session.resume');
  sleeper.pause();
  await session.turn('Stream');
  resume(2);
  await session.next('session.resume');
  await session.turn('Again');
  await session.turn('And again');
  const events = await readEvents(sleeper, (event) => event.type === 'session.idle', 3);
  const durable = (list: readonly { id: string; ephemeral?: boolean }[]) =>
    list.flatMap(({ id, ephemeral }) => (ephemeral ? [] : [id]));
  expect(durable(events)).toEqual(durable(session.events).slice(-durable(events).length));
  expect(events.map(({ data }) => data.deltaContent ?? '').join('')).toBe(`${chunks.join('')}secondthird`);
  sleeper.destroy();
});

interface Received {
  readonly id: string;
  readonly type: string;
  readonly ephemeral?: boolean;
  readonly data: { readonly deltaContent?: string };
}

/** Reads frames until so many events were what was waited for. */
async function readEvents(
  socket: Socket,
  isLast: (event: Received) => boolean,
  times: number,
): Promise<readonly Received[]> {
  const events: Received[] = [];
  let bytes = Buffer.alloc(0);
  let left = times;
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (;;) {
        const header = /^Content-Length: (\d+)\r\n\r\n/.exec(bytes.subarray(0, 64).toString('latin1'));
        const end = header ? header[0].length + Number(header[1]) : Number.POSITIVE_INFINITY;
        if (!header || bytes.length < end) return;
        const message = JSON.parse(bytes.subarray(header[0].length, end).toString()) as {
          method?: string;
          params?: { event: Received };
        };
        bytes = bytes.subarray(end);
        if (message.method !== 'session.event' || !message.params) continue;
        events.push(message.params.event);
        if (isLast(message.params.event)) left -= 1;
        if (left === 0) resolve();
      }
    });
    socket.resume();
  });
  return events;
}

test('a large result travels and is kept whole where the app wants that', async () => {
  const text = 'ö'.repeat(3_000_000);
  const tools = [{ name: 'look', skipPermission: true }];
  const model = runtime.script(callTools({ id: 'c1', name: 'look', arguments: {} }), say('big'));
  const largeOutput = { enabled: false };
  const session = await runtime.client.create({ ...providerOf(model), tools, largeOutput, infiniteSessions });
  await session.send('Look');
  const { data } = await session.next('external_tool.requested');
  await session.answerTool(data.requestId, { result: text });
  await session.next('session.idle');
  const stored = await session.stored();
  const done = stored.find(({ type }) => type === 'tool.execution_complete');
  expect(done?.data).toMatchObject({ result: { content: text } });
  expect(story(stored).at(-2)).toBe('assistant.message "big"');
});
