import type { Page, SessionContext, SessionQuery, SessionSummary } from './session-store.js';

/** A place in the order of `newestFirst`; what a cursor stands for. */
export interface ListPosition {
  readonly modifiedAt: string;
  readonly sessionId: string;
}

/** Whether a session is asked for; the cursor and the limit are left to `pageOf`. */
export function matches({ sessionId, head }: SessionSummary, query: SessionQuery): boolean {
  if (query.sessionId !== undefined && query.sessionId !== sessionId) return false;
  if (!query.includeEmpty && head.userTurns === 0) return false;
  return wantedContext(query).every(([field, value]) => head.context[field] === value);
}

/** The context fields a query asks for, without those left open. */
export function wantedContext({ context = {} }: SessionQuery): readonly [keyof SessionContext, string][] {
  const fields = ['cwd', 'gitRoot', 'repository', 'branch'] as const;
  return fields.flatMap((field) => {
    const value = context[field];
    return value === undefined ? [] : [[field, value]];
  });
}

/** The order of every list; the id makes it total, so that paging neither skips nor repeats. */
export function newestFirst(a: SessionSummary, b: SessionSummary): number {
  return compare(b.head.modifiedAt, a.head.modifiedAt) || compare(b.sessionId, a.sessionId);
}

/** The part of an ordered list that the query's cursor and limit ask for. */
export function pageOf(ordered: readonly SessionSummary[], query: SessionQuery): Page<SessionSummary> {
  const position = query.cursor === undefined ? undefined : readCursor(query.cursor);
  const rest = position ? ordered.filter((summary) => isAfter(summary, position)) : ordered;
  return cutPage(rest, query.limit);
}

/** Cuts to `limit`; the cursor is there only when something was cut off. */
export function cutPage(
  rest: readonly SessionSummary[],
  limit = Number.POSITIVE_INFINITY,
): Page<SessionSummary> {
  if (rest.length <= limit) return { items: rest };
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return last ? { items, cursor: writeCursor(last) } : { items };
}

/** The position a cursor stands for; a text that is no cursor starts at the beginning. */
export function readCursor(cursor: string): ListPosition | undefined {
  const text = Buffer.from(cursor, 'base64url').toString();
  const space = text.indexOf(' ');
  if (space === -1) return undefined;
  return { modifiedAt: text.slice(0, space), sessionId: text.slice(space + 1) };
}

function writeCursor({ sessionId, head }: SessionSummary): string {
  return Buffer.from(`${head.modifiedAt} ${sessionId}`).toString('base64url');
}

function isAfter({ sessionId, head }: SessionSummary, position: ListPosition): boolean {
  const order = compare(head.modifiedAt, position.modifiedAt) || compare(sessionId, position.sessionId);
  return order < 0;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
