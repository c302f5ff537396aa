import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { type Exporter, TryLater } from './exporter.js';
import { metricLine, spanLine } from './file-lines.js';
import type { TelemetrySettings } from './settings.js';

/** Appends a line for each span and each instrument; only its user can read the file. */
export function fileExporter(path: string, settings: TelemetrySettings): Exporter {
  let opening: Promise<FileHandle> | undefined;
  const write = async (lines: readonly string[], signal: AbortSignal) => {
    if (lines.length === 0) return undefined;
    await follow();
    opening ??= openFile(path);
    const file = await opening.catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    // One write of whole lines: several processes may share a file.
    const text = lines.map((line) => `${line}\n`).join('');
    await append(file, Buffer.from(text), signal).catch(async (error: unknown) => {
      // A disk that is full may have taken half a line: it is cut off when the file is opened again.
      await leave();
      throw error;
    });
    return undefined;
  };
  const leave = async () => {
    const left = await opening?.catch(() => undefined);
    opening = undefined;
    await left?.close();
  };
  /** A file that was moved away, as those who rotate it do, is made anew. */
  const follow = async () => {
    const file = await opening?.catch(() => undefined);
    if (!file) return;
    const [own, there] = await Promise.all([file.stat(), stat(path).catch(() => undefined)]);
    if (there?.ino !== own.ino || there.dev !== own.dev) await leave();
  };
  return {
    name: path,
    sendSpans: (spans, signal) =>
      write(
        spans.map((span) => spanLine(span, settings)),
        signal,
      ),
    sendMetrics: (measured, moment, signal) =>
      write(
        measured.map((each) => metricLine(each, moment)),
        signal,
      ),
    close: leave,
  };
}

async function openFile(path: string): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDWR, O_WRONLY } = constants;
  const there = await stat(path).catch(() => undefined);
  // A pipe is never waited for in a thread: the program could not end while no process reads it.
  const way = there?.isFIFO() ? O_WRONLY : O_RDWR | O_CREAT;
  const file = await open(path, way | O_APPEND | O_NONBLOCK, 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENXIO' ? new TryLater('no process reads this pipe') : error;
  });
  await cutTornLine(file);
  return file;
}

/** Waits, until the signal, for the reader of a pipe that is full. */
async function append(file: FileHandle, bytes: Buffer, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    try {
      const { bytesWritten } = await file.write(bytes, at);
      at += bytesWritten;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** A process that died in the middle of a write left a line without its end: it is taken away. */
async function cutTornLine(file: FileHandle): Promise<void> {
  const stat = await file.stat();
  if (!stat.isFile()) return;
  const last = await readEnd(file, stat.size, 1);
  if (last.length === 0 || last[0] === newline) return;
  let length = 64 * 1024;
  for (; ; length *= 2) {
    const end = await readEnd(file, stat.size, length);
    const at = end.lastIndexOf(newline);
    if (at < 0 && length < stat.size) continue;
    await file.truncate(at < 0 ? 0 : stat.size - end.length + at + 1);
    return;
  }
}

const newline = 10;

async function readEnd(file: FileHandle, size: number, length: number): Promise<Buffer> {
  const wanted = Math.min(size, length);
  const buffer = Buffer.alloc(wanted);
  const { bytesRead } = await file.read(buffer, 0, wanted, size - wanted);
  return buffer.subarray(0, bytesRead);
}
