import { existsSync, linkSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncPath } from '@groundcrew/store';

/**
 * Puts a file that nobody has open in the place of a store and returns where the old one is now. There is always a file
 * in that place; the old log goes first, lest it be taken for that of the new file.
 */
export function replaceStore(file: string, replacement: string): string {
  syncPath(replacement);
  const kept = unusedName(`${file}.damaged-${new Date().toISOString().replace(/[:.]/g, '-')}`);
  linkSync(file, kept);
  for (const suffix of ['-wal', '-shm'])
    if (existsSync(file + suffix)) renameSync(file + suffix, kept + suffix);
  renameSync(replacement, file);
  syncPath(dirname(file));
  return kept;
}

function unusedName(name: string): string {
  if (!existsSync(name)) return name;
  return unusedName(`${name}-2`);
}
