import { Duplex, PassThrough, Readable, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { all, channelContract, nextTurn, note, take } from '../test/channel-contract.js';
import { byteChannel } from './byte-channel.js';
import { Connection } from './connection.js';

describe('a channel over two pipes', () => {
  channelContract(async () => {
    const [forth, back] = [new PassThrough(), new PassThrough()];
    return {
      left: byteChannel({ input: back, output: forth }),
      right: byteChannel({ input: forth, output: back }),
    };
  });
});

test('all that is sent in one turn leaves in one write, also from promises', async () => {
  const { writes, output } = recorder();
  const channel = byteChannel({ input: new PassThrough(), output });
  await Promise.all(
    [1, 2, 3].map(async (value) => {
      await Promise.resolve();
      for (let tick = 0; tick < value; tick += 1) await undefined;
      channel.send(note(value));
    }),
  );
  await nextTurn();
  channel.send(note('€'));
  await nextTurn();
  const framed = (params: string, bytes: number) =>
    `Content-Length: ${bytes}\r\n\r\n{"jsonrpc":"2.0","method":"note","params":${params}}`;
  expect(writes).toEqual([framed('1', 44) + framed('2', 44) + framed('3', 44), framed('"€"', 48)]);
  await channel.close();
});

test('many messages in one turn are written in pieces, not heaped up', async () => {
  const { writes, output } = recorder();
  const channel = byteChannel({ input: new PassThrough(), output });
  for (let index = 0; index < 10; index += 1) channel.send(note('x'.repeat(30_000)));
  expect(writes.length).toBe(3);
  await nextTurn();
  expect(writes.map((text) => text.length)).toEqual([90_210, 90_210, 90_210, 30_070]);
  await channel.close();
});

test('no chunk is read before the messages of the last are taken', async () => {
  let reads = 0;
  const text = frameOf(note('x'));
  const input = new Readable({
    highWaterMark: 1,
    read() {
      reads += 1;
      this.push(reads > 50 ? null : Buffer.from(text));
    },
  });
  const channel = byteChannel({ input, output: recorder().output });
  for (let turn = 0; turn < 50; turn += 1) await nextTurn();
  expect(reads).toBeLessThan(5);
  expect((await all(channel)).length).toBe(50);
});

test('an output that breaks ends the channel and is no uncaught error', async () => {
  const output = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('broken pipe'), { code: 'EPIPE' })),
  });
  const input = new PassThrough();
  const channel = byteChannel({ input, output }, { lingerMs: 1 });
  const received = all(channel);
  channel.send(note(1));
  expect(await received).toEqual([]);
  expect([channel.send(note(2)), input.destroyed]).toEqual([false, true]);
  await channel.drained();
  await channel.close();
});

test('what a peer said before it stopped listening is still heard', async () => {
  const { output } = recorder();
  const input = new PassThrough();
  const channel = byteChannel({ input, output });
  output.destroy();
  await nextTurn();
  input.end(frameOf(note('last words')));
  expect(await all(channel)).toEqual([note('last words')]);
  expect(channel.send(note(1))).toBe(false);
  await channel.close();
});

test('an input that breaks ends the messages and is no uncaught error', async () => {
  const input = new PassThrough();
  const channel = byteChannel({ input, output: recorder().output });
  const received = all(channel);
  input.destroy(new Error('connection reset'));
  expect(await received).toEqual([]);
  await channel.close();
});

test('streams that are gone already make a channel that has ended', async () => {
  const socket = new PassThrough();
  socket.destroy();
  const channel = byteChannel({ input: socket, output: socket });
  expect(await all(channel)).toEqual([]);
  await channel.close();
});

test('a caller that waits for a peer is released when the peer goes away', async () => {
  const socket = new Duplex({ read: () => undefined, write: () => undefined });
  const channel = byteChannel({ input: socket, output: socket }, { highWaterMark: 10 });
  expect(channel.send(note('much'))).toBe(false);
  const drained = channel.drained();
  socket.destroy();
  await drained;
  expect(channel.queuedBytes).toBe(0);
});

test('close does not wait for ever for a peer that never reads', async () => {
  const output = new Writable({ write: () => undefined });
  const channel = byteChannel({ input: new PassThrough(), output }, { lingerMs: 1 });
  channel.send(note(1));
  await channel.close();
  expect(output.destroyed).toBe(true);
});

test('what was asked before the end of the input is still answered', async () => {
  const { writes, output } = recorder();
  const text = frameOf({ jsonrpc: '2.0', id: 1, method: 'm' });
  const connection = new Connection(byteChannel({ input: Readable.from([Buffer.from(text)]), output }), {
    onRequest: async () => 'yes',
  });
  await connection.closed;
  await nextTurn();
  expect(writes).toEqual([frameOf({ jsonrpc: '2.0', id: 1, result: 'yes' })]);
});

test('what cannot be read is answered and ends the connection; an end inside a message is not answered', async () => {
  const answers: string[][] = [];
  for (const text of [
    'Content-Length: x\r\n\r\n',
    'Content-Length: 2000\r\n\r\n',
    'Content-Length: 2\r\n\r\n{',
    'Con',
  ]) {
    const { writes, output } = recorder();
    const input = Readable.from([Buffer.from(text)]);
    const connection = new Connection(byteChannel({ input, output }, { maxBodyBytes: 1000 }), {
      onRequest: async () => null,
    });
    await connection.closed;
    await nextTurn();
    answers.push(writes.map((written) => written.replace(/^[^{]*/, '')));
  }
  const expected =
    'expected `Content-Length: <bytes>`, an empty line (both ended by CR LF) and that many bytes of JSON';
  const header = `Invalid header: Content-Length is not a plain decimal number; ${expected}`;
  const tooLarge = 'Message too large: its header announces 2000 bytes, at most 1000 are accepted';
  expect(answers).toEqual([
    [JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32700, message: header } })],
    [JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: tooLarge } })],
    [],
    [],
  ]);
});

test('a message sent while the reader is busy is not lost', async () => {
  const input = new PassThrough();
  const channel = byteChannel({ input, output: recorder().output });
  input.write(frameOf(note(1)) + frameOf(note(2)));
  await nextTurn();
  input.end(frameOf(note(3)));
  expect(await take(channel, 3)).toEqual([note(1), note(2), note(3)]);
  await channel.close();
});

function recorder(): { writes: string[]; output: Writable } {
  const writes: string[] = [];
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      writes.push(chunk.toString());
      done();
    },
  });
  return { writes, output };
}

function frameOf(message: unknown): string {
  const json = JSON.stringify(message);
  return `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}
