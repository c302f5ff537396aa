import type { ClusterOverview, NodeFigures, NodeOverview } from '@groundcrew/store';
import { nowMs } from './cluster-queries.js';
import type { Connection } from './connection.js';
import { waitCondition } from './lacks.js';

interface NodeRow {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly labels: readonly string[];
  readonly providers: readonly string[];
  readonly figures: string | null;
  readonly is_node: boolean;
  readonly lease_ms: number;
  readonly owned: number;
  readonly with_work: number;
}

interface TotalsRow {
  readonly at: number;
  readonly total: number;
  readonly with_work: number;
  readonly orphaned: number;
  readonly waiting: number;
  readonly scheduled: number;
  readonly turns: number;
}

/** Runtimes that live or have died in the last minute, those that still own work, and what sessions there are. */
export async function overviewOf(connection: Connection): Promise<ClusterOverview> {
  const nodes = await connection.all<NodeRow>({
    name: 'gc-overview-nodes',
    text: `SELECT n.id, n.host, n.pid, n.labels, n.providers, n.figures, n.address IS NOT NULL AS is_node,
        (extract(epoch FROM n.lease_until - clock_timestamp()) * 1000)::int AS lease_ms,
        coalesce(o.owned, 0)::int AS owned, coalesce(o.with_work, 0)::int AS with_work
      FROM gc_node n LEFT JOIN (SELECT owner, count(*) AS owned, count(*) FILTER (WHERE has_work) AS with_work
        FROM gc_session WHERE owner IS NOT NULL GROUP BY owner) o ON o.owner = n.id
      WHERE n.lease_until > clock_timestamp() - interval '2 minutes' OR o.with_work > 0
      ORDER BY n.host, n.pid, n.id`,
  });
  const [totals] = await connection.all<TotalsRow>({
    name: 'gc-overview-sessions',
    text: `SELECT ${nowMs}::float8 AS at, count(*)::int AS total, (count(*) FILTER (WHERE s.has_work))::int AS with_work,
        (count(*) FILTER (WHERE s.has_work AND NOT EXISTS (
          SELECT 1 FROM gc_node n WHERE n.id = s.owner AND n.lease_until > clock_timestamp())))::int AS orphaned,
        (count(*) FILTER (WHERE ${waitCondition}))::int AS waiting,
        (count(*) FILTER (WHERE s.due_at IS NOT NULL))::int AS scheduled,
        coalesce(sum(s.user_turns), 0)::float8 AS turns
      FROM gc_session s`,
  });
  const {
    at = 0,
    total = 0,
    with_work = 0,
    orphaned = 0,
    waiting = 0,
    scheduled = 0,
    turns = 0,
  } = totals ?? {};
  return {
    at: new Date(at).toISOString(),
    nodes: nodes.map(nodeOf),
    sessions: { total, withWork: with_work, orphaned, waiting, scheduled, turns },
  };
}

function nodeOf(row: NodeRow): NodeOverview {
  const { id: runtimeId, host, pid, labels, providers, is_node: isNode, lease_ms: leaseMs, owned } = row;
  const figures = row.figures === null ? undefined : (JSON.parse(row.figures) as NodeFigures);
  const withWork = row.with_work;
  const node = { runtimeId, host, pid, labels, providers, isNode, leaseMs, owned, withWork };
  return { ...node, ...(figures && { figures }) };
}
