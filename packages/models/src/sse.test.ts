import { expect, test } from 'vitest';
import { SseReader } from './sse.js';

/** What each read completes, and the end; reads that complete nothing left out. */
function frames(...reads: readonly (string | Uint8Array)[]): readonly (readonly string[])[] {
  const reader = new SseReader();
  const batches = reads.map((read) => reader.push(typeof read === 'string' ? Buffer.from(read) : read));
  return [...batches, reader.end()].filter((batch) => batch.length > 0);
}

test('each read gives the events it completes, in one batch', () => {
  expect(frames('data: a\n\ndata: b\n', '\ndata:', ' c\n\n', ': ping\n\n')).toEqual([['a'], ['b'], ['c']]);
  expect(frames('data: a\n\ndata: b\n\nda')).toEqual([['a', 'b']]);
});

test('lines may end in any of three ways, an event may have several, and other fields are passed over', () => {
  expect(frames('event: x\r\nid: 4\r\ndata: a\r\ndata: b\r\n\r', '\n', 'retry: soon\ndata:c\r\r')).toEqual([
    ['a\nb'],
    ['c'],
  ]);
});

test('a byte order mark and characters cut in two are put right', () => {
  const bytes = Buffer.from('\uFEFFdata: ü🗼\n\n');
  const single = [...bytes].map((_, at) => bytes.subarray(at, at + 1));
  expect(frames(...single)).toEqual([['ü🗼']]);
});

test('the last event counts without a blank line after it', () => {
  expect(frames('data: a\n\ndata: [DONE]')).toEqual([['a'], ['[DONE]']]);
});

test('an event without end is refused before it fills the memory', () => {
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  const endless = ['data: ', ...Array.from({ length: 33 }, () => megabyte)];
  expect(() => frames(...endless)).toThrow(
    expect.objectContaining({ name: 'ModelError', kind: 'bad_response' }),
  );
});
