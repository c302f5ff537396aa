import { StoreError } from '@groundcrew/store';
import type { SqliteDatabase } from './driver.js';
import { applicationId, migrationSteps } from './schema.js';

/** Where to migrate to; tests bring their own steps. */
export interface Migration {
  readonly file: string;
  readonly steps?: readonly string[];
}

/** Brings the store to the newest version in one transaction; a store of a newer version, or a foreign file, is refused untouched. */
export function migrate(database: SqliteDatabase, { file, steps = migrationSteps }: Migration): void {
  if (versionOf(database, { file, steps }) === steps.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = versionOf(database, { file, steps });
    for (const step of steps.slice(version)) database.exec(step);
    database.exec(`PRAGMA application_id = ${applicationId}`);
    database.exec(`PRAGMA user_version = ${steps.length}`);
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

/** The store's version, 0 for an empty file; throws, having changed nothing, for a newer or a foreign one. */
export function versionOf(database: SqliteDatabase, { file, steps = migrationSteps }: Migration): number {
  const { version, owner, tables } = readIdentity(database);
  const isEmpty = version === 0 && owner === 0 && tables.length === 0;
  if (isEmpty) return 0;
  if (owner !== applicationId) {
    throw new StoreError(
      'damaged',
      `${file} is not a Groundcrew session store; move it away or choose another home.`,
    );
  }
  if (version > steps.length) throw newerSchema(file, { version, known: steps.length });
  return version;
}

/** Reads the identity of a database: its application id, its version and its tables. */
export function readIdentity(database: SqliteDatabase): {
  readonly owner: number;
  readonly version: number;
  readonly tables: readonly string[];
} {
  const rows = database.prepare('SELECT name FROM sqlite_schema').all() as { readonly name: string }[];
  return {
    owner: readPragma(database, 'application_id'),
    version: readPragma(database, 'user_version'),
    tables: rows.map(({ name }) => name),
  };
}

/** Throws `newer_schema` when a newer version migrated the store while this one had it open. */
export function requireVersion(version: number, file: string): void {
  if (version > migrationSteps.length) throw newerSchema(file, { version, known: migrationSteps.length });
}

function newerSchema(file: string, { version, known }: { version: number; known: number }): StoreError {
  const reason = `has version ${version}, and this Groundcrew knows versions up to ${known}`;
  const message = `The session store ${file} ${reason}. Update Groundcrew to open it.`;
  return new StoreError('newer_schema', message);
}

function readPragma(database: SqliteDatabase, name: 'user_version' | 'application_id'): number {
  const row = database.prepare(`PRAGMA ${name}`).get() as Readonly<Record<typeof name, number>>;
  return row[name];
}
