import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { all, channelContract, note, take } from '../test/channel-contract.js';
import type { Channel } from './channel.js';
import { FramingError } from './errors.js';
import { type WebSocketOptions, webSocketChannel } from './web-socket.js';

let server: WebSocketServer;

beforeAll(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
});

afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

async function open(options: WebSocketOptions = {}) {
  const { port } = server.address() as AddressInfo;
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  const accepted = once(server, 'connection') as Promise<[WebSocket, { readonly socket: Duplex }]>;
  await once(socket, 'open');
  const [peer, { socket: bytes }] = await accepted;
  const right = webSocketChannel({ socket: peer, bytes }, options);
  return { left: webSocketChannel({ socket }), right, socket };
}

describe('a channel over a WebSocket', () => {
  channelContract(() => open());
});

test('a message of many megabytes arrives whole and in its place', async () => {
  const { left, right } = await open();
  const large = note(['x'.repeat(3_000_000), 'é'.repeat(1000)]);
  for (const message of [note(1), large, note(2)]) left.send(message);
  const taken = (await take(right, 3)).map((message) => JSON.stringify(message));
  expect(taken.map((text) => text.length)).toEqual([44, 3_001_050, 44]);
  expect(taken[1] === JSON.stringify(large)).toBe(true);
  await close(left, right);
});

test('bytes are no message', async () => {
  const { socket, left, right } = await open();
  socket.send(Buffer.from('{}'));
  await expect(all(right)).rejects.toThrow(FramingError);
  await close(left, right);
});

test('one who is not trusted may send little at once, and little in all', async () => {
  const options = { maxUntrustedBytes: 1000 };
  const first = await open(options);
  first.left.send(note('x'.repeat(2000)));
  await expect(all(first.right)).rejects.toThrow('at most 1000 bytes before the token');
  await first.right.close();

  const second = await open(options);
  for (let count = 0; count < 10; count += 1) second.left.send(note('x'.repeat(900)));
  await all(second.right); // it ends by itself
  await all(second.left);

  const third = await open(options);
  third.right.trust();
  for (let count = 0; count < 10; count += 1) third.left.send(note('x'.repeat(2000)));
  expect(await take(third.right, 10)).toHaveLength(10);
  await close(first.left, second.left, third.left, third.right);
});

test('one who sends pings without end and reads none of the answers is cut off', async () => {
  const { socket, right } = await open({ maxUnreadPongs: 100_000 });
  socket.pause();
  const closed = all(right);
  const ping = Buffer.alloc(125);
  const flood = setInterval(() => {
    for (let count = 0; count < 20_000 && socket.bufferedAmount < 1_000_000; count += 1) socket.ping(ping);
  }, 1);
  socket.on('error', () => undefined);
  await closed;
  clearInterval(flood);
  socket.terminate();
});

async function close(...channels: readonly Channel[]): Promise<void> {
  await Promise.all(channels.map((channel) => channel.close()));
}
