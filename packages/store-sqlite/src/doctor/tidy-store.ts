import type { SessionFiles } from '@groundcrew/store';
import { Connection } from '../connection.js';
import { DeletionMarks, type MarkedSession } from '../deletion-marks.js';
import { loadDriver } from '../driver.js';
import { isBusy, storeFault } from '../faults.js';
import { openSqliteStore } from '../store.js';
import type { StorePlace } from './finding.js';

/** The ids of all sessions of a sound store, those aside that are being deleted. */
export function sessionIds(file: string): ReadonlySet<string> {
  const database = new (loadDriver().DatabaseSync)(file, { readOnly: true });
  try {
    database.exec('PRAGMA busy_timeout = 2000');
    const rows = new Connection(database, file).all<{ readonly id: string }>('SELECT id FROM session');
    return new Set(rows.map(({ id }) => id));
  } finally {
    database.close();
  }
}

/** Completes interrupted deletions. Returns a line for each. */
export async function finishDeletions(place: StorePlace, files: SessionFiles): Promise<readonly string[]> {
  const problems: string[] = [];
  const store = openSqliteStore({ ...place, files, onWarning: (message) => problems.push(message) });
  try {
    await store.erased();
  } finally {
    await store.close();
  }
  const isDone = problems.length === 0 && new DeletionMarks(place.runDirectory).list().length === 0;
  return isDone ? ['Finished deletions that were broken off.'] : problems;
}

/** Deletes the files of sessions that a recovery has left out because their deletion had begun. */
export async function finishRecovered(
  deleted: readonly MarkedSession[],
  { place, files }: { readonly place: StorePlace; readonly files: SessionFiles },
): Promise<void> {
  const ids = sessionIds(place.file);
  for (const { number, id } of deleted) {
    if (id !== '' && !ids.has(id)) files.detach({ number, id });
    await files.discard(number);
  }
  new DeletionMarks(place.runDirectory).clear(deleted.map(({ number }) => number));
}

/** Rewrites a store that an earlier version made: from then on it gives space back; says what came of it. */
export function rewriteStore({ file }: StorePlace): readonly string[] {
  const database = new (loadDriver().DatabaseSync)(file);
  try {
    database.exec('PRAGMA busy_timeout = 2000; PRAGMA secure_delete = ON');
    const connection = new Connection(database, file);
    const before = connection.size;
    connection.rewrite();
    connection.checkpoint('TRUNCATE');
    const saved = Math.max(0, before - connection.size);
    return [`Rewrote ${file}; it takes ${Math.round(saved / 1024)} KB less.`];
  } catch (error) {
    const reason = isBusy(error) ? 'a runtime uses it' : storeFault(error, file).message;
    return [`${file} was not rewritten: ${reason}. It can be used as it is.`];
  } finally {
    database.close();
  }
}
