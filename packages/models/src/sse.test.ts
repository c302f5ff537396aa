import { expect, test } from 'vitest';
import { all } from '../test/local-server.js';
import { sseFrames } from './sse.js';

async function frames(...reads: readonly (string | Uint8Array)[]): Promise<readonly (readonly string[])[]> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (const read of reads) yield typeof read === 'string' ? Buffer.from(read) : read;
  }
  return all(sseFrames(bytes()));
}

test('each read gives the events it completes, in one batch', async () => {
  expect(await frames('data: a\n\ndata: b\n', '\ndata:', ' c\n\n', ': ping\n\n')).toEqual([
    ['a'],
    ['b'],
    ['c'],
  ]);
  expect(await frames('data: a\n\ndata: b\n\nda')).toEqual([['a', 'b']]);
});

test('lines may end in any of three ways, an event may have several, and other fields are passed over', async () => {
  expect(
    await frames('event: x\r\nid: 4\r\ndata: a\r\ndata: b\r\n\r', '\n', 'retry: soon\ndata:c\r\r'),
  ).toEqual([['a\nb'], ['c']]);
});

test('a byte order mark and characters cut in two are put right', async () => {
  const bytes = Buffer.from('\uFEFFdata: ü🗼\n\n');
  const single = [...bytes].map((_, at) => bytes.subarray(at, at + 1));
  expect(await frames(...single)).toEqual([['ü🗼']]);
});

test('the last event counts without a blank line after it', async () => {
  expect(await frames('data: a\n\ndata: [DONE]')).toEqual([['a'], ['[DONE]']]);
});

test('an event without end is refused before it fills the memory', async () => {
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  const endless = ['data: ', ...Array.from({ length: 33 }, () => megabyte)];
  await expect(frames(...endless)).rejects.toMatchObject({ name: 'ModelError', kind: 'bad_response' });
});
