import {
  appendFileSync,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

const mostKept = 500;
const longestKept = 10_000;
/** Of the file so much is read, from its end; one that is longer is made anew of what was read. */
const mostRead = 8 * 1024 * 1024;

/** What users sent before, the latest last; it stays in a file of the home that only they can read. */
export class History {
  private readonly entries: string[];
  private at: number;
  /** What was being written when one began to look back. */
  private draft = '';

  constructor(private readonly file: string | undefined) {
    this.entries = file === undefined ? [] : [...readEntries(file)];
    this.at = this.entries.length;
  }

  add(text: string): void {
    this.at = this.entries.length;
    if (text.trim() === '' || text.length > longestKept || this.entries.at(-1) === text) return;
    this.entries.push(text);
    this.at = this.entries.length;
    if (this.file === undefined) return;
    try {
      mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
      if (isOther(this.file)) return;
      appendFileSync(this.file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
    } catch {
      // A home that cannot be written to has no history; the session does not depend on it.
      return;
    }
  }

  /** The entry before or after; undefined where there is none. */
  move(by: 1 | -1, current: string): string | undefined {
    const next = this.at + by;
    if (next < 0 || next > this.entries.length) return undefined;
    if (this.at === this.entries.length) this.draft = current;
    this.at = next;
    return next === this.entries.length ? this.draft : this.entries[next];
  }
}

/** Whether something stands in the place of the file: to open a pipe would wait for who reads it. */
function isOther(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === false;
}

function readEntries(file: string): readonly string[] {
  try {
    if (isOther(file)) return [];
    const { text, isWhole } = endOf(file);
    const lines = text.split('\n').slice(isWhole ? 0 : 1);
    const entries = lines.flatMap((each) => entryOf(each)).slice(-mostKept);
    // A line that was broken off would take the next one along.
    if (!isWhole || lines.at(-1) !== '') rewrite(file, entries);
    return entries;
  } catch {
    return [];
  }
}

/** The end of a file: of one that is not whole, the first line may be a part of one. */
function endOf(file: string): { readonly text: string; readonly isWhole: boolean } {
  const opened = openSync(file, 'r');
  try {
    const { size } = fstatSync(opened);
    const bytes = Buffer.alloc(Math.min(size, mostRead));
    const read = readSync(opened, bytes, 0, bytes.length, size - bytes.length);
    return { text: bytes.toString('utf8', 0, read), isWhole: size <= mostRead };
  } finally {
    closeSync(opened);
  }
}

function rewrite(file: string, entries: readonly string[]): void {
  const place = realpathSync(file);
  const fresh = `${place}.${process.pid}`;
  writeFileSync(fresh, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 });
  renameSync(fresh, place);
}

function entryOf(line: string): readonly string[] {
  const entry = parse(line);
  return typeof entry === 'string' ? [entry] : [];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
