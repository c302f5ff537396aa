import { dirname, sep } from 'node:path';

/** Where a session of this home keeps what is its own. Put together by hand: the home is a resolved path, and every session asks. */
export function sessionDirectoryIn(home: string, sessionId: string): string {
  return `${home}${sep}session-state${sep}${sessionId}`;
}

/** The home that a session's own directory is in. */
export function homeOf(sessionDirectory: string): string {
  return dirname(dirname(sessionDirectory));
}
