import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { all, channelContract, nextTurn, note } from '../test/channel-contract.js';
import type { Channel } from './channel.js';
import { Connection } from './connection.js';
import { connectTcp, type Listener, type ListenOptions, listenTcp } from './tcp.js';

const listeners: Listener[] = [];

afterEach(async () => {
  await Promise.all(listeners.splice(0).map((listener) => listener.close()));
});

describe('a channel over a socket', () => {
  channelContract(async () => {
    const { listener, channels } = await listen();
    const left = await connectTcp({ port: listener.port });
    const right = await channels.next();
    return { left, right };
  });
});

test('a port that is taken rejects with the code of the system', async () => {
  const { listener } = await listen();
  await expect(listenTcp({ port: listener.port, onChannel: () => undefined })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
});

test('a port without a listener rejects with the code of the system', async () => {
  const listener = await listenTcp({ port: 0, onChannel: () => undefined });
  await listener.close();
  await expect(connectTcp({ port: listener.port })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a connect that is aborted rejects with the reason', async () => {
  const { listener } = await listen();
  const reason = new Error('never mind');
  await expect(connectTcp({ port: listener.port }, AbortSignal.abort(reason))).rejects.toBe(reason);
  const controller = new AbortController();
  const connecting = connectTcp({ port: listener.port }, controller.signal);
  controller.abort(reason);
  await expect(connecting).rejects.toBe(reason);
});

test('closing the listener ends its channels, each with what was sent before', async () => {
  const { listener, channels } = await listen();
  const near = await connectTcp({ port: listener.port });
  (await channels.next()).send(note('farewell'));
  const received = all(near);
  await Promise.all([listener.close(), received.then(() => near.close())]);
  expect(await received).toEqual([note('farewell')]);
});

test('a socket that drops is noticed at once by both who ask and who answer', async () => {
  const { listener, channels } = await listen();
  const socket = createConnection({ port: listener.port, host: '127.0.0.1' });
  const answering = new Promise<AbortSignal>((resolve) => {
    void channels.next().then((channel) => {
      const connection = new Connection(channel, {
        onRequest: (_method, _params, call) => {
          resolve(call.signal);
          return connection.request('never answered');
        },
      });
    });
  });
  socket.write('Content-Length: 23\r\n\r\n{"id":1,"method":"wait"}'.replace('23', '24'));
  const signal = await answering;
  const aborted = once(signal, 'abort');
  socket.resetAndDestroy();
  await aborted;
  expect(signal.reason).toMatchObject({ message: 'Connection closed' });
});

test('whatever one peer sends, its connection ends and another is undisturbed', async () => {
  const serve = (channel: Channel) =>
    void new Connection(channel, { onRequest: async (_method, params) => params });
  const { listener } = await listen(serve);
  const witness = new Connection(await connectTcp({ port: listener.port }), { onRequest: async () => null });
  await fc.assert(
    fc.asyncProperty(fc.oneof(...hostile), async (bytes) => {
      const answer = await sendAndRead(listener.port, bytes);
      if (answer !== '') expect(answer).toMatch(/^Content-Length: \d+\r\n\r\n\{"jsonrpc":"2.0","id":/);
      expect(await witness.request('echo', { still: 'here' })).toEqual({ still: 'here' });
    }),
    { numRuns: 60 },
  );
  await witness.close();
});

test('a refusal reaches a peer that is still sending', async () => {
  const { listener } = await listen(
    (channel) => void new Connection(channel, { onRequest: async () => null }),
  );
  const flood = Buffer.concat([Buffer.from('{"no":"header"}\n'), Buffer.alloc(5_000_000, 'x')]);
  expect(await sendAndRead(listener.port, flood)).toContain(
    '"error":{"code":-32700,"message":"Invalid header',
  );
});

test('a peer that never reads costs bounded memory and gets everything when it reads again', async () => {
  const answer = 'x'.repeat(1000);
  let served = 0;
  const { listener, channels } = await listen();
  const socket = createConnection({ port: listener.port, host: '127.0.0.1' });
  const channel = await channels.next();
  const onRequest = async () => {
    served += 1;
    return answer;
  };
  const connection = new Connection(channel, { onRequest }, { maxQueuedBytes: 2_000_000 });
  const request = '{"jsonrpc":"2.0","id":1,"method":"m"}';
  const requests = 30_000;
  socket.pause();
  socket.write(`Content-Length: ${request.length}\r\n\r\n${request}`.repeat(requests));
  while (channel.queuedBytes <= 2_000_000) await nextTurn();
  await settled(() => served);
  expect(served).toBeLessThan(requests);
  expect(channel.queuedBytes).toBeGreaterThan(1_000_000);
  expect(channel.queuedBytes).toBeLessThan(4_000_000);
  const frameBytes = `Content-Length: 1037\r\n\r\n{"jsonrpc":"2.0","id":1,"result":"${answer}"}`.length;
  expect(await receivedBytes(socket, requests * frameBytes)).toBe(requests * frameBytes);
  expect([served, channel.queuedBytes]).toEqual([requests, 0]);
  socket.destroy();
  await connection.closed;
});

const framed = (body: string) => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const hostile: fc.Arbitrary<Buffer>[] = [
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.json().map((json) => Buffer.from(framed(json))),
  fc.string({ unit: 'grapheme' }).map((text) => Buffer.from(framed(text))),
  fc
    .nat({ max: 60 })
    .map((cut) => Buffer.from(framed('{"jsonrpc":"2.0","id":1,"method":"m"}').slice(0, cut))),
  fc.constantFrom(...['9'.repeat(30), '268435457', '-1', '1e3', '']).map((length) => {
    return Buffer.from(`Content-Length: ${length}\r\n\r\n{}`);
  }),
  fc.nat({ max: 200_000 }).map((depth) => Buffer.from(framed(`{"id":1,"method":${'['.repeat(depth)}`))),
  fc.constant(Buffer.alloc(20_000, 'a')),
];

async function listen(onChannel?: ListenOptions['onChannel']) {
  const arrived: Channel[] = [];
  const waiting: ((channel: Channel) => void)[] = [];
  const keep = (channel: Channel) => {
    const taker = waiting.shift();
    if (taker === undefined) arrived.push(channel);
    else taker(channel);
  };
  const listener = await listenTcp({ port: 0, onChannel: onChannel ?? keep });
  listeners.push(listener);
  const next = (): Promise<Channel> => {
    const channel = arrived.shift();
    if (channel !== undefined) return Promise.resolve(channel);
    return new Promise((resolve) => waiting.push(resolve));
  };
  return { listener, channels: { next } };
}

/** Sends all, hangs up, and reads to the end. */
async function sendAndRead(port: number, bytes: Buffer): Promise<string> {
  const socket = createConnection({ port, host: '127.0.0.1' });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.end(bytes);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

async function receivedBytes(socket: Socket, expected: number): Promise<number> {
  let received = 0;
  for await (const chunk of socket) {
    received += (chunk as Buffer).length;
    if (received >= expected) break;
  }
  return received;
}

/** Waits until a count has stopped growing for many turns of the event loop. */
async function settled(count: () => number): Promise<void> {
  let last = -1;
  for (let still = 0; still < 200; still += 1) {
    if (count() !== last) still = 0;
    last = count();
    await nextTurn();
  }
}
