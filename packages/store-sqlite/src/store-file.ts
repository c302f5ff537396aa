import { type BigIntStats, closeSync, fstatSync, openSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectory } from '@groundcrew/store';
import { Connection } from './connection.js';
import type { SqliteDatabase, SqliteDriver } from './driver.js';
import { damaged } from './faults.js';
import { logDamage } from './log-damage.js';
import { migrate, versionOf } from './migrate.js';

/** `strict`: a sync per operation; `group`: one for all of a loop tick; `os`: none, a power cut may lose the last seconds. */
export type SqliteMode = 'strict' | 'group' | 'os';

/** What a store's file needs to be opened. */
export interface StoreFileOptions {
  readonly file: string;
  readonly mode: SqliteMode;
  readonly driver: () => SqliteDriver;
  readonly onWarning: (message: string) => void;
}

interface OpenFile {
  readonly connection: Connection;
  readonly stats: BigIntStats;
}

/**
 * The store's file, opened when it is first needed and opened anew when it was removed or replaced. Only SQLite
 * may open it: closing any other handle of this process would drop SQLite's locks.
 */
export class StoreFile {
  readonly path: string;
  readonly #options: StoreFileOptions;
  #open: OpenFile | undefined;

  constructor(options: StoreFileOptions) {
    this.path = options.file;
    this.#options = options;
  }

  /** A connection to the file as it is now; undefined when there is none, for reading makes nothing. */
  forReading(): Connection | undefined {
    // In whole numbers, for which no dates are made: this is asked before every commit.
    const stats = statSync(this.path, { throwIfNoEntry: false, bigint: true });
    if (this.#open && stats && isSameFile(this.#open.stats, stats)) return this.#open.connection;
    this.drop();
    if (!stats) return undefined;
    const connection = this.#connect();
    this.#open = { connection, stats };
    return connection;
  }

  /** A connection to the file, which is made when there is none. */
  forWriting(): Connection {
    const connection = this.forReading();
    if (connection) return connection;
    makeDirectory(dirname(this.path));
    createPrivately(this.path);
    return this.forWriting();
  }

  /** Bytes in the write-ahead log, those already folded in included. */
  logBytes(): number {
    return Number(statSync(`${this.path}-wal`, { throwIfNoEntry: false, bigint: true })?.size ?? 0);
  }

  /**
   * Gives the log its length in advance: a sync that need not record a new file size takes half the time. Under the
   * write lock no other process writes there, and a tail of zeros is to SQLite what the end of the file is. The log itself
   * carries no lock that closing this handle could drop.
   */
  lengthenLog(bytes: number): void {
    const connection = this.#open?.connection;
    if (!connection || this.logBytes() >= bytes) return;
    connection.begin();
    const handle = openSync(`${this.path}-wal`, 'r+');
    try {
      const { size } = fstatSync(handle);
      if (size < bytes) writeSync(handle, Buffer.alloc(bytes - size), 0, undefined, size);
    } finally {
      closeSync(handle);
      connection.rollback();
    }
  }

  /** Lets go of the file; the next use opens it again. */
  drop(): void {
    const open = this.#open;
    this.#open = undefined;
    open?.connection.close();
  }

  #connect(): Connection {
    const { driver, mode, onWarning } = this.#options;
    const damage = logDamage(this.path);
    if (damage !== undefined) throw damaged(this.path, damage);
    const database = new (driver().DatabaseSync)(this.path);
    try {
      database.exec(`PRAGMA busy_timeout = 0; PRAGMA cache_size = -1024; ${syncSettings[mode]}`);
      const version = versionOf(database, { file: this.path });
      keepNothingDeleted(database, version === 0);
      if (!startLog(database))
        onWarning(`${this.path}: no write-ahead log on this file system; commits are slower.`);
      migrate(database, { file: this.path });
      return new Connection(database, this.path);
    } catch (error) {
      database.close();
      throw error;
    }
  }
}

/** `fullfsync` matters on macOS, where a plain sync stops at the drive's cache. */
// mutation: drop the sync
const synced = 'PRAGMA synchronous = FULL; PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1';

const syncSettings: Record<SqliteMode, string> = {
  strict: synced,
  group: synced,
  os: 'PRAGMA synchronous = NORMAL',
};

/** What is deleted is overwritten; a new file can also give its space back, which an old one learns by being rewritten. */
export function keepNothingDeleted(database: SqliteDatabase, isNew: boolean): void {
  database.exec('PRAGMA secure_delete = ON');
  if (isNew) database.exec('PRAGMA auto_vacuum = INCREMENTAL');
}

/** Comes after the look at the version: a store that is refused must not even change its journal mode. */
function startLog(database: SqliteDatabase): boolean {
  const row = database.prepare('PRAGMA journal_mode = WAL').get() as { readonly journal_mode: string };
  database.exec('PRAGMA wal_autocheckpoint = 0');
  return row.journal_mode === 'wal';
}

function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!isThere) throw error;
  }
}

function isSameFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}
