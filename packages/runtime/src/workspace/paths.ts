import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { absent } from './absent.js';
import type { FileSync } from './file-sync.js';

export type PlaceKind = 'file' | 'directory' | 'other' | 'missing';

/** A path as it was judged; whatever is opened later must still be there. */
export interface Place {
  /** Absolute, free of `..`, as it was named. */
  readonly path: string;
  /** Where it is once every link is followed; of what is missing, where it would be. */
  readonly real: string;
  readonly kind: PlaceKind;
  /** It lies in one of the allowed directories. */
  readonly isInside: boolean;
}

/** Where a session may work without a question of its own. */
export interface Bounds {
  readonly workingDirectory: string;
  readonly allowedDirectories: readonly string[];
  /** The runtime's own home: its rules and sessions are not part of a working directory around it. */
  readonly homeDirectory?: string;
  /** Knows where files are that a client stores. */
  readonly sync?: Pick<FileSync, 'local' | 'pull'>;
  /** Throws when rules forbid to look there. */
  checkPlace?(place: Place): void;
}

/** A path that no tool may touch, or that cannot be one. */
export class BadPath extends Error {
  override readonly name = 'BadPath';
}

/** What a path led to is no longer what was judged. */
export class PlaceChanged extends Error {
  override readonly name = 'PlaceChanged';

  constructor(path: string) {
    super(`${path} was changed while it was being opened; nothing was done`);
  }
}

/** Follows a path to its real end and says whether that is inside; throws BadPath. */
export async function locate(path: string, bounds: Bounds): Promise<Place> {
  if (path.includes('\0')) throw new BadPath('A path must not contain NUL');
  if (path.length > longestPath) throw new BadPath(`A path has at most ${longestPath} characters`);
  const { absolute, here } = await broughtHere(path, bounds);
  const { real, kind } = await follow(here);
  if (isOwnProcess(real)) throw new BadPath(`${absolute} belongs to the runtime itself and is never opened`);
  const [home, ...directories] = await Promise.all(
    [bounds.homeDirectory, ...new Set(bounds.allowedDirectories)].map(realDirectory),
  );
  const isInside = liesIn(real, { directories: directories.filter((each) => each !== undefined), home });
  const place = { path: absolute, real, kind, isInside };
  // mutation: tools look at forbidden places
  bounds.checkPlace?.(place);
  return place;
}

/** No system opens more; to look for one of hundreds of thousands of parts, part by part, would take minutes. */
const longestPath = 32_767;

/** A file that a client stores is brought to this disk first, and keeps the name by which it is known. */
async function broughtHere(path: string, { sync, workingDirectory }: Bounds) {
  const absolute = resolve(workingDirectory, path);
  const named = sync?.local(path) === undefined ? absolute : path;
  const local = sync?.local(named);
  if (!sync || local === undefined) return { absolute, here: absolute };
  await sync.pull(local);
  return { absolute: named, here: local };
}

/** Opens what was judged and nothing else: links put in its way since then are not followed. */
export async function openPlace(place: Place, flags: number = constants.O_RDONLY): Promise<FileHandle> {
  const handle = await open(place.real, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      throw changedCodes.has(error.code) ? new PlaceChanged(place.path) : error;
    },
  );
  try {
    if (!(await isAt(handle, place.real))) throw new PlaceChanged(place.path);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Whether a path is in one of these directories; what the kernel or the runtime keeps somewhere, only for who works there. */
export function liesIn(
  path: string,
  where: { readonly directories: readonly string[]; readonly home?: string | undefined },
): boolean {
  const { directories, home } = where;
  const kept = home === undefined ? kernelDirectories : [...kernelDirectories, home];
  return directories.some(
    (directory) =>
      isWithin(directory, path) &&
      kept.every((place) => !isWithin(place, path) || isWithin(place, directory)),
  );
}

/** Whether a path is a directory or lies in it, by their names alone. */
export function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** The file or directory opened is the one now found under this real path. */
export async function isAt(handle: FileHandle, real: string): Promise<boolean> {
  const link = process.platform === 'linux' ? await whereOpened(handle) : undefined;
  if (link !== undefined) return link === real;
  const [opened, named, again] = await Promise.all([
    handle.stat({ bigint: true }),
    lstat(real, { bigint: true }).catch(absent),
    realpath(real).catch(absent),
  ]);
  return again === real && named?.ino === opened.ino && named.dev === opened.dev;
}

/** What an open that meets a link, or nothing, where something else was judged, fails with. */
const changedCodes: ReadonlySet<string | undefined> = new Set(['ELOOP', 'ENOENT', 'ENOTDIR', 'EMLINK']);

async function follow(path: string): Promise<Pick<Place, 'real' | 'kind'>> {
  const real = await realpath(path).catch(absent);
  if (real !== undefined) return { real, kind: kindOf(await lstat(real)) };
  if (dirname(path) === path) return { real: path, kind: 'missing' };
  const parent = await follow(dirname(path));
  const named = join(parent.real, basename(path));
  const target = await readlink(named).catch(noLink);
  if (target === undefined) return { real: named, kind: 'missing' };
  // A link to nothing is something: a file created there must not be written through it.
  return { real: resolve(parent.real, target), kind: 'other' };
}

function kindOf(stats: Stats): PlaceKind {
  if (stats.isFile()) return 'file';
  return stats.isDirectory() ? 'directory' : 'other';
}

async function realDirectory(directory: string | undefined): Promise<string | undefined> {
  return directory === undefined ? undefined : realpath(directory).catch(absent);
}

/** What the kernel shows as files. */
const kernelDirectories: readonly string[] = ['/proc', '/sys', '/dev'];

/** The runtime's own memory, environment and open files hold secrets. */
export function isOwnProcess(real: string): boolean {
  const id = /^\/proc\/(\d+)(\/|$)/.exec(real)?.[1];
  return id !== undefined && (id === String(process.pid) || existsSync(`/proc/self/task/${id}`));
}

/** On Linux, the path that an open file has now, even if it was moved since. */
function whereOpened(handle: FileHandle): Promise<string | undefined> {
  return readlink(`/proc/self/fd/${handle.fd}`).catch(absent);
}

function noLink(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'EINVAL') return undefined;
  return absent(error);
}
