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
import type { SqliteValue } from './driver.js';
import { type HeadColumns, headColumns, readHead } from './heads.js';
import { type OwnerColumns, ownerOf, type StoreScope } from './sessions.js';

interface ListRow extends OwnerColumns, HeadColumns {
  readonly id: string;
  readonly seq: number;
}

const columns: Record<keyof SessionContext, string> = {
  cwd: 'cwd',
  gitRoot: 'git_root',
  repository: 'repository',
  branch: 'branch',
};

/** One page of the sessions asked for; an owner is named only while it lives. */
export function listSessions(scope: StoreScope, query: SessionQuery): Page<SessionSummary> {
  const { connection, isAlive } = scope;
  const { where, values } = conditionsOf(query);
  const limit = query.limit === undefined ? -1 : query.limit + 1;
  const rows = connection.all<ListRow>(
    `SELECT id, seq, ${headColumns}, owner_runtime_id, owner_pid, owner_host, owner_since FROM session
     ${where} ORDER BY modified_at DESC, id DESC LIMIT ?`,
    ...values,
    limit,
  );
  const known = { ...scope, isAlive: remember(isAlive) };
  return cutPage(
    rows.map((row) => summarize(row, known)),
    query.limit,
  );
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

function summarize(row: ListRow, { isAlive, onUnreadableHead }: StoreScope): SessionSummary {
  const owner = ownerOf(row);
  const isOwned = owner !== undefined && isAlive(owner.runtimeId);
  const head = readHead(row, () => onUnreadableHead(row.id));
  return { sessionId: row.id, seq: row.seq, head, ...(isOwned && { owner }) };
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
