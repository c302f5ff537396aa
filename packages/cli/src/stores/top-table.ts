import type { ClusterOverview, NodeOverview } from '@groundcrew/store';
import { shortened, visible } from '../terminal/visible.js';

/** A look at a cluster, and how much was done since the look before. */
export interface RatedOverview extends Omit<ClusterOverview, 'nodes'> {
  readonly turnsPerSecond: number;
  readonly nodes: readonly RatedNode[];
}

/** A node with the turns that it began in a second; unknown of one that shows no figures, or was not there before. */
export interface RatedNode extends NodeOverview {
  readonly turnsPerSecond?: number;
}

/** What happened between two looks. */
export function rated(before: ClusterOverview, now: ClusterOverview): RatedOverview {
  const seconds = Math.max(0.001, (Date.parse(now.at) - Date.parse(before.at)) / 1_000);
  const rate = (from: number, to: number) => Math.round((Math.max(0, to - from) / seconds) * 10) / 10;
  const nodes = now.nodes.map((node): RatedNode => {
    const turns = before.nodes.find(({ runtimeId }) => runtimeId === node.runtimeId)?.figures?.turns;
    if (!node.figures || turns === undefined) return node;
    return { ...node, turnsPerSecond: rate(turns, node.figures.turns) };
  });
  const stored = rate(before.sessions.turns, now.sessions.turns);
  return { ...now, nodes, turnsPerSecond: stored };
}

const titles = [
  ...['NODE', 'STATE', 'LEASE', 'VERSION', 'CLIENTS', 'LINKS', 'OPEN', 'RUNNING', 'TURNS/S', 'PROMPTS'],
  ...['QUESTIONS', 'OWNED', 'WORK', 'MEMORY', 'UP', 'LABELS'],
];
/** Words stand at the left of their column. */
const words: ReadonlySet<string> = new Set(['NODE', 'STATE', 'VERSION', 'LABELS']);
const longestLabels = 60;

/** The look as lines for users. */
export function topLines(shown: RatedOverview & { readonly store: string }): readonly string[] {
  const { store, at, nodes, sessions, turnsPerSecond } = shown;
  const rows = [titles, ...nodes.map((node) => cellsOf(node, at))];
  const widths = titles.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const table = rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return words.has(titles[column] ?? '') ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
  return [
    `${visible(store)}  ${at}`,
    `${nodes.length} nodes, ${turnsPerSecond.toFixed(1)} turns/s`,
    `${sessions.total} sessions: ${sessions.withWork} with work, ${sessions.orphaned} of them without a live owner, ${sessions.waiting} that no node can go on with, ${sessions.scheduled} scheduled`,
    '',
    ...table,
  ];
}

function cellsOf(node: RatedNode, at: string): readonly string[] {
  const { host, pid, leaseMs, figures, turnsPerSecond, labels, owned, withWork } = node;
  const count = (value: number | undefined) => (value === undefined ? '–' : String(value));
  return [
    visible(`${host}:${pid}`),
    stateOf(node),
    leaseMs === undefined ? '–' : `${(leaseMs / 1_000).toFixed(1)} s`,
    visible(figures?.version ?? '–'),
    ...[figures?.clients, figures?.links, figures?.sessions, figures?.running].map(count),
    turnsPerSecond === undefined ? '–' : turnsPerSecond.toFixed(1),
    ...[figures?.prompts, figures?.questions, owned, withWork].map(count),
    figures ? `${Math.round(figures.memoryBytes / 1024 / 1024)} MB` : '–',
    figures ? upTime(Date.parse(at) - Date.parse(figures.startedAt)) : '–',
    shortened(visible(labels.join(', ')), longestLabels),
  ];
}

function stateOf({ leaseMs, figures, isNode }: NodeOverview): string {
  if (leaseMs !== undefined && leaseMs < 0) return 'gone';
  if (figures?.isDraining) return 'draining';
  return isNode ? 'up' : 'alone';
}

function upTime(milliseconds: number): string {
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60 / 24)} d`;
}
