import type { Lack, NodeWait, Owner } from '@groundcrew/store';
import type { Connection } from './connection.js';

/** Notes what a node lacks; it counts until some runtime claims the session. */
export async function noteLack(
  connection: Connection,
  {
    owner,
    sessionId,
    missing,
  }: { readonly owner: Owner; readonly sessionId: string; readonly missing: readonly Lack[] },
): Promise<void> {
  await connection.all({
    name: 'gc-lack',
    text: `INSERT INTO gc_lack (session, node, epoch, missing, noted_at)
      SELECT s.number, $2, s.epoch, $3, clock_timestamp() FROM gc_session s WHERE s.id = $1
      ON CONFLICT (session, node) DO UPDATE SET epoch = excluded.epoch, missing = excluded.missing,
        noted_at = CASE WHEN gc_lack.epoch = excluded.epoch AND gc_lack.missing = excluded.missing
          THEN gc_lack.noted_at ELSE excluded.noted_at END`,
    values: [sessionId, owner.runtimeId, JSON.stringify(missing)],
  });
}

const isLive = 'n.address IS NOT NULL AND n.lease_until > clock_timestamp()';

/** Of a session `s`: it has something to do, no live runtime has it, and every live node has said what it lacks. */
export const waitCondition = `(s.has_work OR s.due_at IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM gc_node n WHERE n.id = s.owner AND n.lease_until > clock_timestamp())
  AND EXISTS (SELECT 1 FROM gc_lack l JOIN gc_node n ON n.id = l.node
    WHERE l.session = s.number AND l.epoch = s.epoch AND ${isLive})
  AND NOT EXISTS (SELECT 1 FROM gc_node n WHERE ${isLive}
    AND NOT EXISTS (SELECT 1 FROM gc_lack l WHERE l.session = s.number AND l.epoch = s.epoch AND l.node = n.id))`;

interface WaitRow {
  readonly id: string;
  readonly node: string;
  readonly missing: string;
  readonly noted_at: Date;
}

/** Of these sessions, those that no live node can go on with, and what each node lacks. */
export async function waitsOf(
  connection: Connection,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, NodeWait>> {
  if (sessionIds.length === 0) return new Map();
  const rows = await connection.all<WaitRow>({
    name: 'gc-waits',
    text: `SELECT s.id, n.host || ':' || n.pid AS node, l.missing, l.noted_at FROM gc_session s
      JOIN gc_lack l ON l.session = s.number AND l.epoch = s.epoch JOIN gc_node n ON n.id = l.node AND ${isLive}
      WHERE s.id = ANY($1) AND ${waitCondition} ORDER BY s.id, l.noted_at, n.id`,
    values: [[...sessionIds]],
  });
  const waits = new Map<string, NodeWait>();
  for (const { id, node, missing, noted_at } of rows) {
    const { since = noted_at.toISOString(), nodes = [] } = waits.get(id) ?? {};
    waits.set(id, { since, nodes: [...nodes, { node, missing: JSON.parse(missing) as readonly Lack[] }] });
  }
  return waits;
}
