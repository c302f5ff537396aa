import { join } from 'node:path';
import { removedFilesIn } from '@groundcrew/runtime';
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from '@groundcrew/store-sqlite';

/** Opens the store of a home. */
export function openStore(
  directory: string,
  options: Pick<SqliteStoreOptions, 'onWarning' | 'failpoint' | 'searchElsewhere'>,
): SqliteStore {
  return openSqliteStore({
    file: storeFile(directory),
    runDirectory: join(directory, 'run'),
    files: removedFilesIn(directory),
    ...options,
  });
}

/** Where a home keeps its sessions. */
export function storeFile(directory: string): string {
  return join(directory, 'groundcrew.db');
}
