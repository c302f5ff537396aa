import { readFileSync } from 'node:fs';

/** What a write-ahead log holds, read without SQLite, which sees nothing behind the first frame that is damaged. */
export interface LogImage {
  /** Where in the log the newest committed copy of a page is. */
  readonly pages: ReadonlyMap<number, number>;
  readonly pageSize: number;
  /** Pages that the database has after the last commit; 0 when there is no commit. */
  readonly pageCount: number;
  /** Damage before the last commit: a torn tail is none. */
  readonly damage?: { readonly offset: number; readonly commitsBehind: number };
}

const headerBytes = 32;
const frameHeaderBytes = 24;
const littleEndianMagic = 0x377f0682;
const bigEndianMagic = 0x377f0683;

interface Frame {
  readonly offset: number;
  readonly page: number;
  /** Set in the last frame of a transaction: pages of the database after it. */
  readonly pageCount: number;
  readonly isWhole: boolean;
}

/**
 * Reads every frame, also those behind damage: each is checked against the sum that the frame before it carries. A
 * transaction that is not whole and has no whole one behind it is a torn tail; no caller was answered for it.
 */
export function readLog(log: Buffer, fallbackPageSize: number): LogImage {
  const header = readHeader(log, fallbackPageSize);
  const transactions = header ? groupByCommit(readFrames(log, header)) : [];
  const last = transactions.findLastIndex((frames) => frames.every(({ isWhole }) => isWhole));
  const committed = transactions.slice(0, last + 1);
  const first = committed.findIndex((frames) => frames.some(({ isWhole }) => !isWhole));
  const frames = committed.flat();
  const damaged = frames.find(({ isWhole }) => !isWhole);
  const isHeaderDamaged = header?.isWhole === false && committed.length > 0;
  const damage = isHeaderDamaged
    ? { offset: 0, commitsBehind: committed.length }
    : damaged && { offset: damaged.offset, commitsBehind: committed.length - first };
  return {
    pages: new Map(
      frames.filter(({ isWhole }) => isWhole).map(({ page, offset }) => [page, offset + frameHeaderBytes]),
    ),
    pageSize: header?.pageSize ?? fallbackPageSize,
    pageCount: committed.at(-1)?.at(-1)?.pageCount ?? 0,
    ...(damage && { damage }),
  };
}

/** The log carries no locks; its handle may be closed at any time. */
export function readLogFile(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

interface Header {
  readonly pageSize: number;
  readonly isLittleEndian: boolean;
  readonly salts: readonly [number, number];
  readonly sums: Sums;
  readonly isWhole: boolean;
}

type Sums = readonly [number, number];

function readHeader(log: Buffer, fallbackPageSize: number): Header | undefined {
  if (log.length < headerBytes + frameHeaderBytes) return undefined;
  const magic = log.readUInt32BE(0);
  const isLittleEndian = magic !== bigEndianMagic;
  const sums = sumsAt(log, 24);
  const isWhole =
    (magic === littleEndianMagic || magic === bigEndianMagic) &&
    areEqual(sums, addUp(log.subarray(0, 24), [0, 0], isLittleEndian));
  // The first frame repeats the salts of a header that cannot be trusted.
  return {
    pageSize: isWhole ? log.readUInt32BE(8) : fallbackPageSize,
    isLittleEndian,
    salts: sumsAt(log, isWhole ? 16 : headerBytes + 8),
    sums,
    isWhole,
  };
}

function readFrames(log: Buffer, { pageSize, isLittleEndian, salts, sums }: Header): readonly Frame[] {
  const frames: Frame[] = [];
  const frameBytes = frameHeaderBytes + pageSize;
  let before = sums;
  const sumsOfFrame = (offset: number) =>
    addUp(
      log.subarray(offset + frameHeaderBytes, offset + frameBytes),
      addUp(log.subarray(offset, offset + 8), before, isLittleEndian),
      isLittleEndian,
    );
  for (let offset = headerBytes; offset + frameBytes <= log.length; offset += frameBytes) {
    const own = sumsAt(log, offset + 16);
    const page = log.readUInt32BE(offset);
    const isOfThisRound = page > 0 && areEqual(sumsAt(log, offset + 8), salts);
    const isWhole = isOfThisRound && areEqual(own, sumsOfFrame(offset));
    frames.push({ offset, page, pageCount: isOfThisRound ? log.readUInt32BE(offset + 4) : 0, isWhole });
    before = own;
  }
  return frames;
}

/** Frames up to each commit; those behind the last one belong to nothing. */
function groupByCommit(frames: readonly Frame[]): readonly (readonly Frame[])[] {
  const transactions: Frame[][] = [];
  let open: Frame[] = [];
  for (const frame of frames) {
    open.push(frame);
    if (frame.pageCount === 0) continue;
    transactions.push(open);
    open = [];
  }
  return transactions;
}

function sumsAt(log: Buffer, offset: number): Sums {
  return [log.readUInt32BE(offset), log.readUInt32BE(offset + 4)];
}

function areEqual(a: Sums, b: Sums): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

/** The running checksum of SQLite's log format. */
function addUp(bytes: Buffer, [first, second]: Sums, isLittleEndian: boolean): Sums {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let a = first;
  let b = second;
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + view.getUint32(at, isLittleEndian) + b) >>> 0;
    b = (b + view.getUint32(at + 4, isLittleEndian) + a) >>> 0;
  }
  return [a, b];
}
