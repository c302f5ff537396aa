import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, OpenDatabase } from '@groundcrew/store';
import type { HostedFiles } from './hosted-files.js';

/** One thing to do, as far as the agent has filled it in. */
export interface Todo {
  readonly id?: string;
  readonly title?: string;
  readonly description?: string;
  readonly status?: string;
  readonly createdAt?: string;
}

/** What an agent has set out to do, and what waits for what. */
export interface Todos {
  readonly rows: readonly Todo[];
  readonly dependencies: readonly { readonly todoId: string; readonly dependsOn: string }[];
}

/** The file of a session's own tables. */
export function sessionDatabaseIn(sessionDirectory: string): string {
  return join(sessionDirectory, 'session.db');
}

/** The todo list as the session's tables say it now; empty where there are none. Only for workers: the tables are what the model made them. */
export function readTodos(sessionDirectory: string, open: OpenDatabase): Todos {
  const file = sessionDatabaseIn(sessionDirectory);
  if (!existsSync(file)) return { rows: [], dependencies: [] };
  const database = open(file, { readOnly: true });
  try {
    database.exec('PRAGMA busy_timeout = 1000');
    return todosOf(rowsOf('todos', database), rowsOf('todo_deps', database));
  } finally {
    database.close();
  }
}

/** The same from tables that a client keeps. */
export async function hostedTodos(tables: HostedFiles): Promise<Todos> {
  if (!(await tables.hasTables())) return { rows: [], dependencies: [] };
  const ask = async (query: string) => (await tables.query({ query, queryType: 'query' })).rows;
  const known = new Set(
    (await ask("SELECT name FROM sqlite_schema WHERE type = 'table'")).map(({ name }) => name),
  );
  const all = async (table: string) => (known.has(table) ? ask(`SELECT * FROM ${table}`) : []);
  return todosOf(await all('todos'), await all('todo_deps'));
}

function todosOf(todos: readonly Row[], dependencies: readonly Row[]): Todos {
  return {
    rows: todos.map(todoOf),
    dependencies: dependencies.flatMap(({ todo_id: todoId, depends_on: dependsOn }) =>
      typeof todoId === 'string' && typeof dependsOn === 'string' ? [{ todoId, dependsOn }] : [],
    ),
  };
}

type Row = Readonly<Record<string, unknown>>;

/** The agent may have dropped the table. */
function rowsOf(table: 'todos' | 'todo_deps', database: Database): readonly Row[] {
  const known = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = ?")
    .get(table);
  return known ? (database.prepare(`SELECT * FROM ${table}`).all() as readonly Row[]) : [];
}

/** Columns are what the agent made them: what is no text is left out. */
function todoOf(row: Row): Todo {
  const names = {
    id: 'id',
    title: 'title',
    description: 'description',
    status: 'status',
    createdAt: 'created_at',
  };
  return Object.fromEntries(
    Object.entries(names).flatMap(([name, column]) =>
      typeof row[column] === 'string' ? [[name, row[column]]] : [],
    ),
  );
}
