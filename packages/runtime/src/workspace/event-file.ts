import { appendFileSync, closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import type { LogRecord } from '@groundcrew/store';

/** How far a file of events goes. */
interface Written {
  readonly seq: number;
  /** How often the log had been cut: a file from before the next cut holds what is no longer there. */
  readonly cuts: number;
  readonly bytes: number;
}

/** Where the lines go. */
export interface EventSink {
  /** Bytes that are there; undefined when there is no such file. */
  size(): Promise<number | undefined>;
  /** Makes the file anew, with this in it. */
  begin(text: string): Promise<void>;
  append(text: string): Promise<void>;
}

/** The log whose events are written. */
export interface EventSource {
  /** How often it was cut. */
  cuts(): number;
  read(after?: number): AsyncIterable<readonly LogRecord[]>;
}

/** A session's events as lines of JSON. The log is the truth: a file that does not fit it is written anew. */
export class EventFile {
  private written: Written | undefined;
  private updating: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly source: EventSource,
    /** The file on this disk that says how far the lines go. */
    private readonly mark: string,
    private readonly sink: EventSink,
  ) {}

  /** Adds what happened since the last time, be it in another process. */
  update(): Promise<void> {
    // Agents that work side by side want it at the same time: one writes after the other.
    const updated = this.updating.then(() => this.write());
    this.updating = updated.catch(() => undefined);
    return updated;
  }

  private async write(): Promise<void> {
    const { source, sink } = this;
    const cuts = source.cuts();
    this.written ??= await this.writtenBefore();
    if (this.written?.cuts !== cuts) this.written = undefined;
    let { seq, bytes } = this.written ?? { seq: 0, bytes: 0 };
    let isNew = this.written === undefined;
    // A failure half-way leaves a file that is not as long as its mark says: it is written anew.
    this.written = undefined;
    for await (const batch of source.read(seq)) {
      const text = linesOf(batch);
      bytes += Buffer.byteLength(text);
      seq = batch.at(-1)?.seq ?? seq;
      await (isNew ? sink.begin(text) : text !== '' && sink.append(text));
      overwrite(this.mark, JSON.stringify({ seq, bytes, cuts }));
      isNew = false;
    }
    if (isNew) await sink.begin('');
    this.written = { seq, bytes, cuts };
  }

  /** How far the file goes that another process has left; undefined when there is none, or none that can be relied on. */
  private async writtenBefore(): Promise<Written | undefined> {
    try {
      const [size, text] = await Promise.all([this.sink.size(), readFile(this.mark, 'utf8')]);
      const { seq, bytes, cuts = 0 }: Partial<Written> = JSON.parse(text);
      return typeof seq === 'number' && bytes !== undefined && bytes === size
        ? { seq, bytes, cuts }
        : undefined;
    } catch {
      return undefined;
    }
  }
}

const privately = { mode: 0o600 };

/** A longer text would hold up the thread that writes it. */
const mostAtOnce = 64 * 1024;

/** Writes a file. Hooks wait for these files, and a short text is written sooner than other threads are asked to. */
export async function writeText(path: string, text: string): Promise<void> {
  if (text.length > mostAtOnce) await writeFile(path, text, privately);
  else writeFileSync(path, text, privately);
}

/**
 * Writes a short text over the one of before. Some file systems sync a file on close that was
 * truncated and written anew, and hooks would wait for that.
 */
function overwrite(path: string, text: string): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT, privately.mode);
  try {
    writeSync(file, text.padEnd(markLength), 0);
  } finally {
    closeSync(file);
  }
}

/** More than any mark has: nothing of a longer one stays behind. */
const markLength = 100;

/** Adds to the end of a file, as quickly. */
export async function appendText(path: string, text: string): Promise<void> {
  if (text.length > mostAtOnce) await appendFile(path, text, privately);
  else appendFileSync(path, text, privately);
}

/** The events of a log as lines of JSON, in stretches. */
export async function* eventLines(records: AsyncIterable<readonly LogRecord[]>): AsyncIterable<string> {
  for await (const batch of records) yield linesOf(batch);
}

function linesOf(batch: readonly LogRecord[]): string {
  return batch
    .filter(({ isPublic }) => isPublic)
    .map(({ json }) => `${json}\n`)
    .join('');
}
