import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';

/** The byte of the shared-memory file that a writer in WAL mode locks. */
const writeLockByte = 120;

/**
 * Names the process that holds the write lock of a store, be it stopped or no runtime at all; undefined where the
 * system does not say (it does on Linux), and for this process itself.
 */
export function writeLockHolder(file: string): string | undefined {
  const inode = statSync(`${file}-shm`, { throwIfNoEntry: false })?.ino;
  const pid = readLocks()
    .map(parseLock)
    .find((lock) => lock?.inode === inode && lock?.first === writeLockByte)?.pid;
  return pid === undefined || pid === process.pid ? undefined : `process ${pid} on ${hostname()}`;
}

function readLocks(): readonly string[] {
  try {
    return readFileSync('/proc/locks', 'utf8').split('\n');
  } catch {
    return []; // another system than Linux, or a container that hides it
  }
}

/** A line such as `5: POSIX  ADVISORY  WRITE 7781 fe:00:10224608 120 120`; those that wait for a lock look otherwise. */
function parseLock(
  line: string,
): { readonly pid: number; readonly inode: number; readonly first: number } | undefined {
  const [, pid, inode, first] = /^\d+: POSIX +\w+ +WRITE (\d+) \w+:\w+:(\d+) (\d+) /.exec(line) ?? [];
  if (!pid || pid === '0') return undefined;
  return { pid: Number(pid), inode: Number(inode), first: Number(first) };
}
