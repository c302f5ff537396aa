import { constants, lstatSync, statfsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { openPlace, type Place } from '../workspace/paths.js';

/** A directory held open, in which names stand for what they stood for since `since`, as far as that can be shown. */
export interface HeldTree {
  /** The path by which a child process starts in it, whatever becomes of its name. */
  readonly entry: string;
  /**
   * Of these paths in it, those that led to the same file all the time. Swapping a directory or a file for a link changes the
   * change time of the directory around it, which no user can set back. So a path whose directories have all been left alone
   * is the path that was searched.
   */
  unchanged(paths: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Holds a directory open while `work` runs; undefined where change times prove nothing. */
export async function withHeldTree<T>(
  place: Place,
  work: (tree: HeldTree) => Promise<T>,
): Promise<T | undefined> {
  if (process.platform !== 'linux') return undefined;
  const handle = await openPlace(place, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const entry = `/proc/self/fd/${handle.fd}`;
    if (!localSystems.has(statfsSync(entry).type)) return undefined;
    const { dev: device } = await handle.stat({ bigint: true });
    const since = BigInt(Date.now() - clockSlack) * 1_000_000n;
    const unchanged = (paths: readonly string[]) => unchangedPaths(paths, { entry, device, since });
    return await work({ entry, unchanged });
  } finally {
    await handle.close();
  }
}

/** Milliseconds by which a change time may be behind the clock: the kernel stamps by its ticks. */
const clockSlack = 20;

/** Kinds of file systems whose change times are of this machine's clock: ext4, xfs, btrfs, tmpfs, overlay, f2fs. */
const localSystems: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010,
]);

interface Held {
  readonly entry: string;
  readonly device: bigint;
  readonly since: bigint;
}

async function unchangedPaths(paths: readonly string[], held: Held): Promise<ReadonlySet<string>> {
  const directories = withParents(new Set(paths.map(parentOf)));
  const alike = new Set<string>();
  // The deepest first: a directory that proves unchanged vouches for every look that led through it before.
  for (const [index, directory] of directories.entries()) {
    if (index % looksAtOnce === looksAtOnce - 1) await setImmediate();
    if (isUnchanged(directory, held)) alike.add(directory);
  }
  // The top first: what stands in a changed directory may be anything.
  const proven = new Set<string>();
  for (const directory of [...directories].reverse())
    if (alike.has(directory) && (directory === '' || proven.has(parentOf(directory)))) proven.add(directory);
  return new Set(paths.filter((path) => proven.has(parentOf(path))));
}

/** Directories that are looked up before other work has its turn. */
const looksAtOnce = 200;

function isUnchanged(directory: string, { entry, device, since }: Held): boolean {
  try {
    const found = lstatSync(`${entry}/${directory}`, { bigint: true });
    return found.isDirectory() && found.dev === device && found.ctimeNs < since;
  } catch (error) {
    // Gone, or closed to us: in either case not as it was.
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

/** These directories and all that they stand in, each before its parent; the top is ''. */
function withParents(directories: Set<string>): readonly string[] {
  for (const directory of directories) if (directory !== '') directories.add(parentOf(directory));
  const depth = (path: string) => (path === '' ? 0 : path.split('/').length);
  return [...directories].sort((one, other) => depth(other) - depth(one));
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
