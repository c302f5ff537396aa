import { closeSync, fchmodSync, fstatSync, openSync, writeSync } from 'node:fs';
import { type LogLevel, logLevels } from './log-levels.js';
import type { Redactor } from './redact.js';

/** What an entry may be; `all` is for what is too much even for debugging. */
export type EntryLevel = Exclude<LogLevel, 'none'>;

/** What goes with an entry; secrets in it are covered. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Diagnostics of the program, for users who look for a fault. */
export interface Log {
  /** Whether an entry of this level is kept anywhere; saves making entries that are not read. */
  keeps(level: EntryLevel): boolean;
  write(level: EntryLevel, message: string, fields?: LogFields): void;
  /** Values that no later entry shows. */
  cover(values: readonly string[]): void;
  close(): void;
}

/** Where diagnostics go: lines for users on stderr, JSON lines in a file, each up to its own level. */
export interface LogOptions {
  readonly redactor: Redactor;
  readonly stderr?: { readonly level: LogLevel; write(line: string): void };
  readonly file?: { readonly path: string; readonly level: LogLevel };
  /** Called when the file cannot be written; the program goes on without it. */
  complain(message: string): void;
}

/** Opens the log. No failure of it ever fails the program. */
export function openLog(options: LogOptions): Log {
  const { redactor, stderr } = options;
  const file = openFile(options);
  const keeps = (level: EntryLevel) => covers(stderr?.level, level) || covers(file?.level, level);
  return {
    keeps,
    write: (level, message, fields = {}) => {
      if (!keeps(level)) return;
      const text = redactor.text(message);
      const values = redactor.value(fields) as LogFields; // a copy of the same shape
      if (covers(stderr?.level, level)) stderr?.write(`${level}: ${text}${inWords(values)}\n`);
      if (covers(file?.level, level)) file?.write({ level, message: text, ...values });
    },
    cover: (values) => redactor.register(...values),
    close: () => file?.close(),
  };
}

function covers(kept: LogLevel | undefined, level: EntryLevel): boolean {
  return kept !== undefined && logLevels.indexOf(level) <= logLevels.indexOf(kept);
}

function inWords(fields: LogFields): string {
  return Object.entries(fields)
    .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('');
}

interface LogFile {
  readonly level: LogLevel;
  write(entry: LogFields): void;
  close(): void;
}

/** Whole lines, appended at once: several processes may share a file, and a crash loses nothing. */
function openFile({ file, complain }: LogOptions): LogFile | undefined {
  if (!file) return undefined;
  const fail = (error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    complain(`Cannot write the log ${file.path}: ${reason}`);
  };
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file.path, 'a', 0o600);
    if (fstatSync(descriptor).isFile()) fchmodSync(descriptor, 0o600);
  } catch (error) {
    fail(error);
  }
  const close = () => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  const write = (entry: LogFields) => {
    if (descriptor === undefined) return;
    try {
      const line = { time: new Date().toISOString(), pid: process.pid, ...entry };
      writeSync(descriptor, `${JSON.stringify(line)}\n`);
    } catch (error) {
      fail(error);
      close();
    }
  };
  return { level: file.level, write, close };
}
