import type { SqliteDatabase, SqliteStatement, SqliteValue } from './driver.js';
import { requireVersion } from './migrate.js';

/** One open database with its prepared statements. Everything in it is synchronous; nothing is held between two calls. */
export class Connection {
  readonly file: string;
  readonly #database: SqliteDatabase;
  readonly #statements = new Map<string, SqliteStatement>();

  constructor(database: SqliteDatabase, file: string) {
    this.#database = database;
    this.file = file;
  }

  /** Takes the write lock, or throws SQLite's busy error at once. */
  begin(): void {
    this.#start('BEGIN IMMEDIATE');
  }

  /** Ends the transaction; returns when it is as durable as the store's mode says. */
  commit(): void {
    this.#database.exec('COMMIT');
  }

  /** Ends the transaction without a trace; false when SQLite had already ended it. */
  rollback(): boolean {
    try {
      this.#database.exec('ROLLBACK');
      return true;
    } catch {
      return false;
    }
  }

  /** Runs `body` on one unchanging view of the store. */
  view<T>(body: () => T): T {
    this.#start('BEGIN');
    try {
      return body();
    } finally {
      this.rollback();
    }
  }

  /** Runs a statement for its effect and says how many rows it changed. */
  run(sql: string, ...values: SqliteValue[]): number {
    return Number(this.#prepare(sql).run(...values).changes);
  }

  /** Inserts a row and says its number. */
  insert(sql: string, ...values: SqliteValue[]): number {
    return Number(this.#prepare(sql).run(...values).lastInsertRowid);
  }

  /** The first row; the caller names the type of what its SQL selects. */
  get<Row>(sql: string, ...values: SqliteValue[]): Row | undefined {
    return this.#prepare(sql).get(...values) as Row | undefined;
  }

  /** All rows; the caller names the type of what its SQL selects. */
  all<Row>(sql: string, ...values: SqliteValue[]): readonly Row[] {
    return this.#prepare(sql).all(...values) as readonly Row[];
  }

  /** Moves the log into the database file, and keeps or drops its length; false when another connection was in the way. */
  checkpoint(kind: 'PASSIVE' | 'TRUNCATE'): boolean {
    const row = this.get<Readonly<Record<'busy' | 'log' | 'checkpointed', number>>>(
      `PRAGMA wal_checkpoint(${kind})`,
    );
    return row?.busy === 0 && row.log === row.checkpointed;
  }

  /** Gives some unused pages at the end of the file back to the file system; false when there are no more to give. */
  giveBack(pages: number): boolean {
    const before = this.#pragma('freelist_count');
    if (before === 0 || this.#pragma('auto_vacuum') === 0) return false;
    this.#database.exec(`PRAGMA incremental_vacuum(${pages})`);
    const after = this.#pragma('freelist_count');
    return after > 0 && after < before;
  }

  /** Writes the whole database anew, so that it can give space back from then on; not inside a transaction. */
  rewrite(): void {
    this.#database.exec('PRAGMA auto_vacuum = INCREMENTAL; VACUUM');
  }

  /** Whether unused pages can be given back: a property of the file since it was made or rewritten. */
  get givesBack(): boolean {
    return this.#pragma('auto_vacuum') !== 0;
  }

  /** Bytes that the database takes, unused ones included. */
  get size(): number {
    return this.#pragma('page_count') * this.#pragma('page_size');
  }

  /** Forgets the pages in memory; not inside a transaction. */
  shrink(): void {
    this.#database.exec('PRAGMA shrink_memory');
  }

  /** Frees the file; the last connection of all processes also folds the log into it. */
  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #start(sql: 'BEGIN' | 'BEGIN IMMEDIATE'): void {
    this.#database.exec(sql);
    try {
      const row = this.get<{ readonly user_version: number }>('PRAGMA user_version');
      requireVersion(row?.user_version ?? 0, this.file);
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  #pragma(name: 'freelist_count' | 'auto_vacuum' | 'page_count' | 'page_size'): number {
    return this.get<Readonly<Record<string, number>>>(`PRAGMA ${name}`)?.[name] ?? 0;
  }

  #prepare(sql: string): SqliteStatement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
