import { dirname } from 'node:path';
import { isWithin } from '../workspace/paths.js';

/** One step that makes a sandbox's view of the disk, in the order of `rank` for the same path. */
export interface Mount {
  readonly type: MountType;
  /** Where the child finds it: a real path, free of links. */
  readonly path: string;
  /** What it finds there, if that is not what the host has under the same path. */
  readonly source?: string;
}

/**
 * `empty` is a directory with nothing in it, `blank` a file that cannot be opened; `link` is a symbolic link, made where
 * nothing was before.
 */
export type MountType = 'empty' | 'blank' | 'writable' | 'read-only' | 'link';

/** A place to hide. */
export interface HiddenPlace {
  readonly path: string;
  readonly isDirectory: boolean;
}

/** What the view is made of: real paths that exist. */
export interface View {
  /** What everything else lies upon: the whole disk, or the parts of it that a narrow view shows. */
  readonly base: readonly Mount[];
  /** Hidden unless something more particular is shown there. */
  readonly hidden: readonly HiddenPlace[];
  /** Seen as they are, also in a hidden place; read-only unless something else is said of them. */
  readonly shown: readonly string[];
  readonly writable: readonly string[];
  readonly readOnly: readonly string[];
  /** Hidden whatever else is shown. */
  readonly denied: readonly HiddenPlace[];
  readonly frozen: readonly string[];
  /** Directories of this sandbox alone, and what they are on the host. */
  readonly private: readonly Required<Pick<Mount, 'path' | 'source'>>[];
}

/**
 * The steps in order: what lies deeper comes later, so that it is seen. Of steps for the same path the later wins: a
 * hidden place, a shown one, a directory of the sandbox's own, a writable one, a read-only one, a denied one.
 */
export function planMounts(view: View): readonly Mount[] {
  const { denied } = view;
  const wanted: readonly (readonly Mount[])[] = [
    view.hidden.map(hide),
    view.shown.map((path) => ({ type: 'read-only', path })),
    view.private.map(({ path, source }) => ({ type: 'writable', path, source })),
    view.writable.map((path) => ({ type: 'writable', path })),
    [...view.readOnly, ...view.frozen].map((path) => ({ type: 'read-only', path })),
  ];
  const allowed = wanted.flat().filter(({ path }) => !isDenied(path, denied));
  const last = new Map<string, Mount>();
  for (const mount of [...allowed, ...topmost(denied).map(hide)]) last.set(mount.path, mount);
  const placed = [...last.values()];
  const pins = pinsOf(placed, view.writable);
  return [...view.base, ...[...placed, ...pins].sort(byDepth)];
}

/** The directories that must be the same ones in the sandbox as when they were looked up. */
export function rootsOf(mounts: readonly Mount[]): readonly string[] {
  return mounts
    .filter(({ type, source }) => type === 'writable' && source === undefined)
    .map(({ path }) => path);
}

function hide({ path, isDirectory }: HiddenPlace): Mount {
  return { type: isDirectory ? 'empty' : 'blank', path };
}

function isDenied(path: string, denied: readonly HiddenPlace[]): boolean {
  return denied.some((place) => isWithin(place.path, path));
}

/** What lies in a denied directory is hidden with it. */
function topmost(places: readonly HiddenPlace[]): readonly HiddenPlace[] {
  return places.filter(
    ({ path }) => !places.some((other) => other.path !== path && isWithin(other.path, path)),
  );
}

/**
 * A directory that can be renamed takes what is hidden in it to another name, where the next command would see it. One
 * that is a mount of its own cannot be renamed.
 */
function pinsOf(mounts: readonly Mount[], writable: readonly string[]): readonly Mount[] {
  const byPath = new Map(mounts.map((mount) => [mount.path, mount]));
  const pins = new Set<string>();
  for (const { path } of mounts) {
    const around = writable.filter((root) => root !== path && isWithin(root, path));
    const [root] = around.sort(shortestFirst);
    if (root === undefined) continue;
    for (let place = dirname(path); place !== root; place = dirname(place))
      if (!byPath.has(place) && enclosing(place, byPath)?.type === 'writable') pins.add(place);
  }
  return [...pins].map((path) => ({ type: 'writable', path }));
}

/** The mount that a path lies in. */
function enclosing(path: string, mounts: ReadonlyMap<string, Mount>): Mount | undefined {
  for (let place = dirname(path); ; place = dirname(place)) {
    const mount = mounts.get(place);
    if (mount !== undefined || dirname(place) === place) return mount;
  }
}

function shortestFirst(one: string, other: string): number {
  return one.length - other.length;
}

function byDepth(one: Mount, other: Mount): number {
  return depthOf(one.path) - depthOf(other.path) || (one.path < other.path ? -1 : 1);
}

function depthOf(path: string): number {
  return path.split('/').filter((name) => name !== '').length;
}
