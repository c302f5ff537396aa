import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** What of the machine a tenant's processes can reach. */
export interface BoxPlaces {
  /** Directories under their own names, writable. */
  readonly writable: readonly string[];
  /** Directories under their own names, read-only. */
  readonly readOnly: readonly string[];
  /** Directories that have another name in the box. */
  readonly bound: readonly { readonly source: string; readonly path: string }[];
  /** Files of the operator that hold secrets; where one lies in a place that is shown, an empty file covers it. */
  readonly secretFiles: readonly string[];
  /** Directories of the operator and of all tenants; where one lies in a part of the system that is shown, it is empty. */
  readonly hidden: readonly string[];
  readonly workingDirectory: string;
}

/** Where operators keep the files of a server; no box shows it. */
const operatorsDirectory = '/etc/groundcrew';

/** The arguments of bubblewrap for a box that shows the system, the program, and what is the tenant's own. */
export function boxArguments(places: BoxPlaces): readonly string[] {
  const { writable, readOnly, bound, secretFiles, workingDirectory } = places;
  const shown = systemParts();
  const hidden = shownDirectories([operatorsDirectory, ...places.hidden]);
  const asItIs = (order: string) => (path: string) => ({ order, source: path, path });
  const mounts = [
    ...[...programParts(hidden), ...readOnly].map(asItIs('--ro-bind')),
    ...bound.map((each) => ({ order: '--bind', ...each })),
    ...writable.map(asItIs('--bind')),
  ].sort((one, other) => depthOf(one.path) - depthOf(other.path));
  return [
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...['--unshare-user-try', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...shown.flat(),
    ...['--dev', '/dev', '--proc', '/proc'],
    ...hidden.flatMap((path) => ['--tmpfs', path]),
    ...mounts.flatMap(({ order, source, path }) => [order, source, path]),
    ...shownFiles(secretFiles, { hidden, directories: [...readOnly, ...writable] }).flatMap((path) => [
      '--ro-bind',
      '/dev/null',
      path,
    ]),
    ...[...hidden, '/'].flatMap((path) => ['--remount-ro', path]),
    ...['--chdir', workingDirectory],
  ];
}

/** Those of the directories that lie in a part of the system that is shown, less those below another one. */
function shownDirectories(directories: readonly string[]): readonly string[] {
  const real = new Set(directories.flatMap((directory) => realOf(directory) ?? []));
  const shown = [...real].filter(isInSystem);
  return shown.filter((path) => !shown.some((other) => isIn(path, other)));
}

/** Those of the files that a box would show, by their real paths. */
function shownFiles(
  files: readonly string[],
  { hidden, directories }: { readonly hidden: readonly string[]; readonly directories: readonly string[] },
): readonly string[] {
  const real = new Set(files.flatMap((file) => realOf(file) ?? []));
  const isShown = (path: string) => isInSystem(path) && !hidden.some((directory) => isIn(path, directory));
  return [...real].filter((path) => isShown(path) || directories.some((directory) => isIn(path, directory)));
}

function isIn(path: string, directory: string): boolean {
  return path.startsWith(`${directory}/`);
}

/** Deeper directories are mounted later, so that none is hidden by one above it. */
function depthOf(path: string): number {
  return path.split('/').length;
}

/** Directories of the root that hold programs and their settings, not files of users. */
function systemParts(): readonly (readonly string[])[] {
  const fixed = new Set(['bin', 'sbin', 'usr', 'etc', 'opt', 'nix', 'gnu', 'snap']);
  const names = readdirSync('/').filter((name) => fixed.has(name) || /^lib[\dx]*$/.test(name));
  const parts = names.map((name) => partOf(`/${name}`));
  const resolver = realOf('/etc/resolv.conf');
  const isHidden = resolver?.startsWith('/run/') || resolver?.startsWith('/mnt/');
  return [...parts, ...(resolver !== undefined && isHidden ? [['--ro-bind', resolver, resolver]] : [])];
}

function partOf(path: string): readonly string[] {
  if (lstatSync(path).isSymbolicLink()) return ['--symlink', readlinkSync(path), path];
  return ['--ro-bind', path, path];
}

/** Node, this program and the packages that it loads, wherever they were installed. */
function programParts(hidden: readonly string[]): readonly string[] {
  const program = dirname(import.meta.dirname);
  const places = [realpathSync(process.execPath), program, ...packagesAround(program)];
  const real = new Set([...places.filter((place) => existsSync(place)), ...linkedPackages()]);
  const isHidden = (place: string) => hidden.some((path) => place === path || isIn(place, path));
  return [...real].filter((place) => !isInSystem(place) || isHidden(place));
}

/** Packages that are loaded when they are needed may be links to where they really are. */
function linkedPackages(): readonly string[] {
  const { resolve } = createRequire(import.meta.filename);
  return loadedLater.flatMap((name) => {
    try {
      const found = realpathSync(resolve(`${name}/package.json`));
      return [dirname(found)];
    } catch {
      // It is optional, or lies in the bundle.
      return [];
    }
  });
}

const loadedLater = ['@groundcrew/sqlite-node20', '@vscode/ripgrep', 'undici'];

function packagesAround(place: string): readonly string[] {
  const found: string[] = [];
  for (let at = place; dirname(at) !== at; at = dirname(at)) found.push(join(at, 'node_modules'));
  return found;
}

function isInSystem(path: string): boolean {
  return /^\/(?:usr|etc|opt|nix|gnu|snap|lib[\dx]*|s?bin)\//.test(path);
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // Not every system has it.
    return undefined;
  }
}
