import { fstatSync, fsyncSync, readSync, writeSync } from 'node:fs';
import { type ByteRange, isZero, unusedBytes } from './unused-bytes.js';

/** Which pages of an open database file are looked at, counted from 1. */
export interface PageSlice {
  readonly handle: number;
  readonly from: number;
  readonly count: number;
}

/** How far it went. */
export interface Scrubbed {
  /** Where to go on; undefined at the end of the file. */
  readonly next?: number;
  /** Something was overwritten, and is synced. */
  readonly isChanged: boolean;
}

const magic = 'SQLite format 3\0';
/** Where SQLite keeps its locks; the page there is never used. */
const lockByte = 0x4000_0000;

/**
 * Overwrites with zeros what the pages of a database hold and do not use. All that is in the write-ahead log must have
 * been moved into the file, and the caller holds the write lock: then no other process writes to the file.
 */
export function scrubPages({ handle, from, count }: PageSlice): Scrubbed {
  const header = readAt(handle, 0, 100);
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  if (header.toString('latin1', 0, magic.length) !== magic || pageSize < 512) return { isChanged: false };
  const pages = Math.floor(fstatSync(handle).size / pageSize);
  const last = Math.min(pages, from + count - 1);
  const free = freePages(handle, { pageSize, pages, trunk: header.readUInt32BE(32) });
  const mapped = header.readUInt32BE(52) === 0 ? undefined : Math.floor(pageSize / 5) + 1;
  const slice = readAt(handle, (from - 1) * pageSize, Math.max(0, last - from + 1) * pageSize);
  let isChanged = false;
  for (let number = from; number <= last; number += 1) {
    // Pages that say what is on which page hold numbers only, and look like pages of an index.
    const isMap = mapped !== undefined && number >= 2 && (number - 2) % mapped === 0;
    if (isMap || number === Math.floor(lockByte / pageSize) + 1) continue;
    const start = (number - from) * pageSize;
    const page = slice.subarray(start, start + pageSize);
    for (const range of clearable(page, number, free)) {
      writeSync(
        handle,
        Buffer.alloc(range.end - range.start),
        0,
        undefined,
        (number - 1) * pageSize + range.start,
      );
      isChanged = true;
    }
  }
  if (isChanged) fsyncSync(handle);
  return { isChanged, ...(last < pages && { next: last + 1 }) };
}

function clearable(page: Buffer, number: number, free: FreePages): readonly ByteRange[] {
  const used = free.get(number);
  if (used === undefined) return unusedBytes(page, { header: number === 1 ? 100 : 0 });
  const range = { start: used, end: page.length };
  return isZero(page, range) ? [] : [range];
}

/** Unused pages, and how many bytes at their beginning the list of them needs. */
type FreePages = ReadonlyMap<number, number>;

function freePages(
  handle: number,
  file: { readonly pageSize: number; readonly pages: number; readonly trunk: number },
): FreePages {
  const { pageSize, pages } = file;
  const free = new Map<number, number>();
  for (let trunk = file.trunk; trunk > 0 && trunk <= pages && !free.has(trunk); ) {
    const page = readAt(handle, (trunk - 1) * pageSize, pageSize);
    const leaves = page.readUInt32BE(4);
    if (leaves > pageSize / 4 - 2) break;
    free.set(trunk, 8 + leaves * 4);
    for (let index = 0; index < leaves; index += 1) free.set(page.readUInt32BE(8 + index * 4), 0);
    trunk = page.readUInt32BE(0);
  }
  return free;
}

function readAt(handle: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let read = 0; read < length; ) {
    const more = readSync(handle, bytes, read, length - read, position + read);
    if (more === 0) break;
    read += more;
  }
  return bytes;
}
