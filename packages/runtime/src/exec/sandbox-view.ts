import { tmpdir } from 'node:os';
import { isWithin } from '../workspace/paths.js';
import {
  keyPlaces,
  otherHomes,
  ownHomes,
  placeOf,
  runPlaces,
  socketPlaces,
  systemParts,
} from './hidden-places.js';
import type { HiddenPlace, View } from './mount-plan.js';
import { CannotConfine, type Confinement } from './sandbox-confinement.js';
import type { TemporaryTop } from './sandbox-temp.js';

/** Where a child is to run, and what it is to see of the host. */
export interface ViewRequest {
  readonly confinement: Confinement;
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A directory of this session alone that stands for a temporary one of the system. */
  privateTemp(path: string, tops: readonly TemporaryTop[]): string;
}

/** Looks up what there is to show and to hide, every link followed. Throws CannotConfine. */
export function surveyView(request: ViewRequest): View {
  const { confinement, environment } = request;
  const { isNarrow } = confinement;
  const homes = ownHomes(environment);
  const opened = [...confinement.writable, ...confinement.readOnly].flatMap(placeOf);
  const visible = isNarrow ? opened : [...opened, ...homes.flatMap(placeOf)];
  const temporary = temporaryPlaces(opened);
  const isSeen = ({ path }: HiddenPlace) =>
    contains(visible, path) || (!isNarrow && !temporary.some((place) => isWithin(place, path)));
  const sockets = socketPlaces().filter(({ path }) => !contains(opened, path));
  const hidden = [
    ...otherHomes(homes),
    ...keyPlaces(homes),
    ...confinement.runtimeHomes.flatMap(placeOf),
    ...sockets,
  ];
  const denied = confinement.hidden.flatMap(placeOf);
  requireWorkingDirectory(request.workingDirectory, denied);
  const tops = temporary.flatMap((place) => topsIn(place, visible));
  return {
    base: isNarrow
      ? systemParts({ homes, searchPath: environment.PATH ?? '' })
      : [{ type: 'read-only', path: '/' }],
    hidden: [...hidden.filter(isSeen), ...placeOf('/run'), ...tops.filter(({ isDirectory }) => isDirectory)],
    shown: [...(isNarrow ? [] : homes), ...runPlaces()],
    private: temporary.map((path) => ({
      path,
      source: request.privateTemp(
        path,
        tops.filter((top) => isWithin(path, top.path)),
      ),
    })),
    writable: pathsOf(confinement.writable),
    readOnly: pathsOf(confinement.readOnly),
    denied: denied.filter((place) => isSeen(place) || isNarrow),
    frozen: confinement.frozen
      .flatMap(placeOf)
      .filter(isSeen)
      .map(({ path }) => path),
  };
}

function pathsOf(named: readonly string[]): readonly string[] {
  return named.flatMap(placeOf).map(({ path }) => path);
}

function contains(places: readonly HiddenPlace[], path: string): boolean {
  return places.some((place) => isWithin(place.path, path));
}

/** The system's directories for temporary files, but for those that the session works in. */
function temporaryPlaces(opened: readonly HiddenPlace[]): readonly string[] {
  const all = pathsOf(['/tmp', '/var/tmp', tmpdir()]).filter((path) => path !== '/');
  const own = [...new Set(all)].filter((path) => !opened.some((place) => place.path === path));
  return own.filter((path) => !own.some((other) => other !== path && isWithin(other, path)));
}

/** What must be in a private temporary directory for something shown below it to have a place. */
function topsIn(temporary: string, visible: readonly HiddenPlace[]): readonly TemporaryTop[] {
  const tops = new Map<string, TemporaryTop>();
  for (const { path, isDirectory } of visible) {
    if (path === temporary || !isWithin(temporary, path)) continue;
    const [name = '', ...deeper] = path.slice(temporary.length + 1).split('/');
    tops.set(name, { path: `${temporary}/${name}`, name, isDirectory: isDirectory || deeper.length > 0 });
  }
  return [...tops.values()];
}

function requireWorkingDirectory(workingDirectory: string, denied: readonly HiddenPlace[]): void {
  const [here] = placeOf(workingDirectory);
  if (!here?.isDirectory)
    throw new CannotConfine(`The working directory does not exist: ${workingDirectory}`);
  const rule = denied.find(({ path }) => isWithin(path, here.path));
  if (rule) throw new CannotConfine(`Rules deny ${rule.path}, and the working directory lies in it`);
}
