import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputBuffer } from './output-buffer.js';

/** Feeds the chunks to a buffer with these limits and gives both what it says and what its file holds. */
function feed(chunks: readonly Uint8Array[], limits: { readonly memory: number; readonly file: number }) {
  const directory = mkdtempSync(join(tmpdir(), 'output-buffer-'));
  try {
    const buffer = new OutputBuffer(() => join(directory, 'all'), limits);
    for (const chunk of chunks) buffer.append(Buffer.from(chunk));
    buffer.close();
    return { buffer, file: buffer.path === undefined ? undefined : readFileSync(buffer.path, 'latin1') };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const chunksOf = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 });

test('what memory holds or the file holds is all that was written', () => {
  fc.assert(
    fc.property(chunksOf, fc.integer({ min: 1, max: 300 }), (chunks, memory) => {
      const all = Buffer.concat(chunks);
      const { buffer, file } = feed(chunks, { memory, file: 1_000_000 });
      expect(buffer.size).toBe(all.length);
      if (file === undefined) expect(buffer.text(0)).toBe(all.toString('utf8').replaceAll('\0', '\ufffd'));
      else expect(file).toBe(all.toString('latin1'));
    }),
    { numRuns: 100 },
  );
});

test('a file that is full has the beginning, the end, and how much is missing between them', () => {
  const { file } = feed([Buffer.alloc(30, 'a'), Buffer.alloc(30, 'b'), Buffer.alloc(30, 'c')], {
    memory: 20,
    file: 40,
  });
  expect(file).toBe(`${'a'.repeat(30)}\n[60 bytes left out]\n`);
});

test('clients that watch see the latest, without torn characters', () => {
  const buffer = new OutputBuffer(() => '', { memory: 1000, file: 0 });
  buffer.append(Buffer.from('üüüü'));
  expect(buffer.latest(100)).toBe('üüüü');
  expect(buffer.latest(3)).toBe('[5 bytes before this]\nü');
});
