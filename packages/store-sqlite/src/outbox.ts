import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type DueMessage,
  type FollowedSession,
  makeDirectory,
  type NoticeOutbox,
  type OutboxMessage,
} from '@groundcrew/store';
import { loadDriver, type SqliteDatabase, type SqliteStatement, type SqliteValue } from './driver.js';
import { whileBusy } from './retry.js';

const tables = `
  CREATE TABLE IF NOT EXISTS followed (
    home TEXT NOT NULL, session TEXT NOT NULL, seq INTEGER NOT NULL, is_open INTEGER NOT NULL,
    PRIMARY KEY (home, session)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS followed_open ON followed (is_open) WHERE is_open = 1;
  CREATE TABLE IF NOT EXISTS message (
    number INTEGER PRIMARY KEY, endpoint TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL,
    UNIQUE (endpoint, id)
  );
  CREATE INDEX IF NOT EXISTS message_due ON message (endpoint, due_at);`;

const patienceMs = 10_000;

/** The outbox of a home, in a file of its own; made when it is missing. */
export function openSqliteOutbox(file: string): NoticeOutbox {
  return new FileOutbox(file);
}

class FileOutbox implements NoticeOutbox {
  readonly #database: SqliteDatabase;
  readonly #statements = new Map<string, SqliteStatement>();

  constructor(file: string) {
    makeDirectory(dirname(file));
    closeSync(openSync(file, 'a', 0o600));
    this.#database = new (loadDriver().DatabaseSync)(file);
    this.#database.exec('PRAGMA busy_timeout = 2000; PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON');
    this.#database.exec(`PRAGMA synchronous = FULL; ${tables} PRAGMA busy_timeout = 0`);
  }

  follow({ home, sessionId, seq }: FollowedSession, { isNew }: { readonly isNew: boolean }): Promise<number> {
    return this.#write(() => {
      this.#run(
        `INSERT INTO followed (home, session, seq, is_open) VALUES (?, ?, ?, 1)
          ON CONFLICT DO UPDATE SET is_open = 1, seq = iif(?, excluded.seq, seq)`,
        ...[home, sessionId, seq, isNew ? 1 : 0],
      );
      const row = this.#get<{ seq: number }>(
        'SELECT seq FROM followed WHERE home = ? AND session = ?',
        home,
        sessionId,
      );
      return row?.seq ?? seq;
    });
  }

  put(session: FollowedSession, messages: readonly OutboxMessage[], most: number): Promise<number> {
    return this.#write(() => {
      this.#moveTo(session);
      for (const { endpoint, id, body } of messages)
        this.#run(
          'INSERT INTO message (endpoint, id, body, due_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
          ...[endpoint, id, body, Date.now()],
        );
      const endpoints = new Set(messages.map(({ endpoint }) => endpoint));
      return [...endpoints].reduce((gone, endpoint) => gone + this.#cut(endpoint, most), 0);
    });
  }

  unfollow(session: FollowedSession): Promise<void> {
    return this.#write(() => {
      this.#moveTo(session);
      const { home, sessionId } = session;
      this.#run('UPDATE followed SET is_open = 0 WHERE home = ? AND session = ?', home, sessionId);
    });
  }

  remove({ home, sessionId }: Omit<FollowedSession, 'seq'>): Promise<void> {
    return this.#write(() => {
      this.#run('DELETE FROM followed WHERE home = ? AND session = ?', home, sessionId);
    });
  }

  async followed(): Promise<readonly FollowedSession[]> {
    return this.#all<FollowedSession>(
      'SELECT home, session AS sessionId, seq FROM followed WHERE is_open = 1 ORDER BY home, session',
    );
  }

  take({
    endpoint,
    limit,
    leaseMs,
  }: {
    readonly endpoint: string;
    readonly limit: number;
    readonly leaseMs: number;
  }): Promise<readonly DueMessage[]> {
    return this.#write(() => {
      const now = Date.now();
      const found = this.#all<DueMessage & { readonly number: number }>(
        `SELECT number, endpoint, id, body, tries FROM message
          WHERE endpoint = ? AND due_at <= ? ORDER BY due_at, number LIMIT ?`,
        ...[endpoint, now, limit],
      );
      for (const { number } of found)
        this.#run('UPDATE message SET due_at = ? WHERE number = ?', now + leaseMs, number);
      return found.map(({ number: _, ...message }) => message);
    });
  }

  async dueIn(endpoint: string): Promise<number | undefined> {
    const row = this.#get<{ due: number | null }>(
      'SELECT min(due_at) AS due FROM message WHERE endpoint = ?',
      endpoint,
    );
    return typeof row?.due === 'number' ? Math.max(0, row.due - Date.now()) : undefined;
  }

  settle({ endpoint, id }: OutboxMessage): Promise<void> {
    return this.#write(() => {
      this.#run('DELETE FROM message WHERE endpoint = ? AND id = ?', endpoint, id);
    });
  }

  postpone({ endpoint, id, tries }: DueMessage, delayMs: number): Promise<void> {
    return this.#write(() => {
      this.#run(
        'UPDATE message SET tries = ?, due_at = ? WHERE endpoint = ? AND id = ?',
        ...[tries, Date.now() + delayMs, endpoint, id],
      );
    });
  }

  keepOnly(endpoints: readonly string[]): Promise<number> {
    const marks = endpoints.map(() => '?').join(', ');
    return this.#write(() => this.#run(`DELETE FROM message WHERE endpoint NOT IN (${marks})`, ...endpoints));
  }

  async close(): Promise<void> {
    this.#statements.clear();
    this.#database.close();
  }

  /** The place never moves back: a process that was suspended must not have a log read again. */
  #moveTo({ home, sessionId, seq }: FollowedSession): void {
    this.#run(
      'UPDATE followed SET seq = max(seq, ?) WHERE home = ? AND session = ?',
      ...[seq, home, sessionId],
    );
  }

  #cut(endpoint: string, most: number): number {
    return this.#run(
      `DELETE FROM message WHERE number IN
        (SELECT number FROM message WHERE endpoint = ? ORDER BY number DESC LIMIT -1 OFFSET ?)`,
      ...[endpoint, most],
    );
  }

  /** One commit; while another process writes, it is tried again, and this one does other things. */
  #write<T>(body: () => T): Promise<T> {
    return whileBusy(() => {
      this.#database.exec('BEGIN IMMEDIATE');
      return this.#committed(body);
    }, patienceMs);
  }

  #committed<T>(body: () => T): T {
    try {
      const value = body();
      this.#database.exec('COMMIT');
      return value;
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #run(sql: string, ...values: SqliteValue[]): number {
    return Number(this.#prepare(sql).run(...values).changes);
  }

  #get<Row>(sql: string, ...values: SqliteValue[]): Row | undefined {
    return this.#prepare(sql).get(...values) as Row | undefined;
  }

  #all<Row>(sql: string, ...values: SqliteValue[]): readonly Row[] {
    return this.#prepare(sql).all(...values) as readonly Row[];
  }

  #prepare(sql: string): SqliteStatement {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}
