import { existsSync, linkSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncPath } from '@groundcrew/store';
import { loadDriver } from '../driver.js';
import { copyName } from '../recovery-copies.js';

/**
 * Puts a file that no process has open in the place of a store and returns where the old one is now. There is always a file
 * in that place; the old log goes first, lest it be taken for that of the new file.
 */
export function replaceStore(file: string, replacement: string): string {
  syncPath(replacement);
  const kept = copyName(file, newestSession(replacement));
  linkSync(file, kept);
  for (const suffix of ['-wal', '-shm'])
    if (existsSync(file + suffix)) renameSync(file + suffix, kept + suffix);
  renameSync(replacement, file);
  syncPath(dirname(file));
  return kept;
}

/** The number of the last session that was made before now. */
function newestSession(replacement: string): number {
  const database = new (loadDriver().DatabaseSync)(replacement, { readOnly: true });
  try {
    const found = database.prepare('SELECT coalesce(max(number), 0) AS newest FROM session').get();
    return Number((found as { readonly newest: unknown }).newest);
  } finally {
    database.close();
  }
}
