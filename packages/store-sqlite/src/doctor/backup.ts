import { closeSync, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError, syncPath } from '@groundcrew/store';
import { loadDriver, type SqliteDatabase } from '../driver.js';
import { storeFault } from '../faults.js';
import { versionOf } from '../migrate.js';
import { isProblem, type StoreContents } from './finding.js';
import { inspectDatabase } from './inspect.js';

/** What is copied where. */
export interface BackupOptions {
  readonly file: string;
  readonly target: string;
  /** Replaces a file that is there. */
  readonly overwrite?: boolean;
}

/** A backup would replace something that was not to be replaced. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}

/**
 * Copies a store, also one in use, as it is at one moment. The copy is read through before it gets its name, so that a
 * file of that name is whole. Throws BackupRefused or StoreError.
 */
export function backupStore({ file, target, overwrite = false }: BackupOptions): StoreContents {
  refuseTarget({ file, target, overwrite });
  const draft = `${target}.partial-${process.pid}`;
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    copyDatabase(file, draft);
    const contents = examine(draft, file);
    syncPath(draft);
    renameSync(draft, target);
    syncPath(dirname(target));
    return contents;
  } catch (error) {
    rmSync(draft, { force: true });
    throw explain(error, { file, target });
  }
}

/** What SQLite complains of is the store, unless the disk of the copy is full or cannot be written. */
function explain(error: unknown, { file, target }: Pick<BackupOptions, 'file' | 'target'>): StoreError {
  const fault = storeFault(error, target);
  const isOfTarget = fault.kind === 'full' || fault.kind === 'read_only';
  const isOfSqlite = error instanceof Error && 'errcode' in error;
  return isOfSqlite && !isOfTarget ? storeFault(error, file) : fault;
}

function refuseTarget({ file, target, overwrite }: Required<BackupOptions>): void {
  const there = statSync(target, { throwIfNoEntry: false });
  if (!there) return;
  const store = statSync(file);
  if (there.ino === store.ino && there.dev === store.dev)
    throw new BackupRefused(`${target} is the session store itself`);
  if (!there.isFile()) throw new BackupRefused(`${target} is not a file`);
  if (!overwrite) throw new BackupRefused(`${target} is there already; --force replaces it`);
  // Its log would be taken for that of the copy.
  if (existsSync(`${target}-wal`)) throw new BackupRefused(`${target} is a database in use`);
}

function copyDatabase(file: string, draft: string): void {
  let database: SqliteDatabase | undefined;
  try {
    database = new (loadDriver().DatabaseSync)(file, { readOnly: true });
    database.exec('PRAGMA busy_timeout = 2000');
    versionOf(database, { file });
    database.prepare('VACUUM INTO ?').run(draft);
  } finally {
    database?.close();
  }
}

function examine(draft: string, file: string): StoreContents {
  const { findings, contents } = inspectDatabase(draft);
  const problem = findings.find(isProblem);
  if (problem) {
    const detail = problem.message.replaceAll(draft, 'the copy').replace(/\.$/, '');
    throw new StoreError(
      'damaged',
      `The session store ${file} is damaged (${detail}). Run \`groundcrew doctor\`.`,
    );
  }
  return contents ?? { version: 0, sessions: 0, records: 0 };
}
