import { shortened, visible } from '../terminal/visible.js';

/** What a list says of a session. */
export interface ListedSession {
  readonly sessionId: string;
  readonly modifiedTime: Date;
  readonly summary?: string | undefined;
}

/** Sessions as lines of a table: id, last change, what it is about. */
export function sessionRows(sessions: readonly ListedSession[]): readonly string[] {
  const width = Math.max(0, ...sessions.map(({ sessionId }) => sessionId.length));
  return sessions.map(({ sessionId, modifiedTime, summary = '' }) =>
    `${sessionId.padEnd(width)}  ${minutes(modifiedTime)}  ${shortened(visible(summary), 60)}`.trimEnd(),
  );
}

/** Local time, to the minute. */
function minutes(time: Date): string {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16).replace('T', ' ');
}
