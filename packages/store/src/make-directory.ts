import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory for its owner alone, and those above it that are missing. `mkdirSync` with
 * `recursive` never returns on a file system that allows no directories, such as `/proc`, and a client may name the place.
 */
export function makeDirectory(path: string): void {
  const missing = attempt(path);
  if (!missing) return;
  if (dirname(path) === path) throw missing;
  makeDirectory(dirname(path));
  const refusal = attempt(path);
  if (refusal) throw refusal;
}

/** What is said when the directory above is not there; any other refusal is thrown. */
function attempt(path: string): NodeJS.ErrnoException | undefined {
  try {
    mkdirSync(path, { mode: 0o700 });
    return undefined;
  } catch (error) {
    const refusal = error as NodeJS.ErrnoException;
    if (refusal.code === 'EEXIST') return undefined;
    if (refusal.code === 'ENOENT') return refusal;
    throw error;
  }
}
