import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Exporter } from './exporter.js';
import { metricLine, spanLine } from './file-lines.js';
import type { TelemetrySettings } from './settings.js';

/** Appends a line for each span and each instrument; only its user can read the file. */
export function fileExporter(path: string, settings: TelemetrySettings): Exporter {
  let opening: Promise<FileHandle> | undefined;
  const write = async (lines: readonly string[]) => {
    if (lines.length === 0) return;
    await follow();
    opening ??= openFile(path);
    const file = await opening.catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    // One write of whole lines: several processes may share a file.
    await file.appendFile(lines.map((line) => `${line}\n`).join('')).catch(async (error: unknown) => {
      // A disk that is full may have taken half a line: it is cut off when the file is opened again.
      await leave();
      throw error;
    });
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
    sendSpans: (spans) => write(spans.map((span) => spanLine(span, settings))),
    sendMetrics: (measured, moment) => write(measured.map((each) => metricLine(each, moment))),
    close: leave,
  };
}

async function openFile(path: string): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_RDWR } = constants;
  const file = await open(path, O_RDWR | O_CREAT | O_APPEND, 0o600);
  await cutTornLine(file);
  return file;
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
