import { createRequire } from 'node:module';
import type { OpenDatabase } from '@groundcrew/store';

/** A value that goes into or comes out of a column. */
export type SqliteValue = null | number | string | Uint8Array;

/** What we use of a prepared statement. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
  /** One row at a time, and no more than are asked for. */
  iterate(...values: SqliteValue[]): Iterable<unknown>;
  /** Whole numbers of any size. */
  setReadBigInts(isOn: boolean): void;
  /** Rows as arrays, so that columns of one name do not hide one another; Node has it from 22.16 on. */
  setReturnArrays?(isOn: boolean): void;
  columns?(): readonly { readonly name: string }[];
}

/** What we use of an open database. */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

/** What we use of `node:sqlite` and of the package with the same interface. */
export interface SqliteDriver {
  readonly DatabaseSync: new (file: string, options?: { readonly readOnly?: boolean }) => SqliteDatabase;
}

/** Opens a database for others than the store, such as a session's own tables. */
export const openDatabase: OpenDatabase = (file, options = {}) =>
  new (loadDriver().DatabaseSync)(file, options);

/** Node's own SQLite where there is one, else the native package; loaded at once, for a first answer must not wait for it. */
export function loadDriver(): SqliteDriver {
  return loadBuiltIn() ?? loadPackage();
}

function loadBuiltIn(): SqliteDriver | undefined {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule?.('node:sqlite') as SqliteDriver | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

function loadPackage(): SqliteDriver {
  // The bundler puts `__filename` in place of `import.meta.filename`, which CommonJS does not have.
  const require = createRequire(import.meta.filename);
  try {
    return require('@groundcrew/sqlite-node20') as SqliteDriver;
  } catch (error) {
    throw new Error(
      `Node ${process.versions.node} has no SQLite of its own, and the package @groundcrew/sqlite-node20 cannot be loaded. Install that package (npm install @groundcrew/sqlite-node20) or use Node 22.13 or later.`,
      { cause: error },
    );
  }
}
