import type { Owner, SharedPlace, SharedUse } from '@groundcrew/store';
import type { Connection } from './connection.js';

/** Sessions that take a place without a row in `gc_seat`: stored ones, and those at work at a live node. */
const taking: Record<SharedPlace['kind'], string> = {
  session: 'SELECT s.id FROM gc_session s WHERE s.id <> $2',
  turn: `SELECT s.id FROM gc_session s JOIN gc_node n ON n.id = s.owner AND n.lease_until > clock_timestamp()
    WHERE s.has_work AND s.id <> $2`,
};

/** Under a row lock, one after the other: each call sees the places that calls before it have taken. */
export async function takePlace(
  connection: Connection,
  { kind, sessionId, owner }: SharedPlace,
  most: number,
): Promise<{ readonly isTaken: boolean; readonly others: number }> {
  return connection.transaction(async () => {
    await connection.all({ text: 'SELECT kind FROM gc_gate WHERE kind = $1 FOR UPDATE', values: [kind] });
    const [row] = await connection.all<{ readonly others: number }>({
      text: `WITH taken AS (
          ${taking[kind]} UNION
          SELECT p.id FROM gc_seat p JOIN gc_node n ON n.id = p.node AND n.lease_until > clock_timestamp()
          WHERE p.kind = $1 AND p.id <> $2),
        counted AS (SELECT count(*)::int AS others FROM taken),
        placed AS (INSERT INTO gc_seat (kind, id, node) SELECT $1, $2, $3 FROM counted WHERE others < $4
          ON CONFLICT DO NOTHING),
        cleared AS (DELETE FROM gc_seat p WHERE NOT EXISTS (
          SELECT 1 FROM gc_node n WHERE n.id = p.node AND n.lease_until > clock_timestamp()))
        SELECT others FROM counted`,
      values: [kind, sessionId, owner.runtimeId, most],
    });
    const others = row?.others ?? 0;
    return { isTaken: others < most, others };
  });
}

export async function leavePlace(
  connection: Connection,
  { kind, sessionId, owner }: SharedPlace,
): Promise<void> {
  await connection.all({
    name: 'gc-leave',
    text: 'DELETE FROM gc_seat WHERE kind = $1 AND id = $2 AND node = $3',
    values: [kind, sessionId, owner.runtimeId],
  });
}

const today = `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;

export async function usedToday(connection: Connection): Promise<SharedUse> {
  const [row] = await connection.all<SharedUse>({
    name: 'gc-used',
    text: `SELECT ${today} AS day, coalesce(sum(tokens), 0)::float8 AS tokens, coalesce(sum(cost), 0)::float8 AS cost
      FROM gc_use WHERE day = ${today}`,
  });
  return row ?? { day: '', tokens: 0, cost: 0 };
}

/** Totals only grow: one that is written twice, or late, changes nothing. */
export async function countUse(
  connection: Connection,
  { runtimeId }: Owner,
  { day, tokens, cost }: SharedUse,
): Promise<void> {
  await connection.all({
    name: 'gc-use',
    text: `WITH old AS (DELETE FROM gc_use WHERE day < to_char(clock_timestamp() - interval '40 days', 'YYYY-MM-DD'))
      INSERT INTO gc_use AS u (day, node, tokens, cost) VALUES ($1, $2, $3, $4)
      ON CONFLICT (day, node) DO UPDATE SET tokens = greatest(u.tokens, excluded.tokens),
        cost = greatest(u.cost, excluded.cost)`,
    values: [day, runtimeId, tokens, cost],
  });
}
