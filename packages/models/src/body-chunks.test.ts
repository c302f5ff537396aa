import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { bodyChunks } from './body-chunks.js';

test('what is there at once is one chunk, and the end comes after all of it', async () => {
  const stream = new PassThrough();
  const chunks = bodyChunks(stream);
  const first = chunks.next();
  stream.write('one ');
  stream.write('two');
  expect(String((await first).value)).toBe('one two');
  stream.end(' three');
  expect(String((await chunks.next()).value)).toBe(' three');
  expect(await chunks.next()).toEqual({ value: undefined, done: true });
});

test('an error is thrown after everything that came before it', async () => {
  const stream = new PassThrough();
  const chunks = bodyChunks(stream);
  const first = chunks.next();
  stream.write('half');
  expect(String((await first).value)).toBe('half');
  stream.destroy(new Error('reset'));
  await expect(chunks.next()).rejects.toThrow('reset');
});

test('a stream that closes without its end is not taken for complete', async () => {
  const stream = new PassThrough();
  const chunks = bodyChunks(stream);
  const next = chunks.next();
  stream.destroy();
  await expect(next).rejects.toThrow('closed before the answer was complete');
});

test.each([
  ['broken', new Error('gone'), 'gone'],
  ['closed', undefined, 'closed before'],
] as const)('a stream that is %s before it is read says so', async (_, error, message) => {
  const stream = new PassThrough();
  stream.on('error', () => undefined);
  stream.destroy(error);
  await new Promise((resolve) => stream.once('close', resolve));
  await expect(bodyChunks(stream).next()).rejects.toThrow(message);
});

test('a reader that does not come holds the stream back', async () => {
  const stream = new PassThrough();
  const chunks = bodyChunks(stream);
  const first = chunks.next();
  const piece = Buffer.alloc(48 * 1024);
  stream.write(piece);
  await first;
  let wrote = 0;
  while (stream.write(piece)) wrote += 1;
  await new Promise(setImmediate);
  expect(stream.isPaused()).toBe(true);
  expect(wrote).toBeLessThan(8);
  expect((await chunks.next()).value?.length).toBeGreaterThanOrEqual(piece.length);
  expect(stream.isPaused()).toBe(false);
});

test('leaving early leaves the stream as it is, for whoever reads on', async () => {
  const stream = new PassThrough();
  const chunks = bodyChunks(stream);
  const first = chunks.next();
  stream.write('enough');
  await first;
  await chunks.return(undefined);
  expect(stream.destroyed).toBe(false);
  stream.destroy(new Error('nobody listens'));
  await new Promise((resolve) => stream.once('close', resolve));
});
