import { dirname, join } from 'node:path';

/** Where a session of this home keeps what is its own. */
export function sessionDirectoryIn(home: string, sessionId: string): string {
  return join(home, 'session-state', sessionId);
}

/** The home that a session's own directory is in. */
export function homeOf(sessionDirectory: string): string {
  return dirname(dirname(sessionDirectory));
}
