import { dirname, resolve } from 'node:path';
import { patternCovers } from '../permissions/path-patterns.js';
import { patternParts } from '../permissions/real-rules.js';
import type { Rule } from '../permissions/rules.js';
import { isWithin } from '../workspace/paths.js';
import { placeOf } from './hidden-places.js';

/** Lists the files below a root that glob patterns match; undefined when there is too much to look at. */
export type FileSearch = (root: string, globs: readonly string[]) => Promise<readonly string[] | undefined>;

/** What rules deny, as it is on the disk now. */
export interface DeniedPaths {
  readonly hidden: readonly string[];
  readonly frozen: readonly string[];
  /** Some rule means any directory there is. */
  readonly isNarrow: boolean;
  /** Rules that nothing can hold: too much would have to be searched, or hidden. */
  readonly tooWide: readonly Rule[];
}

/** Whether a rule denies paths to commands. */
export function deniesPaths({ kind, argument }: Rule): boolean {
  return argument !== null && (kind === 'path' || kind === 'read' || kind === 'write');
}

/** Looks up which files rules deny: names as they are, patterns by a search that is bounded. */
export async function findDenied(
  rules: readonly Rule[],
  where: { readonly workingDirectory: string; readonly roots: readonly string[] },
  search: FileSearch,
): Promise<DeniedPaths> {
  const found = await Promise.all(
    rules.filter(deniesPaths).map(async (rule) => ({ rule, ...(await lookUp(rule, where, search)) })),
  );
  const pathsOf = (isWrite: boolean) =>
    found.filter(({ rule }) => (rule.kind === 'write') === isWrite).flatMap(({ paths }) => paths ?? []);
  const [hidden, frozen] = [pathsOf(false), pathsOf(true)].map((paths) => [...new Set(paths)]);
  return {
    hidden: hidden ?? [],
    frozen: frozen ?? [],
    isNarrow: found.some(({ rule, isAnywhere }) => isAnywhere && rule.kind !== 'write'),
    tooWide: found.filter(({ paths }) => paths === undefined).map(({ rule }) => rule),
  };
}

/** More than this would have to be hidden one by one. */
const mostPaths = 1000;

async function lookUp(
  { argument }: Rule,
  { workingDirectory, roots }: Parameters<typeof findDenied>[1],
  search: FileSearch,
): Promise<{ readonly paths: readonly string[] | undefined; readonly isAnywhere: boolean }> {
  const pattern = argument ?? '';
  const { plain, wild } = patternParts(pattern);
  if (wild === '')
    return { paths: placeOf(resolve(workingDirectory, plain)).map(({ path }) => path), isAnywhere: false };
  const isAnywhere = plain === '/' || (plain === '' && /^(?:\*\*\/|[^/]*$)/.test(wild));
  const places = isAnywhere
    ? topmost(roots)
    : placeOf(resolve(workingDirectory, plain)).map(({ path }) => path);
  const glob = isAnywhere ? wild.replace(/^(?:\*\*\/)?/, '**/') : `/${wild}`;
  const covers = patternCovers(pattern, workingDirectory);
  const lists = await Promise.all(
    places.map(async (root) => {
      const names = await search(root, [glob, `${glob}/**`]);
      return names?.flatMap((name) => shortest(resolve(root, name), root, covers));
    }),
  );
  const paths = lists.flatMap((list) => list ?? []);
  const isTooMuch = lists.includes(undefined) || paths.length > mostPaths;
  return { paths: isTooMuch ? undefined : paths, isAnywhere };
}

function topmost(roots: readonly string[]): readonly string[] {
  const real = [...new Set(roots.flatMap(placeOf).map(({ path }) => path))];
  return real.filter((path) => !real.some((other) => other !== path && isWithin(other, path)));
}

/** The file, or the outermost directory around it that the rule means. */
function shortest(path: string, root: string, covers: (path: string) => boolean): readonly string[] {
  if (!covers(path)) return [];
  let found = path;
  for (let place = dirname(path); place !== root && isWithin(root, place); place = dirname(place))
    if (covers(place)) found = place;
  return [found];
}
