import { resolve } from 'node:path';
import { Refusal } from './failure.js';

/** The directories that a client names, as absolute paths. Throws Refusal as `requireFewDirectories` does. */
export function namedDirectories(paths: readonly string[], workingDirectory: string): readonly string[] {
  return requireFewDirectories(paths).map((path) => resolve(workingDirectory, path));
}

/**
 * The same paths. Each is looked up on the disk, in several places: throws Refusal when there are more than a user works in, or
 * when one is longer than a path may be.
 */
export function requireFewDirectories<T extends readonly string[] | undefined>(paths: T): T {
  if (paths && paths.length > mostDirectories)
    throw new Refusal(`At most ${mostDirectories} directories are looked at, not ${paths.length}.`);
  if (paths?.some(({ length }) => length > longestPath))
    throw new Refusal(`A path has at most ${longestPath} characters.`);
  return paths;
}

const mostDirectories = 200;
const longestPath = 4096;
