import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ourPeer, type Peer, theirPeer } from '../test/peers.js';
import { stdioChannel } from './stdio.js';
import { connectTcp, listenTcp } from './tcp.js';

test('their client talks with our server over a socket', async () => {
  const listener = await listenTcp({ port: 0, onChannel: (channel) => void ourPeer(channel) });
  const socket = createConnection({ port: listener.port, host: '127.0.0.1' });
  await converse(theirPeer(socket, socket));
  await listener.close();
});

test('our client talks with their server over a socket', async () => {
  const server = createServer((socket) => void theirPeer(socket, socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a port');
  await converse(ourPeer(await connectTcp({ port: address.port })));
  server.close();
  await once(server, 'close');
});

test('their client talks with our server in a child process', async () => {
  const child = startChild('ours');
  await converse(theirPeer(child.stdout, child.stdin));
  expect(await exitOf(child)).toEqual([0, null]);
});

test('our client talks with their server in a child process', async () => {
  const child = startChild('theirs');
  await converse(ourPeer(stdioChannel({ input: child.stdout, output: child.stdin })));
  expect(await exitOf(child)).toEqual([expect.any(Number), null]);
});

/** Requests, notifications, errors, cancellation and text in every alphabet, then the end. */
async function converse(peer: Peer): Promise<void> {
  const text = { text: 'é€😀\u2028\0"\\ \ud800', long: 'ж'.repeat(100_000) };
  expect(await peer.request('echo', text)).toEqual(text);
  expect(await peer.request('ask back', text)).toEqual(text);
  expect(await peer.request('nothing', {})).toBe(null);
  const numbers = Array.from({ length: 200 }, (_, number) => ({ number }));
  expect(await Promise.all(numbers.map((each) => peer.request('echo', each)))).toEqual(numbers);

  peer.notify('news', text);
  expect(await peer.received()).toEqual({ method: 'news', params: text });

  await expect(peer.request('fail', {})).rejects.toMatchObject({
    code: -32001,
    message: 'not today',
    data: { retryable: false },
  });
  await expect(peer.request('absent', {})).rejects.toMatchObject({
    code: -32601,
    message: 'Unhandled method absent',
  });

  const controller = new AbortController();
  const waiting = peer.request('wait', {}, controller.signal).catch((error: unknown) => error);
  expect(await peer.received()).toEqual({ method: 'wait' });
  controller.abort();
  expect(await waiting).toBeInstanceOf(Error);
  expect(await peer.received()).toEqual({ method: 'cancelled' });
  expect(await peer.request('echo', { still: 'here' })).toEqual({ still: 'here' });
  peer.close();
}

function startChild(library: 'ours' | 'theirs') {
  const program = fileURLToPath(new URL('../test/child.ts', import.meta.url));
  return spawn(process.execPath, ['--import', 'tsx', program, library], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

async function exitOf(child: ChildProcess): Promise<unknown[]> {
  if (child.exitCode !== null || child.signalCode !== null) return [child.exitCode, child.signalCode];
  return once(child, 'exit');
}
