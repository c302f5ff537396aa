import { closeSync, fstatSync, openSync, readdirSync, statSync } from 'node:fs';

/**
 * Gives `work` a handle of the file that SQLite itself has opened for writing. A handle of our own would do harm: closing it
 * drops every lock that this process holds on the file. Undefined when there is none. Nothing may be awaited meanwhile.
 */
export function borrowHandle<T>(file: string, work: (handle: number) => T): T | undefined {
  if (process.platform === 'win32') return withOwnHandle(file, work);
  const wanted = statSync(file, { bigint: true });
  for (const handle of openHandles()) {
    const stats = statsOf(handle);
    if (stats?.ino !== wanted.ino || stats.dev !== wanted.dev) continue;
    try {
      return work(handle);
    } catch (error) {
      // It was opened for reading.
      if (!(error instanceof Error && 'code' in error && error.code === 'EBADF')) throw error;
    }
  }
  return undefined;
}

/** Locks of Windows belong to the handle that took them. */
function withOwnHandle<T>(file: string, work: (handle: number) => T): T {
  const handle = openSync(file, 'r+');
  try {
    return work(handle);
  } finally {
    closeSync(handle);
  }
}

/** Linux and macOS list them as files. */
function openHandles(): readonly number[] {
  const directory = process.platform === 'linux' ? '/proc/self/fd' : '/dev/fd';
  return readdirSync(directory).map(Number).filter(Number.isInteger);
}

function statsOf(handle: number) {
  try {
    return fstatSync(handle, { bigint: true });
  } catch {
    return undefined; // closed since it was listed
  }
}
