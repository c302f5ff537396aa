import { locate, type Place, PlaceChanged } from '../workspace/paths.js';
import type { ToolContext } from './tool.js';
import { noSuchPath } from './view.js';

/** Where a search begins: as the model named it, and what that is. */
export interface SearchRoot {
  readonly name: string;
  readonly place: Place;
  /** What a client stores is searched on this disk, and goes by the client's name for it. */
  readonly shown?: string;
}

/** The places a search was given, or the working directory; throws ToolFailure for one that is not there. */
export async function searchRoots(
  paths: string | readonly string[] | undefined,
  context: ToolContext,
): Promise<readonly SearchRoot[]> {
  const given = typeof paths === 'string' ? [paths] : (paths ?? []);
  const names = given.length > 0 ? [...new Set(given)] : ['.'];
  return Promise.all(
    names.map(async (name) => {
      const place = await locate(name, context);
      if (place.kind === 'missing') throw noSuchPath(place.path);
      // What a client stores was brought here, where it can be searched.
      const isBrought = context.sync?.local(place.path) !== undefined;
      if (isBrought) return { name: place.real, place, shown: place.path };
      return { name: rootName(name, place), place };
    }),
  );
}

/** A path that a search found, as clients and models know it. */
export function shownPath(path: string, roots: readonly SearchRoot[]): string {
  for (const { name, shown } of roots) {
    if (shown === undefined || (path !== name && !path.startsWith(`${name}/`))) continue;
    const rest = path.slice(name.length);
    return `${shown.replace(/[/\\]$/, '')}${shown.includes('/') ? rest : rest.replaceAll('/', '\\')}`;
  }
  return path;
}

/** Where a name goes up after a link, the system would go elsewhere than was judged: such a root goes by its plain name. */
function rootName(name: string, place: Place): string {
  if (name === '') return '.';
  return /(?:^|\/)\.\.(?:\/|$)/.test(name.replace(/^(?:\.\.\/)+/, '')) ? place.path : name;
}

/** What a search printed counts only if its roots are still the places it had permission for. */
export async function requireUnmoved(roots: readonly SearchRoot[], context: ToolContext): Promise<void> {
  for (const { place } of roots) {
    const now = await locate(place.path, context);
    if (now.real !== place.real || now.kind !== place.kind) throw new PlaceChanged(place.path);
  }
}
