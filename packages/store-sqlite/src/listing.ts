import {
  cutPage,
  type OwnerSince,
  type Page,
  readCursor,
  type SessionContext,
  type SessionQuery,
  type SessionSummary,
  wantedContext,
} from '@groundcrew/store';
import type { Connection } from './connection.js';
import type { SqliteValue } from './driver.js';
import { type HeadColumns, headColumns, readHead } from './heads.js';
import { type OwnerColumns, ownerOf, type StoreScope } from './sessions.js';

interface ListRow {
  readonly number: number;
  readonly id: string;
  readonly seq: number;
  readonly head: string;
  readonly owner: string | null;
}

const columns: Record<keyof SessionContext, string> = {
  cwd: 'cwd',
  gitRoot: 'git_root',
  repository: 'repository',
  branch: 'branch',
};

/** One page of the sessions asked for. */
export function listedPage(scope: StoreScope, query: SessionQuery): Page<SessionSummary> {
  return cutPage(summariesOf(scope, listedNumbers(scope, query)), query.limit);
}

/** The numbers of the sessions asked for, in order: one more than wanted where there are more. */
export function listedNumbers({ connection }: StoreScope, query: SessionQuery): readonly number[] {
  const { where, values } = conditionsOf(query);
  const limit = query.limit === undefined ? -1 : query.limit + 1;
  const rows = connection.all<{ readonly number: number }>(
    `SELECT number FROM session ${where} ORDER BY modified_at DESC, id DESC LIMIT ?`,
    ...values,
    limit,
  );
  return rows.map(({ number }) => number);
}

/**
 * What is known of these sessions, less those that are gone; an owner is named only while it lives. Few columns are
 * read: of ten thousand sessions, each takes ten milliseconds.
 */
export function summariesOf(scope: StoreScope, numbers: readonly number[]): readonly SessionSummary[] {
  const rows = scope.connection.all<ListRow>(
    `SELECT s.number, s.id, s.seq, s.head, s.owner_runtime_id AS owner FROM json_each(?) AS asked
     JOIN session s ON s.number = asked.value ORDER BY asked.key`,
    JSON.stringify(numbers),
  );
  const known = { ...scope, isAlive: remember(scope.isAlive) };
  return rows.map((row) => summarize(row, known));
}

/** The live runtimes that write sessions of this store. */
export function liveOwners({ connection, isAlive }: StoreScope): readonly OwnerSince[] {
  const rows = connection.all<OwnerColumns>(
    `SELECT owner_runtime_id, owner_pid, owner_host, min(owner_since) AS owner_since FROM session
     WHERE owner_runtime_id IS NOT NULL GROUP BY owner_runtime_id`,
  );
  return rows.flatMap((row) => {
    const owner = ownerOf(row);
    return owner && isAlive(owner.runtimeId) ? [owner] : [];
  });
}

function conditionsOf(query: SessionQuery): {
  readonly where: string;
  readonly values: readonly SqliteValue[];
} {
  const context = wantedContext(query);
  const conditions = context.map(([field]) => `${columns[field]} = ?`);
  const values: SqliteValue[] = context.map(([, value]) => value);
  if (!query.includeEmpty) conditions.push('user_turns > 0');
  if (query.sessionId !== undefined) {
    conditions.push('id = ?');
    values.push(query.sessionId);
  }
  const position = query.cursor === undefined ? undefined : readCursor(query.cursor);
  if (position) {
    conditions.push('(modified_at, id) < (?, ?)');
    values.push(position.modifiedAt, position.sessionId);
  }
  return { where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values };
}

function summarize(row: ListRow, scope: StoreScope): SessionSummary {
  const { connection, isAlive, onUnreadableHead } = scope;
  const isOwned = row.owner !== null && isAlive(row.owner);
  const owner = isOwned ? ownerOf(columnsOf(connection, row)) : undefined;
  const head = readHead(row.head, () => {
    onUnreadableHead(row.id);
    return columnsOf(connection, row);
  });
  return { sessionId: row.id, seq: row.seq, head, ...(owner && { owner }) };
}

function columnsOf(connection: Connection, { number }: ListRow): OwnerColumns & HeadColumns {
  const row = connection.get<OwnerColumns & HeadColumns>(
    `SELECT ${headColumns}, owner_runtime_id, owner_pid, owner_host, owner_since FROM session WHERE number = ?`,
    number,
  );
  if (!row) throw new Error(`Session ${number} is gone from an unchanging view`);
  return row;
}

/** A probe costs a file; the sessions of one list are few owners'. */
function remember(isAlive: (runtimeId: string) => boolean): (runtimeId: string) => boolean {
  const answers = new Map<string, boolean>();
  return (runtimeId) => {
    const answer = answers.get(runtimeId) ?? isAlive(runtimeId);
    answers.set(runtimeId, answer);
    return answer;
  };
}
