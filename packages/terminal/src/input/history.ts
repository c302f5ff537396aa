import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

const mostKept = 500;
const longestKept = 10_000;

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

function readEntries(file: string): readonly string[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean).slice(-mostKept);
    return lines.flatMap((text) => {
      const entry: unknown = parse(text);
      return typeof entry === 'string' ? [entry] : [];
    });
  } catch {
    return [];
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
