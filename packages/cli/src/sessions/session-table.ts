import { shortened, visible } from '../terminal/visible.js';

/** What a table says of a session. */
export interface TableSession {
  readonly sessionId: string;
  readonly modifiedTime: Date;
  readonly summary?: string;
  readonly model?: string;
  readonly turns?: number;
  readonly tokens?: number;
  /** US dollars; null where some price is not known. */
  readonly cost?: number | null;
  readonly isWorking?: boolean;
  /** The process that has it open. */
  readonly openIn?: number;
}

const titles = ['id', 'age', 'state', 'turns', 'tokens', 'cost', 'model', 'title'];
const longest = { model: 24, title: 60 };
/** Numbers stand at the right of their column. */
const numeric: ReadonlySet<number> = new Set([1, 3, 4, 5]);

/** Sessions as lines of a table, with a line of titles where users read it. */
export function sessionTable(
  sessions: readonly TableSession[],
  { now, hasTitles }: { readonly now: Date; readonly hasTitles: boolean },
): readonly string[] {
  const rows = [...(hasTitles ? [titles] : []), ...sessions.map((session) => cellsOf(session, now))];
  const widths = titles.map((_, column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        numeric.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}

function cellsOf(session: TableSession, now: Date): readonly string[] {
  const { sessionId, modifiedTime, summary = '', model = '–', turns, tokens, cost } = session;
  return [
    sessionId,
    ageOf(now.getTime() - modifiedTime.getTime()),
    stateOf(session),
    turns === undefined ? '–' : String(turns),
    tokens === undefined ? '–' : short(tokens),
    cost === undefined || cost === null ? '–' : `$${cost.toFixed(cost < 1 ? 4 : 2)}`,
    shortened(visible(model), longest.model),
    shortened(visible(summary), longest.title),
  ];
}

function stateOf({ isWorking = false, openIn }: TableSession): string {
  if (isWorking) return openIn === undefined ? 'interrupted' : 'working';
  return openIn === undefined ? 'idle' : 'open';
}

const units = [
  ['d', 24 * 60 * 60 * 1000],
  ['h', 60 * 60 * 1000],
  ['m', 60 * 1000],
] as const;

/** How long ago, in the largest unit that there is one of. */
function ageOf(milliseconds: number): string {
  const [unit, length] = units.find(([, each]) => milliseconds >= each) ?? ['s', 1000];
  return `${Math.max(0, Math.floor(milliseconds / length))}${unit}`;
}

function short(count: number): string {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}
