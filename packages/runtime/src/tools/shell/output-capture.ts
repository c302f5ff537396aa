import { closeSync, openSync, readSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Pipe } from './pipes.js';

/** Where a command's output goes, and how it is read from there. */
export interface OutputCapture {
  /** What the command writes to; to be closed as soon as the command has it. */
  readonly descriptor: number;
  /** Learns of output as it comes, where that is possible. */
  listen(listener: (chunk: Buffer) => void): void;
  /** What is there at this moment and was not sent yet. */
  pull(): Iterable<Buffer>;
  /** The command has ended; what it left running may go on writing, but no caller waits for it. */
  settle(): void;
  /** Nothing is read any more. */
  close(): void;
}

/** Output through a pipe: it ends with the runtime. */
export function pipeCapture({ readEnd, writeEnd }: Pipe): OutputCapture {
  const reader = new Socket({ fd: readEnd, readable: true, writable: false });
  // Reading a pipe does not fail; if it ever does, the output ends there.
  reader.on('error', () => reader.destroy());
  return {
    descriptor: writeEnd,
    listen: (listener) => reader.on('data', listener),
    pull: () => (reader.destroyed ? [] : chunksFrom(readEnd, null)),
    settle: () => reader.unref(),
    close: () => reader.destroy(),
  };
}

/** Output into a file, for commands that outlive the runtime. */
export function fileCapture(path: string): OutputCapture {
  const descriptor = openSync(path, 'ax', 0o600);
  const reader = openSync(path, 'r');
  let place = 0;
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    closeSync(reader);
    rmSync(path, { force: true });
  };
  return {
    descriptor,
    listen: () => undefined,
    *pull() {
      if (!isOpen) return;
      for (const chunk of chunksFrom(reader, () => place)) {
        place += chunk.length;
        yield chunk;
      }
    },
    settle: close,
    close,
  };
}

/** A pipe holds so much at most on any system; more can only come from processes that go on writing. */
const largestPull = 1024 * 1024;

function* chunksFrom(descriptor: number, place: (() => number) | null): Iterable<Buffer> {
  for (let total = 0; total < largestPull; ) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const size = readNow(descriptor, chunk, place?.() ?? null);
    if (size === 0) return;
    total += size;
    yield chunk.subarray(0, size);
  }
}

/** Bytes that are there at this moment; none at the end, too. */
function readNow(descriptor: number, chunk: Buffer, position: number | null): number {
  try {
    return readSync(descriptor, chunk, 0, chunk.length, position);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return 0;
    throw error;
  }
}
