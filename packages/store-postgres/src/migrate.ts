import { StoreError } from '@groundcrew/store';
import type { Connection } from './connection.js';
import { isRefusal } from './faults.js';
import { type MigrationStep, migrationSteps, oldestServer } from './schema.js';

/** What a database says of its tables. */
export interface SchemaVersion {
  readonly version: number;
  /** The oldest version of the tables that a program must know to write. */
  readonly oldestWriter: number;
}

/** Throws, in words, when the server is one that this store does not work on. */
export function requireServer({ facts, address }: Connection): void {
  if (facts.version < oldestServer.version) {
    const found = Math.floor(facts.version / 10_000);
    throw new StoreError(
      'io',
      `The server ${address.name} is PostgreSQL ${found}, and Groundcrew needs ${oldestServer.name} or later. Update the server.`,
    );
  }
  if (facts.encoding !== 'UTF8')
    throw new StoreError(
      'io',
      `The database ${address.name} has the encoding ${facts.encoding}, and Groundcrew needs UTF8. Create one with ENCODING 'UTF8'.`,
    );
}

/**
 * Brings the tables to the newest version, in one transaction under a lock, so that nodes which start together do it once.
 * Tables of a newer version are left alone where older programs may still write them, and refused otherwise.
 */
export async function migrate(connection: Connection, steps = migrationSteps): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const found = await readVersion(connection);
    if (found) requireKnown(found, { connection, steps });
    if (found && found.version >= steps.length) return;
    try {
      await migrateLocked(connection, steps);
      return;
    } catch (error) {
      if (!isRefusal(error) || !madeMeanwhile.has(error.code) || attempt === 3) throw error;
    }
  }
}

/** Two transactions that make the same table for the first time: the second is refused, and finds it made. */
const madeMeanwhile: ReadonlySet<string> = new Set(['23505', '42710', '42P07', '42P06']);

/** The version of the tables; undefined when there are none. */
export async function readVersion(connection: Connection): Promise<SchemaVersion | undefined> {
  try {
    const [row] = await connection.all<SchemaVersion>({
      text: 'SELECT version, oldest_writer AS "oldestWriter" FROM gc_schema',
    });
    return row;
  } catch (error) {
    if (isRefusal(error) && noTable.has(error.code)) return undefined;
    throw error;
  }
}

/** There is no such table, or no such schema. */
const noTable: ReadonlySet<string> = new Set(['42P01', '3F000']);

/** Throws `newer_schema` when only newer programs may write. */
export function requireKnown(
  { version, oldestWriter }: SchemaVersion,
  { connection, steps = migrationSteps }: { connection: Connection; steps?: readonly MigrationStep[] },
): void {
  if (oldestWriter <= steps.length) return;
  throw new StoreError(
    'newer_schema',
    `The session store ${connection.address.name} has version ${version}, and this Groundcrew knows versions up to ${steps.length}. Update Groundcrew to open it.`,
  );
}

/** Takes one step. An optional one that the server does not support is skipped, without failing the transaction. */
async function take(connection: Connection, { sql, isOptional }: MigrationStep): Promise<void> {
  if (!isOptional) {
    await connection.all({ text: sql });
    return;
  }
  await connection.all({ text: 'SAVEPOINT gc_step' });
  try {
    await connection.all({ text: sql });
  } catch (error) {
    if (!isRefusal(error) || !notSupported.has(error.code)) throw error;
    await connection.all({ text: 'ROLLBACK TO SAVEPOINT gc_step' });
  }
}

/** A feature that the server was built without, and words that it does not know. */
const notSupported: ReadonlySet<string> = new Set(['0A000', '42601']);

async function migrateLocked(connection: Connection, steps: readonly MigrationStep[]): Promise<void> {
  const { schema } = connection.address;
  await connection.transaction(async () => {
    if (schema !== undefined) await connection.all({ text: `CREATE SCHEMA IF NOT EXISTS "${schema}"` });
    await connection.all({
      text: `CREATE TABLE IF NOT EXISTS gc_schema (
        singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton), version integer NOT NULL, oldest_writer integer NOT NULL)`,
    });
    await connection.all({ text: 'LOCK TABLE gc_schema IN ACCESS EXCLUSIVE MODE' });
    const found = await readVersion(connection);
    if (found) requireKnown(found, { connection, steps });
    const missing = steps.slice(found?.version ?? 0);
    for (const step of missing) await take(connection, step);
    const oldestWriter = Math.max(found?.oldestWriter ?? 0, ...missing.map((step) => step.oldestWriter));
    if (missing.length > 0)
      await connection.all({
        text: `INSERT INTO gc_schema (version, oldest_writer) VALUES ($1, $2)
          ON CONFLICT (singleton) DO UPDATE SET version = excluded.version, oldest_writer = excluded.oldest_writer`,
        values: [steps.length, oldestWriter],
      });
  });
}
