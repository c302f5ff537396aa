import { rmSync } from 'node:fs';
import { type CutSession, type RepairedSession, StoreError } from '@groundcrew/store';
import { DeletionMarks } from '../deletion-marks.js';
import { loadDriver, type SqliteDatabase } from '../driver.js';
import { isBusy, storeFault } from '../faults.js';
import { writeLockHolder } from '../lock-holder.js';
import { recoveringFile, type StorePlace } from './finding.js';
import { countRuntimes } from './inspect-files.js';
import { PageImage } from './page-image.js';
import { type Rebuilt, rebuildStore } from './rebuild.js';
import { replaceStore } from './replace.js';

/** How a store is recovered. */
export interface RecoverOptions extends StorePlace {
  /** Undefined when too little is left to say which session it was. */
  repair(cut: CutSession): RepairedSession | undefined;
}

/** What became of a damaged store. */
export interface Recovery extends Rebuilt {
  /**
   * The old file, moved aside and otherwise as it was; its log lies beside it. Absent when a deletion had begun: the old file
   * held what was to be deleted.
   */
  readonly keptAs?: string;
}

/**
 * Makes a new store of all that can be read of a damaged one, and puts it in its place. Where SQLite cannot read a table,
 * rows are read one by one. A session with damage in the middle keeps what came before; one whose deletion had begun is not there
 * any more. Throws StoreError `in_use` while a runtime uses the home.
 */
export function recoverStore({ repair, ...place }: RecoverOptions): Recovery {
  const { file } = place;
  const runtimes = countRuntimes(place);
  if (runtimes > 0) throw inUse(file, runtimes);
  const lock = lockStore(file);
  const image = new PageImage(file);
  try {
    const marked = new DeletionMarks(place.runDirectory).list();
    const rebuilt = rebuildStore({ image, target: recoveringFile(file), marked, repair });
    if (!lock && rebuilt.sessions === 0 && rebuilt.deleted.length === 0) throw nothingFound(file);
    const keptAs = replaceStore(file, recoveringFile(file));
    if (rebuilt.deleted.length === 0) return { ...rebuilt, keptAs };
    for (const suffix of ['', '-wal', '-shm']) rmSync(keptAs + suffix, { force: true });
    return rebuilt;
  } catch (error) {
    rmSync(recoveringFile(file), { force: true });
    throw storeFault(error, file);
  } finally {
    lock?.close();
    image.close(); // after the lock, which closing a file handle would drop
  }
}

/** Keeps writers out; undefined for a file that cannot be written because SQLite does not open it. */
function lockStore(file: string): SqliteDatabase | undefined {
  const database = new (loadDriver().DatabaseSync)(file);
  try {
    database.exec('PRAGMA busy_timeout = 2000; BEGIN IMMEDIATE');
    return database;
  } catch (error) {
    database.close();
    if (!isBusy(error)) return undefined;
    const holder = writeLockHolder(file) ?? 'another process';
    throw new StoreError('busy', `The session store ${file} is locked by ${holder}. Stop it and try again.`);
  }
}

/** It may be another program's file. */
function nothingFound(file: string): StoreError {
  const message = `Nothing in ${file} looks like a session, so it was left alone. Move it away to begin anew.`;
  return new StoreError('damaged', message);
}

function inUse(file: string, runtimes: number): StoreError {
  const owner = runtimes === 1 ? 'A runtime uses' : `${runtimes} runtimes use`;
  return new StoreError('in_use', `${owner} the session store ${file}. Stop it and try again.`);
}
