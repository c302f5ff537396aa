import type { WithFileLock } from '@groundcrew/store';
import { loadDriver, type SqliteDatabase, type SqliteDriver } from './driver.js';
import { whileBusy } from './retry.js';

/** How long another process's lock is waited for, in milliseconds. */
const longestWait = 10_000;

/** A lock that works between processes, and that the kernel drops however the process ends: SQLite's own. */
export const withFileLock: WithFileLock = (file, work) =>
  whileBusy(() => {
    const lock = takeLock(file, loadDriver());
    try {
      return work();
    } finally {
      lock.close();
    }
  }, longestWait);

/** Throws SQLite's busy error while another process has the lock. */
export function takeLock(file: string, driver: SqliteDriver): SqliteDatabase {
  const database = new driver.DatabaseSync(file);
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
