import {
  type NodeEntry,
  type OrphanedSession,
  type Owner,
  parseHead,
  type SessionNeeds,
  type SessionPlace,
} from '@groundcrew/store';
import { type HeadRow, headColumns, readHead } from './columns.js';
import type { Connection } from './connection.js';

interface NodeRow {
  readonly id: string;
  readonly address: string;
  readonly labels: readonly string[];
  readonly providers: readonly string[];
}

/** The owner of a session that a node has handed over: a name that no node has, so that any of them may take it. */
const handedOver = '';

/** The nodes whose leases are valid. */
export async function liveNodes(connection: Connection): Promise<readonly NodeEntry[]> {
  const rows = await connection.all<NodeRow>({
    name: 'gc-nodes',
    text: `SELECT id, address, labels, providers FROM gc_node
      WHERE address IS NOT NULL AND lease_until > clock_timestamp() ORDER BY id`,
  });
  return rows.map(entryOf);
}

interface PlaceRow {
  readonly seq: number;
  readonly head: string;
  readonly id: string | null;
  readonly address: string | null;
  readonly labels: readonly string[] | null;
  readonly providers: readonly string[] | null;
}

/** Where a session is. In `isGraceTime` every node that has a row counts as alive. */
export async function placeOfSession(
  connection: Connection,
  { sessionId, isGraceTime }: { readonly sessionId: string; readonly isGraceTime: boolean },
): Promise<SessionPlace | undefined> {
  const [row] = await connection.all<PlaceRow>({
    name: 'gc-place',
    text: `SELECT s.seq, s.head, n.id, n.address, n.labels, n.providers FROM gc_session s LEFT JOIN gc_node n
        ON n.id = s.owner AND n.address IS NOT NULL AND (n.lease_until > clock_timestamp() OR $2)
      WHERE s.id = $1`,
    values: [sessionId, isGraceTime],
  });
  if (!row) return undefined;
  const { seq, id, address, labels, providers } = row;
  if (id !== null && address !== null)
    return { seq, node: { runtimeId: id, address, labels: labels ?? [], providers: providers ?? [] } };
  const needs = needsOf(row.head);
  return { seq, ...(needs && { needs }) };
}

/** A head that cannot be read needs nothing; opening the session warns of it. */
function needsOf(head: string): SessionNeeds | undefined {
  try {
    return parseHead(head).needs;
  } catch {
    return undefined;
  }
}

/** The time of the server, as `due_at` has it. */
export const nowMs = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

interface OrphanRow extends HeadRow {
  readonly id: string;
  readonly seq: number;
}

/**
 * Work that a node was at whose lease has ended, and work that was handed over. What a client closed is neither, but a
 * scheduled prompt comes to it all the same. Times are those of the server.
 */
export async function orphanedSessions(
  connection: Connection,
  { limit, since }: { readonly limit: number; readonly since: number },
): Promise<readonly OrphanedSession[]> {
  const rows = await connection.all<OrphanRow>({
    name: 'gc-orphans',
    text: `(SELECT s.id, s.seq, ${headColumns} FROM gc_session s
      LEFT JOIN gc_node n ON n.id = s.owner
      WHERE s.has_work AND (s.owner = $1
        OR (n.address IS NOT NULL AND n.lease_until < clock_timestamp() - $2 * interval '1 millisecond'))
      ORDER BY s.modified_at, s.id LIMIT $3)
      UNION ALL
      (SELECT s.id, s.seq, ${headColumns} FROM gc_session s
      LEFT JOIN gc_node n ON n.id = s.owner
      WHERE s.due_at <= ${nowMs} AND NOT s.has_work
        AND coalesce(n.lease_until < clock_timestamp() - $2 * interval '1 millisecond', true)
      ORDER BY s.due_at, s.id LIMIT $3)`,
    values: [handedOver, since, limit],
  });
  return rows.map((row) => ({
    sessionId: row.id,
    seq: row.seq,
    head: readHead(row, () => undefined),
  }));
}

/** Whether there is any such session, a little after the lease of its node has ended. */
export const isOrphaned = `EXISTS (SELECT 1 FROM gc_session s LEFT JOIN gc_node n ON n.id = s.owner
    WHERE s.has_work AND (s.owner = '${handedOver}'
      OR (n.address IS NOT NULL AND n.lease_until < clock_timestamp() - interval '100 milliseconds')))
  OR EXISTS (SELECT 1 FROM gc_session s LEFT JOIN gc_node n ON n.id = s.owner
    WHERE s.due_at <= ${nowMs} AND NOT s.has_work AND coalesce(n.lease_until < clock_timestamp(), true))`;

/** Of these sessions, those that another runtime has. */
export async function takenSessions(
  connection: Connection,
  { owner, sessionIds }: { readonly owner: Owner; readonly sessionIds: readonly string[] },
): Promise<readonly string[]> {
  const rows = await connection.all<{ readonly id: string }>({
    name: 'gc-taken',
    text: `SELECT asked.id FROM unnest($1::text[]) AS asked(id) LEFT JOIN gc_session s ON s.id = asked.id
      WHERE s.id IS NULL OR (s.owner IS NOT NULL AND s.owner <> $2)`,
    values: [[...sessionIds], owner.runtimeId],
  });
  return rows.map(({ id }) => id);
}

/** Leaves a session to the node that is first, if the epoch is still the caller's; may be done again. */
export async function handOverSession(
  connection: Connection,
  { sessionId, epoch }: { readonly sessionId: string; readonly epoch: number },
): Promise<void> {
  await connection.all({
    name: 'gc-hand-over',
    text: 'UPDATE gc_session SET owner = $3 WHERE id = $1 AND epoch = $2',
    values: [sessionId, epoch, handedOver],
  });
}

function entryOf({ id, address, labels, providers }: NodeRow): NodeEntry {
  return { runtimeId: id, address, labels, providers };
}
