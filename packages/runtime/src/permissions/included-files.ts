import { dirname, resolve } from 'node:path';
import { isWild, matchedNames } from './wildcards.js';

/** How the files of a program name others that are read as a part of them. */
const inclusions: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    'make gmake': /^[ ]*(?:-|s)?include[ \t]+([^\n#]+)/gm,
    just: /^[ ]*(?:import|mod)\??[ \t]+(?:\w+[ \t]+)?['"]?([^'"\s]+)/gm,
    'docker podman': /([\w./-]+\.(?:ya?ml|env))\b/g,
    'task go-task': /([\w./-]+\.ya?ml)\b/g,
    yarn: /^[ ]*yarn-?[pP]ath:?[ \t]+['"]?([^'"\s]+)/gm,
  }).flatMap(([programs, shape]) => programs.split(' ').map((program) => [program, shape] as const)),
);

/**
 * The files that these files say to read as well, and those that they name in turn. Names that are known only when the
 * program runs are not followed.
 */
export async function includedFiles(
  program: string,
  paths: readonly string[],
  textOf: (path: string) => Promise<string | undefined>,
): Promise<readonly string[]> {
  const shape = inclusions.get(program);
  if (!shape) return [];
  const known = new Set(paths);
  const roots = new Map(paths.map((path) => [path, dirname(path)]));
  for (const path of known) {
    if (known.size >= mostFiles) break;
    // Make looks from where it stands, and so do the others from their first file.
    const root = roots.get(path) ?? dirname(path);
    for (const name of namesIn((await textOf(path)) ?? '', shape)) {
      const found = isWild(name) ? await matchedNames(resolve(root, name)) : [resolve(root, name)];
      for (const each of [...(found ?? [])].sort().slice(0, mostFiles)) {
        known.add(each);
        if (!roots.has(each)) roots.set(each, root);
      }
    }
  }
  return [...known].slice(paths.length);
}

const mostFiles = 100;

function namesIn(text: string, shape: RegExp): readonly string[] {
  return [...text.matchAll(shape)].flatMap(([, names = '']) => names.trim().split(/\s+/));
}
