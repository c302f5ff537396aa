import type { Database, OpenDatabase, Statement } from '@groundcrew/store';
import type { SqlOutcome } from '../exec/worker-jobs.js';
import { type SqlStatement, splitStatements } from './sql-statements.js';

/** Runs statements on a session's database, one after the other up to the first that fails. Only for workers: it may take for ever. */
export function runScript(
  { file, query: script }: { readonly file: string; readonly query: string },
  open: OpenDatabase,
): SqlOutcome {
  const run = new ScriptRun(open);
  try {
    return { text: run.execute(script, file), todoChanges: run.todoChanges, isFailure: false };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { text: `SQL Error: Error: ${reason}`, todoChanges: run.todoChanges, isFailure: true };
  }
}

class ScriptRun {
  todoChanges = 0;

  constructor(private readonly open: OpenDatabase) {}

  execute(script: string, file: string): string {
    const statements = splitStatements(script);
    const [only] = statements;
    if (!only) throw new Error('no statement was given');
    if (statements.length > mostStatements)
      throw new Error(
        `${statements.length} statements were given; at most ${mostStatements} run in one call`,
      );
    const database = prepared(this.open(file));
    try {
      const outcomes = statements.map((statement) => ({
        keyword: statement.keyword,
        text: this.#run(statement, database),
      }));
      if (rollBack(database)) throw new Error(notCommitted);
      return whole(statements.length === 1 ? (outcomes[0]?.text ?? '') : listed(outcomes));
    } finally {
      rollBack(database);
      database.close();
    }
  }

  #run(statement: SqlStatement, database: Database): string {
    const { sql, keyword } = statement;
    const kind = kindOf(keyword);
    if (!kind) return refuse(statement, database);
    requireEnd(statement, database);
    const output = runs[kind](sql, database);
    if (writesTodos(statement)) this.todoChanges += 1;
    return output;
  }
}

/** What was too long is said to be: a model must not take a part for all. */
function whole(text: string): string {
  if (text.length <= 2 * mostCharacters) return text;
  return `${text.slice(0, 2 * mostCharacters)}\n\n(The answer was longer and was cut here.)`;
}

/** More than this is no script that a model wrote. */
const mostStatements = 1000;

const notCommitted = 'the transaction was not committed in the call that began it, and was rolled back';

function prepared(database: Database): Database {
  try {
    database.exec(schema);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A database that only this session has stays small; 16 MB hold more todos than a user has. */
const schema = `
PRAGMA busy_timeout = 1000;
PRAGMA foreign_keys = ON;
PRAGMA trusted_schema = OFF;
PRAGMA max_page_count = 4096;
PRAGMA temp_store = MEMORY;
PRAGMA hard_heap_limit = 134217728;
${schemaOfTodos()}`;

/** The tables of todos, which every session has. */
export function schemaOfTodos(): string {
  return `
CREATE TABLE IF NOT EXISTS todos (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  description TEXT,
  status TEXT DEFAULT 'pending' CHECK(status IN ('pending', 'in_progress', 'done', 'blocked')),
  created_at TEXT DEFAULT (datetime('now')),
  updated_at TEXT DEFAULT (datetime('now'))
);
CREATE TABLE IF NOT EXISTS todo_deps (
  todo_id TEXT NOT NULL,
  depends_on TEXT NOT NULL,
  PRIMARY KEY (todo_id, depends_on),
  FOREIGN KEY (todo_id) REFERENCES todos(id),
  FOREIGN KEY (depends_on) REFERENCES todos(id)
);`;
}

/** Ends a transaction that is still open: the file would stay locked. False when there was none. */
function rollBack(database: Database): boolean {
  try {
    database.exec('ROLLBACK');
    return true;
  } catch {
    // Nothing is left to be ended.
    return false;
  }
}

/** Throws SQLite's own error for a statement that it cannot parse; one that it can parse is not allowed here. */
function refuse({ sql, keyword }: SqlStatement, database: Database): never {
  database.prepare(sql);
  throw new Error(`${keyword} is not available in the session's database`);
}

/** A query that feeds on itself may never end, and nothing could stop it: SQLite names it in its plan, but not in a trigger's. */
function requireEnd({ sql, keyword, words }: SqlStatement, database: Database): void {
  if (kindOf(keyword) === 'control' || keyword === 'EXPLAIN' || keyword === 'PRAGMA') return;
  const isStored = keyword === 'CREATE' && (words.includes('TRIGGER') || words.includes('VIEW'));
  if (isStored && words.includes('WITH')) throw new Error('WITH is not available in views and triggers');
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as readonly { readonly detail: string }[];
  if (plan.some(({ detail }) => detail.includes('RECURSIVE'))) {
    throw new Error("recursive queries are not available in the session's database");
  }
}

type Run = (sql: string, database: Database) => string;

/** More than this no model reads. */
const mostRows = 1000;
const mostCharacters = 1024 * 1024;

const query: Run = (sql, database) => {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  statement.setReturnArrays?.(true);
  const rows: Row[] = [];
  let characters = 0;
  for (const row of statement.iterate()) {
    if (rows.length === mostRows || characters > mostCharacters)
      return `${table(rows, statement)}\n\n(There are more rows; only the first are shown.)`;
    rows.push(row as Row);
    characters += Object.values(row as Row).reduce<number>((sum, value) => sum + sizeOf(value), 0);
  }
  return rows.length === 0 ? noRows : table(rows, statement);
};

/** An array, or from older drivers an object with a field for each name. */
type Row = readonly unknown[] | Readonly<Record<string, unknown>>;

const noRows = 'Query returned 0 rows.';

function table(rows: readonly Row[], statement: Statement): string {
  const names = statement.columns?.().map(({ name }) => name) ?? Object.keys(rows[0] ?? {});
  return rowsText(
    names,
    rows.map((row) => Object.values(row)),
  );
}

/** Rows as a model reads them. */
export function rowsText(names: readonly string[], rows: readonly (readonly unknown[])[]): string {
  if (rows.length === 0) return noRows;
  const lines = [names, names.map(() => '---'), ...rows.map((row) => row.map(cell))];
  const drawn = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  return `${rows.length} row(s) returned:\n\n${drawn}`;
}

const insert: Run = (sql, database) => {
  const statement = database.prepare(sql);
  if (/\bRETURNING\b/i.test(sql)) return query(sql, database);
  const { changes } = statement.run();
  const { id } = database.prepare('SELECT last_insert_rowid() AS id').get() as { readonly id: number };
  return `${changes} row(s) inserted. Last inserted row ID: ${id}.`;
};

const change =
  (verb: 'updated' | 'deleted'): Run =>
  (sql, database) => {
    if (/\bRETURNING\b/i.test(sql)) return query(sql, database);
    return `${database.prepare(sql).run().changes} row(s) ${verb}.`;
  };

/** May go before a query as well as before a change. */
const withClause: Run = (sql, database) => {
  const before = totalChanges(database);
  const output = query(sql, database);
  const changed = totalChanges(database) - before;
  return changed > 0 && output === noRows ? `${changed} row(s) changed.` : output;
};

function totalChanges(database: Database): number {
  return (database.prepare('SELECT total_changes() AS count').get() as { readonly count: number }).count;
}

const define: Run = (sql, database) => {
  database.prepare(sql).run();
  return 'Schema operation completed successfully.';
};

const control: Run = (sql, database) => {
  database.prepare(sql).run();
  return 'Statement executed successfully.';
};

/** Only what is read of the schema: other pragmas reach beyond the database or change how it works. */
const pragma: Run = (sql, database) => {
  if (!isReadingPragma(sql)) throw new Error("this PRAGMA is not available in the session's database");
  return query(sql, database);
};

/** Whether a PRAGMA only reads of the schema. */
export function isReadingPragma(sql: string): boolean {
  return /^\s*PRAGMA\s+(table_info|table_xinfo|table_list|index_list|index_info|foreign_key_list|foreign_key_check|integrity_check)\b/i.test(
    sql,
  );
}

/** What statements do, as far as their results differ. */
export type StatementKind =
  | 'query'
  | 'with'
  | 'pragma'
  | 'insert'
  | 'updated'
  | 'deleted'
  | 'define'
  | 'control';

const runs: Readonly<Record<StatementKind, Run>> = {
  query,
  with: withClause,
  pragma,
  insert,
  updated: change('updated'),
  deleted: change('deleted'),
  define,
  control,
};

/** What a statement may begin with; undefined for ATTACH, VACUUM and others that reach other files. */
export function kindOf(keyword: string): StatementKind | undefined {
  return Object.hasOwn(kinds, keyword) ? kinds[keyword] : undefined;
}

const kinds: Readonly<Record<string, StatementKind>> = {
  SELECT: 'query',
  VALUES: 'query',
  WITH: 'with',
  EXPLAIN: 'query',
  PRAGMA: 'pragma',
  INSERT: 'insert',
  REPLACE: 'insert',
  UPDATE: 'updated',
  DELETE: 'deleted',
  CREATE: 'define',
  DROP: 'define',
  ALTER: 'define',
  REINDEX: 'control',
  ANALYZE: 'control',
  BEGIN: 'control',
  COMMIT: 'control',
  END: 'control',
  ROLLBACK: 'control',
  SAVEPOINT: 'control',
  RELEASE: 'control',
};

/** Whether a statement changes the todos. */
export function writesTodos({ sql, keyword }: SqlStatement): boolean {
  const isWriting = ['INSERT', 'REPLACE', 'UPDATE', 'DELETE', 'WITH', 'DROP', 'ALTER'].includes(keyword);
  return (
    isWriting &&
    (keyword !== 'WITH' || /\b(INSERT|UPDATE|DELETE)\b/i.test(sql)) &&
    /\btodo(s|_deps)\b/i.test(sql)
  );
}

function sizeOf(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 1;
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (value instanceof Uint8Array)
    return `x'${Buffer.from(value.subarray(0, mostCharacters)).toString('hex')}'`;
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.slice(0, mostCharacters).replaceAll('|', '\\|').replace(/\r?\n/g, ' ');
}

/** What came of several statements. */
export function listed(outcomes: readonly { readonly keyword: string; readonly text: string }[]): string {
  const items = outcomes.map(
    ({ keyword, text: output }, index) => `${index + 1}. ${keyword}\n   ${output.replaceAll('\n', '\n   ')}`,
  );
  return `Executed ${outcomes.length} statement(s):\n\n${items.join('\n\n')}`;
}
