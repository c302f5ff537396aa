import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';

/** The first program of that name in these directories, as a shell finds it: a directory of the name is none. */
export function findExecutable(name: string, directories: readonly string[]): string | undefined {
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

/** Whether a path leads to a file that this user may run. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not ours to run.
    return false;
  }
}
