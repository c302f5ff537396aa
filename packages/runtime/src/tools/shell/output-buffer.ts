import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/**
 * What a command has written, within bounds. Memory holds the latest part. Once that is not all, a file holds everything, up
 * to a limit.
 */
export class OutputBuffer {
  /** Bytes written so far. */
  size = 0;
  private chunks: Buffer[] = [];
  private memorySize = 0;
  private head = '';
  private file: { readonly path: string; readonly descriptor: number; size: number } | undefined;
  private isFileFull = false;

  constructor(
    /** Makes the name of the file, when there has to be one. */
    private readonly newPath: () => string,
    private readonly limits: OutputLimits,
  ) {}

  /** The file that holds the output, once memory does not. */
  get path(): string | undefined {
    return this.file?.path;
  }

  /** The first bytes in memory have this many before them. */
  private get memoryStart(): number {
    return this.size - this.memorySize;
  }

  append(chunk: Buffer): void {
    const last = this.chunks.at(-1);
    const isSmall = last !== undefined && last.length + chunk.length <= smallChunk;
    if (isSmall) this.chunks[this.chunks.length - 1] = Buffer.concat([last, chunk]);
    else this.chunks.push(chunk);
    this.size += chunk.length;
    this.memorySize += chunk.length;
    if (this.file) this.write(chunk);
    else if (this.memorySize > this.limits.memory) this.openFile();
    while (this.file && this.memorySize > this.limits.memory)
      this.memorySize -= this.chunks.shift()?.length ?? 0;
  }

  /** What was written between two places, as text; undefined when memory no longer has all of it. */
  text(start: number, end = this.size): string | undefined {
    if (start < this.memoryStart) return undefined;
    const all = Buffer.concat(this.chunks);
    return decode(all.subarray(start - this.memoryStart, end - this.memoryStart));
  }

  /** Bytes from a place on, at most so many; undefined when they are no longer kept. */
  bytes(start: number, most: number): Buffer | undefined {
    if (start >= this.memoryStart)
      return Buffer.concat(this.chunks).subarray(start - this.memoryStart, start - this.memoryStart + most);
    const { file } = this;
    if (!file || start >= file.size) return undefined;
    const wanted = Buffer.alloc(Math.min(most, file.size - start));
    const descriptor = openSync(file.path, 'r');
    try {
      return wanted.subarray(0, readSync(descriptor, wanted, 0, wanted.length, start));
    } finally {
      closeSync(descriptor);
    }
  }

  /** The end of the last whole character; the rest of a cut one has not arrived yet. */
  get lastWhole(): number {
    const tail = Buffer.concat(this.chunks.slice(-2)).subarray(-3);
    const lead = tail.findLastIndex((byte) => (byte & 0xc0) === 0xc0);
    if (lead < 0) return this.size;
    const needed = lengthOf(tail[lead] ?? 0);
    const there = tail.length - lead;
    return there < needed ? this.size - there : this.size;
  }

  /** The beginning of all output, enough for a preview. */
  beginning(): string {
    return this.file ? this.head : decode(Buffer.concat(this.chunks).subarray(0, headBytes));
  }

  /** The latest output, at most so many bytes of it, for users who watch. */
  latest(bytes: number): string {
    if (this.size <= bytes) return this.text(0) ?? '';
    const all = Buffer.concat(this.chunks);
    const left = this.size - Math.min(bytes, all.length);
    return `[${left} bytes before this]\n${decode(skipBroken(all.subarray(-bytes)))}`;
  }

  /** Nothing more will come: the file gets the end of what was too much for it. */
  close(): void {
    if (!this.file) return;
    const { descriptor, size } = this.file;
    const missing = Math.max(0, this.memoryStart - size);
    if (this.isFileFull && this.size > size) {
      const note = Buffer.from(`\n[${missing} bytes left out]\n`);
      const rest = Buffer.concat(this.chunks).subarray(Math.max(0, size - this.memoryStart));
      writeAll(descriptor, missing > 0 ? Buffer.concat([note, rest]) : rest);
    }
    closeSync(descriptor);
    this.file = { ...this.file, descriptor: -1 };
  }

  private openFile(): void {
    const path = this.newPath();
    const all = Buffer.concat(this.chunks);
    this.head = decode(all.subarray(0, headBytes));
    this.file = { path, descriptor: openSync(path, 'wx', 0o600), size: 0 };
    this.write(all);
  }

  private write(chunk: Buffer): void {
    const { file } = this;
    if (!file || file.descriptor < 0 || this.isFileFull) return;
    const isFitting = file.size + chunk.length <= this.limits.file;
    if (isFitting) file.size += writeAll(file.descriptor, chunk);
    this.isFileFull = !isFitting || file.size < this.size;
  }
}

/** Bounds on what is kept of one command. */
export interface OutputLimits {
  readonly memory: number;
  readonly file: number;
}

/** Text for the model and for users: bytes that are no UTF-8, and NULs, become U+FFFD. */
function decode(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll('\0', '\ufffd');
}

const smallChunk = 4096;
const headBytes = 4096;

/** Bytes of the character that begins so. */
function lengthOf(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}

/** Without the rest of a character whose beginning was cut off. */
function skipBroken(bytes: Buffer): Buffer {
  let at = 0;
  while (at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return bytes.subarray(at);
}

/** A full disk is no reason to fail the command: less is written then, and the count says so. */
function writeAll(descriptor: number, bytes: Buffer): number {
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
  } catch (error) {
    const isFull =
      error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
    if (!isFull) throw error;
  }
  return written;
}
