import type { FileHandle } from 'node:fs/promises';

/** What was read of a text file. */
export interface LinesRead {
  readonly lines: readonly string[];
  /** Lines the file has, as far as it was read: all of them when nothing was found in the range. */
  readonly count: number;
  /** The lines asked for are longer than allowed. */
  readonly isTooLong: boolean;
}

/** How much is looked at to distinguish text from other bytes. */
const probeBytes = 8000;
const chunkBytes = 64 * 1024;

/** A NUL among its first bytes: no text. */
export async function isBinary(handle: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(probeBytes), 0, probeBytes, 0);
  return buffer.subarray(0, bytesRead).includes(0);
}

/** Reads some lines, however long the file is, keeping no more than `maxBytes` of it. The last line may be empty. */
export async function readLines(
  handle: FileHandle,
  range: { readonly first: number; readonly last: number; readonly maxBytes: number },
  signal: AbortSignal,
): Promise<LinesRead> {
  const { first, last, maxBytes } = range;
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let line = 1;
  for (let position = 0; line <= last && keptBytes <= maxBytes; ) {
    signal.throwIfAborted();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(chunkBytes), 0, chunkBytes, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    const chunk = buffer.subarray(0, bytesRead);
    const part = partInRange(chunk, line, { first, last });
    line = part.line;
    kept.push(part.bytes);
    keptBytes += part.bytes.length;
  }
  const isTooLong = keptBytes > maxBytes;
  const wasReached = first <= line;
  const lines = wasReached && !isTooLong ? linesOf(Buffer.concat(kept), line > last) : [];
  return { lines, count: line, isTooLong };
}

/** The bytes of a chunk that lie in the lines asked for, and the line in which the chunk ends. */
function partInRange(
  chunk: Buffer,
  startLine: number,
  { first, last }: { readonly first: number; readonly last: number },
): { readonly bytes: Buffer; readonly line: number } {
  let line = startLine;
  let from = line >= first ? 0 : chunk.length;
  let newline = chunk.indexOf(lineFeed);
  while (newline !== -1) {
    line += 1;
    if (line === first) from = newline + 1;
    if (line > last) return { bytes: chunk.subarray(from, newline + 1), line };
    newline = chunk.indexOf(lineFeed, newline + 1);
  }
  return { bytes: chunk.subarray(from), line };
}

const lineFeed = 0x0a;

/** Without the marks that end lines or stand before the first. */
function linesOf(bytes: Buffer, wasCut: boolean): readonly string[] {
  const text = new TextDecoder().decode(bytes);
  const lines = (wasCut ? text.replace(/\n$/, '') : text).split('\n');
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}
