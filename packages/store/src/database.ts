/**
 * Opens the database in a file; makes the file unless `readOnly`. The engine knows no SQLite driver: the program of
 * its workers gives it this function. Only the session's own tables, those of the tool `sql`, are opened by it.
 */
export type OpenDatabase = (file: string, options?: { readonly readOnly?: boolean }) => Database;

/** An open SQLite database. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** A prepared statement. */
export interface Statement {
  run(): { readonly changes: number | bigint };
  get(...values: string[]): unknown;
  all(): unknown[];
  /** One row at a time, and no more than are asked for. */
  iterate(): Iterable<unknown>;
  /** Whole numbers of any size. */
  setReadBigInts(isOn: boolean): void;
  /** Rows as arrays, so that columns of one name do not hide one another; not every driver has it. */
  setReturnArrays?(isOn: boolean): void;
  columns?(): readonly { readonly name: string }[];
}
