import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isOwnProcess, liesIn, openPlace, PlaceChanged } from '../workspace/paths.js';
import type { SearchRoot } from './search-roots.js';
import type { ToolContext } from './tool.js';

/** A file by the name that a search gave it, and where it has to be. */
export interface FoundFile {
  readonly name: string;
  readonly path: string;
  readonly real: string;
}

type Rules = Pick<ToolContext, 'isForbidden' | 'homeDirectory'>;

/**
 * What ripgrep names is only where to look: a link may have been put in its way while it ran. Here each name gets the one place
 * it may stand for. What rules forbid, and what the kernel or the runtime keeps below a root, is left out.
 */
export function foundFiles(
  names: readonly string[],
  roots: readonly SearchRoot[],
  { isForbidden, homeDirectory: home }: Rules,
): readonly FoundFile[] {
  const longestFirst = [...roots].sort((a, b) => b.name.length - a.name.length);
  return names.flatMap((name) => {
    const root = longestFirst.find((each) => below(each.name, name) !== undefined);
    const rest = root && below(root.name, name);
    if (!root || rest === undefined) return [];
    const found = { name, path: join(root.place.path, rest), real: join(root.place.real, rest) };
    const isInside = liesIn(found.real, { directories: [root.place.real], home });
    return !isInside || isOwnProcess(found.real) || isForbidden?.(found) ? [] : [found];
  });
}

/**
 * Opens those that are where they have to be, for as long as `work` runs; the others are left out. It takes some microseconds
 * for each, and in the thread pool ten times as long.
 */
export async function withOpened<T>(
  files: readonly FoundFile[],
  work: (opened: readonly { readonly file: FoundFile; readonly handle: number }[]) => Promise<T>,
): Promise<T> {
  const opened = files.flatMap((file) => {
    const handle = openFound(file);
    return handle === undefined ? [] : [{ file, handle }];
  });
  try {
    return await work(opened);
  } finally {
    for (const { handle } of opened) closeSync(handle);
  }
}

function openFound({ real }: FoundFile): number | undefined {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  let handle: number | undefined;
  try {
    handle = openSync(real, flags);
    if (fstatSync(handle).isFile() && isAtSync(handle, real)) return handle;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
  if (handle !== undefined) closeSync(handle);
  return undefined;
}

/** The same as `isAt`, at once. */
function isAtSync(handle: number, real: string): boolean {
  if (process.platform === 'linux') return readlinkSync(`/proc/self/fd/${handle}`) === real;
  const [opened, named] = [fstatSync(handle, { bigint: true }), lstatSync(real, { bigint: true })];
  return realpathSync.native(real) === real && named.ino === opened.ino && named.dev === opened.dev;
}

/** Those whose directory is where it has to be, and has them. */
export async function stillThere(files: readonly FoundFile[]): Promise<readonly FoundFile[]> {
  const directories = new Map<string, FoundFile[]>();
  for (const file of files) {
    const directory = dirname(file.real);
    directories.set(directory, [...(directories.get(directory) ?? []), file]);
  }
  return (
    await Promise.all(
      [...directories].map(async ([directory, inside]) => {
        const names = await namesIn(directory);
        return inside.filter(({ real }) => names.has(basename(real)));
      }),
    )
  ).flat();
}

async function namesIn(directory: string): Promise<ReadonlySet<string>> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY;
  const place = { path: directory, real: directory, kind: 'directory', isInside: true } as const;
  const handle = await openPlace(place, flags).catch(unreadable);
  if (!handle) return new Set();
  try {
    return new Set(await readdir(handlePath(handle.fd) ?? directory));
  } finally {
    await handle.close();
  }
}

/** The name under which a process finds a file that it has open, where the system gives it one. */
export function handlePath(descriptor: number): string | undefined {
  if (process.platform === 'linux') return `/proc/self/fd/${descriptor}`;
  return process.platform === 'darwin' ? `/dev/fd/${descriptor}` : undefined;
}

/** The part of a name after its root; undefined when it is not below it. */
function below(root: string, name: string): string | undefined {
  if (name === root) return '';
  const start = root.endsWith('/') ? root : `${root}/`;
  return name.startsWith(start) ? name.slice(start.length) : undefined;
}

/** Moved, removed or closed to us since it was found. */
function unreadable(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (error instanceof PlaceChanged || code === 'EACCES' || code === 'EPERM' || code === 'ENXIO')
    return undefined;
  throw error;
}
