import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { liveRuntime, type RuntimeProcess } from '@groundcrew/testkit';
import { expect, test, vi } from 'vitest';

const token = 'the-token-of-the-tests';
const runtime = liveRuntime({ flags: ['--stdio'] });

/** A runtime on a port with a token. */
function guarded(): RuntimeProcess {
  return runtime.spawn({ flags: ['--port', '0'], environment: { COPILOT_CONNECTION_TOKEN: token } });
}

/** A bare connection, and what it received. */
class Peer {
  received = '';
  isOver = false;
  readonly over: Promise<void>;

  constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.received += chunk.toString();
    });
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
    this.over = new Promise((resolve) => {
      socket.on('close', () => {
        this.isOver = true;
        resolve();
      });
    });
  }

  ask(id: number, method: string, params: object): void {
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    this.socket.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  async answerTo(id: number): Promise<string> {
    const answer = new RegExp(`\\{"jsonrpc":"2.0","id":${id},[^\\r]*`);
    return vi.waitFor(
      () => {
        const [found] = answer.exec(this.received) ?? [];
        if (found === undefined) throw new Error(`no answer to ${id}: ${this.received}`);
        return found;
      },
      { timeout: 8000 },
    );
  }
}

async function come(process: RuntimeProcess): Promise<Peer> {
  const socket = connect(await process.port(), '127.0.0.1');
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return new Peer(socket);
}

const megabytesOf = (process: RuntimeProcess) =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${process.pid}/status`, 'latin1'))?.[1]) / 1024;

test('a message over 64 KB is refused by its header until the token was shown, and taken then', async () => {
  const process = guarded();
  const [peer, friend] = [await come(process), await come(process)];
  peer.socket.write('Content-Length: 65537\r\n\r\n');
  await peer.over;
  expect(peer.received).toContain('"code":-32600');
  expect(peer.received).toContain('at most 65536 are accepted');
  friend.ask(1, 'connect', { token });
  await friend.answerTo(1);
  friend.ask(2, 'ping', { message: 'x'.repeat(100_000) });
  expect(await friend.answerTo(2)).toContain('pong');
});

test('many who announce much and send little cost little, and nothing when they have left', async () => {
  const process = guarded();
  await come(process);
  const before = megabytesOf(process);
  const peers = await Promise.all(Array.from({ length: 60 }, () => come(process)));
  for (const { socket } of peers) socket.write(`Content-Length: 65536\r\n\r\n${'x'.repeat(65_000)}`);
  await vi.waitFor(async () =>
    expect(
      (await Promise.all(peers.map(({ socket }) => socket.bytesWritten))).every((bytes) => bytes > 65_000),
    ).toBe(true),
  );
  expect(megabytesOf(process) - before).toBeLessThan(60);
  for (const { socket } of peers) socket.destroy();
  const after = await come(process);
  after.ask(1, 'connect', { token });
  expect(await after.answerTo(1)).toContain('"result"');
  expect(megabytesOf(process) - before).toBeLessThan(60);
});

test('five wrong tokens end a connection, each answered later than the one before, and the right one is not delayed', async () => {
  const process = guarded();
  const guesser = await come(process);
  const took: number[] = [];
  for (let id = 1; id <= 5; id += 1) {
    const began = performance.now();
    guesser.ask(id, 'connect', { token: `guess-${id}` });
    expect(await guesser.answerTo(id)).toContain('AUTHENTICATION_FAILED');
    took.push(performance.now() - began);
  }
  await guesser.over;
  expect(took.map((milliseconds, index) => milliseconds >= 50 * 2 ** index - 5)).toEqual(Array(5).fill(true));
  const again = await come(process);
  again.ask(1, 'connect', { token: 'guess' });
  again.ask(2, 'connect', { token });
  expect(await again.answerTo(2)).toContain('"result"');
  expect(again.received).not.toContain('"id":1,');
  expect(await again.answerTo(1)).toContain('AUTHENTICATION_FAILED');
});

test('a sixth guess is not looked at, be it right, and who asks for other things is sent away', async () => {
  const process = guarded();
  const [guesser, talker] = [await come(process), await come(process)];
  for (let id = 1; id <= 5; id += 1) guesser.ask(id, 'connect', { token: 'guess' });
  guesser.ask(6, 'connect', { token });
  guesser.ask(7, 'ping', {});
  for (let id = 1; id <= 70; id += 1) talker.ask(id, 'ping', {});
  await Promise.all([guesser.over, talker.over]);
  expect(guesser.received).not.toContain('"result"');
  expect(talker.received).not.toContain('"result"');
});

test('of more than 64 the one that waited longest goes, after five seconds each of them does, and one that is in stays', async () => {
  const process = guarded();
  const friend = await come(process);
  friend.ask(1, 'connect', { token });
  await friend.answerTo(1);
  const peers: Peer[] = [];
  for (let count = 0; count < 70; count += 1) peers.push(await come(process));
  await vi.waitFor(() => expect(peers.filter(({ isOver }) => isOver)).toEqual(peers.slice(0, 6)));
  const began = performance.now();
  await Promise.all(peers.map(({ over }) => over));
  expect(performance.now() - began).toBeLessThan(8000);
  friend.ask(2, 'ping', {});
  expect(await friend.answerTo(2)).toContain('pong');
});

test('a peer behind stdio, or on a port without a token, is not pending', async () => {
  expect(await runtime.client.call('ping', { message: 'x'.repeat(100_000) })).toMatchObject({
    protocolVersion: 2,
  });
  const open = await come(runtime.spawn({ flags: ['--port', '0'] }));
  open.ask(1, 'ping', { message: 'x'.repeat(100_000) });
  expect(await open.answerTo(1)).toContain('pong');
});
