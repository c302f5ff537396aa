import {
  cutPage,
  type Page,
  readCursor,
  type SessionContext,
  type SessionQuery,
  type SessionSummary,
  wantedContext,
} from '@groundcrew/store';
import { type Living, type OwnerRow, ownerOf } from './claims.js';
import { columnText, type HeadRow, headColumns, readHead } from './columns.js';
import type { Connection } from './connection.js';
import { waitsOf } from './lacks.js';
import type { ProcessMark } from './process-mark.js';

interface ListRow extends OwnerRow, HeadRow {
  readonly id: string;
  readonly seq: number;
  readonly has_lease: boolean;
  readonly process: ProcessMark | null;
}

const columns: Record<keyof SessionContext, string> = {
  cwd: 'cwd',
  gitRoot: 'git_root',
  repository: 'repository',
  branch: 'branch',
};

/** How a list reads what it finds. */
export interface ListScope {
  readonly living: Living;
  onUnreadableHead(sessionId: string): void;
}

/** One page of the sessions asked for; an owner is named only while it lives. */
export async function listSessions(
  connection: Connection,
  query: SessionQuery,
  scope: ListScope,
): Promise<Page<SessionSummary>> {
  const { where, values } = conditionsOf(query);
  const limit = query.limit === undefined ? null : query.limit + 1;
  const rows = await connection.all<ListRow>({
    text: `SELECT s.id, s.seq, ${headColumns}, s.owner, s.owner_pid, s.owner_host, s.owner_since, n.process,
        coalesce(n.lease_until > clock_timestamp(), false) AS has_lease
      FROM gc_session s LEFT JOIN gc_node n ON n.id = s.owner ${where}
      ORDER BY s.modified_at DESC, s.id DESC LIMIT $${values.length + 1}`,
    values: [...values, limit],
  });
  const sessions = rows.map((row) => summarize(row, scope));
  return cutPage(await withWaits(connection, sessions), query.limit);
}

/** Adds what each node lacks to sessions whose work no live node can continue. */
async function withWaits(
  connection: Connection,
  sessions: readonly SessionSummary[],
): Promise<readonly SessionSummary[]> {
  const left = sessions.filter(({ head, owner }) => !owner && (head.hasWork || head.dueAt !== undefined));
  const waits = await waitsOf(
    connection,
    left.map(({ sessionId }) => sessionId),
  );
  if (waits.size === 0) return sessions;
  return sessions.map((each) => {
    const waitsForNode = waits.get(each.sessionId);
    return waitsForNode ? { ...each, waitsForNode } : each;
  });
}

function conditionsOf(query: SessionQuery): {
  readonly where: string;
  readonly values: readonly string[];
} {
  const values: string[] = [];
  const parameter = (value: string) => `$${values.push(columnText(value))}`;
  const conditions = wantedContext(query).map(
    ([field, value]) => `s.${columns[field]} = ${parameter(value)}`,
  );
  if (!query.includeEmpty) conditions.push('s.user_turns > 0');
  if (query.sessionId !== undefined) conditions.push(`s.id = ${parameter(query.sessionId)}`);
  const position = query.cursor === undefined ? undefined : readCursor(query.cursor);
  if (position)
    conditions.push(
      `(s.modified_at, s.id) < (${parameter(position.modifiedAt)}, ${parameter(position.sessionId)})`,
    );
  return { where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values };
}

function summarize(row: ListRow, { living, onUnreadableHead }: ListScope): SessionSummary {
  const owner = ownerOf(row);
  const isOwned = owner !== undefined && row.has_lease && !living.isGone(row.process);
  const head = readHead(row, () => onUnreadableHead(row.id));
  return { sessionId: row.id, seq: row.seq, head, ...(isOwned && { owner }) };
}
