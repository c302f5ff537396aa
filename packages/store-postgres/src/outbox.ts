import type { DueMessage, FollowedSession, NoticeOutbox, OutboxMessage } from '@groundcrew/store';
import type { Connection } from './connection.js';

/** How an outbox reaches the database: it retries until it is answered. Every statement here may run twice. */
export type Reach = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>;

/** The outbox of all nodes that share the database. */
export function sharedOutbox(reach: Reach): NoticeOutbox {
  return {
    follow: (session, about) => reach((connection) => follow(connection, session, about)),
    put: (session, messages, most) => reach((connection) => put(connection, { session, messages, most })),
    unfollow: (session) => reach((connection) => unfollow(connection, session)),
    remove: (session) => reach((connection) => remove(connection, session)),
    followed: () => reach(followedByNone),
    take: (query) => reach((connection) => take(connection, query)),
    dueIn: (endpoint) => reach((connection) => dueIn(connection, endpoint)),
    settle: (message) => reach((connection) => settle(connection, message)),
    postpone: (message, delayMs) => reach((connection) => postpone(connection, message, delayMs)),
    keepOnly: (endpoints) => reach((connection) => keepOnly(connection, endpoints)),
    // The store closes its connections itself.
    close: async () => undefined,
  };
}

async function follow(
  connection: Connection,
  { home, sessionId, seq }: FollowedSession,
  { isNew }: { readonly isNew: boolean },
): Promise<number> {
  const [row] = await connection.all<{ readonly seq: number }>({
    name: 'gc-follow',
    text: `INSERT INTO gc_followed AS f (home, session, seq, is_open) VALUES ($1, $2, $3, true)
      ON CONFLICT (home, session) DO UPDATE SET is_open = true, seq = CASE WHEN $4 THEN excluded.seq ELSE f.seq END
      RETURNING seq`,
    values: [home, sessionId, seq, isNew],
  });
  return row?.seq ?? seq;
}

/** The place never moves back: a node that was suspended must not have a log read again. */
const moveText = 'UPDATE gc_followed SET seq = greatest(seq, $3) WHERE home = $1 AND session = $2';

async function put(
  connection: Connection,
  {
    session,
    messages,
    most,
  }: {
    readonly session: FollowedSession;
    readonly messages: readonly OutboxMessage[];
    readonly most: number;
  },
): Promise<number> {
  const { home, sessionId, seq } = session;
  return connection.transaction(async () => {
    await connection.all({ name: 'gc-move', text: moveText, values: [home, sessionId, seq] });
    await connection.all({
      name: 'gc-put',
      text: `INSERT INTO gc_notice (endpoint, id, body, tries, due_at)
        SELECT endpoint, id, body, 0, clock_timestamp() FROM unnest($1::text[], $2::text[], $3::text[])
          AS t(endpoint, id, body) ON CONFLICT (endpoint, id) DO NOTHING`,
      values: [
        messages.map(({ endpoint }) => endpoint),
        messages.map(({ id }) => id),
        messages.map(({ body }) => body),
      ],
    });
    const endpoints = [...new Set(messages.map(({ endpoint }) => endpoint))];
    const gone = await connection.all({
      name: 'gc-cut',
      text: `DELETE FROM gc_notice WHERE number IN (SELECT number FROM (
          SELECT number, row_number() OVER (PARTITION BY endpoint ORDER BY number DESC) AS place
          FROM gc_notice WHERE endpoint = ANY($1)) AS placed WHERE place > $2) RETURNING number`,
      values: [endpoints, most],
    });
    return gone.length;
  });
}

async function unfollow(connection: Connection, { home, sessionId, seq }: FollowedSession): Promise<void> {
  await connection.all({
    name: 'gc-unfollow',
    text: `UPDATE gc_followed SET seq = greatest(seq, $3), is_open = false WHERE home = $1 AND session = $2`,
    values: [home, sessionId, seq],
  });
}

async function remove(
  connection: Connection,
  { home, sessionId }: Omit<FollowedSession, 'seq'>,
): Promise<void> {
  await connection.all({
    name: 'gc-remove-followed',
    text: 'DELETE FROM gc_followed WHERE home = $1 AND session = $2',
    values: [home, sessionId],
  });
}

/** Open sessions that no live node has; a live node follows its own. */
async function followedByNone(connection: Connection): Promise<readonly FollowedSession[]> {
  return connection.all<FollowedSession>({
    name: 'gc-followed-by-none',
    text: `SELECT f.home, f.session AS "sessionId", f.seq FROM gc_followed f WHERE f.is_open AND NOT EXISTS (
        SELECT 1 FROM gc_session s JOIN gc_node n ON n.id = s.owner AND n.lease_until > clock_timestamp()
        WHERE s.id = f.session) ORDER BY f.home, f.session LIMIT 1000`,
  });
}

/** Two nodes never take the same message: a message that another node is taking is skipped. */
async function take(
  connection: Connection,
  { endpoint, limit, leaseMs }: Parameters<NoticeOutbox['take']>[0],
): Promise<readonly DueMessage[]> {
  return connection.all<DueMessage>({
    name: 'gc-take-notice',
    text: `UPDATE gc_notice SET due_at = clock_timestamp() + $3 * interval '1 millisecond' WHERE number IN (
        SELECT number FROM gc_notice WHERE endpoint = $1 AND due_at <= clock_timestamp()
        ORDER BY due_at, number LIMIT $2 FOR UPDATE SKIP LOCKED)
      RETURNING endpoint, id, body, tries`,
    values: [endpoint, limit, leaseMs],
  });
}

async function dueIn(connection: Connection, endpoint: string): Promise<number | undefined> {
  const [row] = await connection.all<{ readonly due: number | null }>({
    name: 'gc-due-in',
    text: `SELECT (extract(epoch FROM min(due_at) - clock_timestamp()) * 1000)::float8 AS due
      FROM gc_notice WHERE endpoint = $1`,
    values: [endpoint],
  });
  return typeof row?.due === 'number' ? Math.max(0, row.due) : undefined;
}

async function settle(connection: Connection, { endpoint, id }: OutboxMessage): Promise<void> {
  await connection.all({
    name: 'gc-settle',
    text: 'DELETE FROM gc_notice WHERE endpoint = $1 AND id = $2',
    values: [endpoint, id],
  });
}

async function postpone(
  connection: Connection,
  { endpoint, id, tries }: DueMessage,
  delayMs: number,
): Promise<void> {
  await connection.all({
    name: 'gc-postpone',
    text: `UPDATE gc_notice SET tries = $3, due_at = clock_timestamp() + $4 * interval '1 millisecond'
      WHERE endpoint = $1 AND id = $2`,
    values: [endpoint, id, tries, delayMs],
  });
}

/** While settings are rolled out, nodes have different addresses: what no node takes for two days is deleted. */
async function keepOnly(connection: Connection, endpoints: readonly string[]): Promise<number> {
  const gone = await connection.all({
    name: 'gc-keep-only',
    text: `DELETE FROM gc_notice WHERE endpoint <> ALL($1) AND due_at < clock_timestamp() - interval '2 days'
      RETURNING number`,
    values: [[...endpoints]],
  });
  return gone.length;
}
