import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Where a recovery keeps a damaged store: beside it, under a name that says which sessions may be in it. */
export function copyName(file: string, newestSession: number): string {
  const name = `${file}.damaged-${new Date().toISOString().replace(/[:.]/g, '-')}-${newestSession}`;
  return existsSync(name) ? copyName(file, newestSession) : name;
}

/** What recoveries kept beside a store. */
export function recoveryCopies(file: string): readonly string[] {
  const directory = dirname(file);
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => name.startsWith(`${basename(file)}.damaged-`));
  return names.filter((name) => !/-(?:wal|shm)$/.test(name)).map((name) => join(directory, name));
}

/**
 * Deletes the copies that may hold a word of these sessions: it is unknown where in a damaged file the words of one session
 * are. A copy from before a session was made is left.
 */
export function discardRecoveryCopies(file: string, sessions: readonly number[]): void {
  const oldest = Math.min(...sessions);
  for (const kept of recoveryCopies(file)) {
    const newest = /Z-(\d+)$/.exec(kept)?.[1];
    if (newest !== undefined && Number(newest) < oldest) continue;
    for (const suffix of ['', '-wal', '-shm']) rmSync(kept + suffix, { force: true });
  }
}
