import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { loadDriver, type SqliteDatabase } from '../store/sqlite/driver.js';
import { syncPath } from '../store/sqlite/replace.js';
import { whileBusy } from '../store/sqlite/retry.js';
import { type BookContents, emptyBook, parseBook, printBook } from './book-contents.js';
import { BookFault } from './book-fault.js';

/** Approvals that outlive sessions: by place, by host, and the folders people trust. One file in the home, read by all processes. */
export class ApprovalBook {
  private readonly file: string;
  private readonly guard: string;
  private known: { readonly stamp: string; readonly contents: BookContents } | undefined;

  /** The directory is a resolved path; every session has a book, so the names are put together by hand. */
  constructor(directory: string) {
    this.file = `${directory}${sep}permissions-config.json`;
    this.guard = `${directory}${sep}run${sep}permissions-config.guard`;
  }

  /** What the book says now; throws BookFault. */
  read(): BookContents {
    const stamp = this.stamp();
    if (this.known?.stamp === stamp) return this.known.contents;
    const contents = stamp === '' ? emptyBook : parseBook(this.source(), this.file);
    this.known = { stamp, contents };
    return contents;
  }

  /** Changes the book while no other process does; it is on the disk when this resolves. Throws BookFault. */
  async change(change: (contents: BookContents) => BookContents): Promise<void> {
    mkdirSync(dirname(this.guard), { recursive: true, mode: 0o700 });
    const write = () => {
      const lock = takeLock(this.guard);
      try {
        const before = this.read();
        const after = change(before);
        if (after !== before) this.replace(printBook(after));
      } finally {
        lock.close();
      }
    };
    try {
      await whileBusy(write, longestWait);
    } catch (error) {
      if (error instanceof BookFault) throw error;
      throw new BookFault(`${this.file} could not be written: ${reasonOf(error)}`);
    }
  }

  private source(): string {
    try {
      return readFileSync(this.file, 'utf8');
    } catch (error) {
      throw new BookFault(`${this.file} cannot be read: ${reasonOf(error)}`);
    }
  }

  private stamp(): string {
    const stats = statSync(this.file, { throwIfNoEntry: false, bigint: true });
    return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs}` : '';
  }

  /** There is always a whole file in its place. */
  private replace(text: string): void {
    const draft = `${this.file}.${randomUUID()}`;
    try {
      writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
      syncPath(draft);
      renameSync(draft, this.file);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
    syncPath(dirname(this.file));
  }
}

const longestWait = 10_000;

/** A lock that the kernel drops however the process ends. */
function takeLock(file: string): SqliteDatabase {
  const database = new (loadDriver().DatabaseSync)(file);
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
