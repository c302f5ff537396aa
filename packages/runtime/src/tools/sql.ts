import { mkdirSync } from 'node:fs';
import { JobStopped } from '../exec/workers.js';
import type { HostedFiles } from '../workspace/hosted-files.js';
import { sessionDatabaseIn } from '../workspace/todos.js';
import { defineTool } from './define-tool.js';
import { text } from './fields.js';
import { type Tool, type ToolContext, ToolFailure, type ToolResult } from './tool.js';

/** A session's own tables: its todos, and whatever the model wants to keep in order. */
export function sqlTool(): Tool {
  return defineTool({
    name: 'sql',
    description: `Runs SQLite statements on the session's own database. Keep your todo list there: todos(id, title, description, status, created_at, updated_at) with status pending, in_progress, done or blocked, and todo_deps(todo_id, depends_on). You may create further tables. A call may take ${seconds} s.`,
    changesNothing: true,
    fields: {
      description: text('What the statements do, in a few words.'),
      query: text('One or more SQLite statements, separated by semicolons.'),
    },
    intention: ({ description }) => description,
    isFree: true,
    prepare: ({ query }, context) => ({
      type: 'run',
      run: (signal) => execute(query, context, signal),
    }),
  });
}

const seconds = 10;

/** In a worker: a join of a few tables could otherwise hold up every session. */
async function execute(query: string, context: ToolContext, signal: AbortSignal): Promise<ToolResult> {
  if (query.length > longestScript)
    throw sqlFailure(`the script has ${query.length} characters; at most ${longestScript} run in one call`);
  const tables = context.sync?.tables;
  if (tables) return executeHosted(query, tables, { context, signal });
  mkdirSync(context.sessionDirectory, { recursive: true, mode: 0o700 });
  const file = sessionDatabaseIn(context.sessionDirectory);
  const outcome = await context.jobs
    .run('sql', { file, query }, { milliseconds: seconds * 1000 }, signal)
    .catch((error: unknown) => {
      throw error instanceof JobStopped ? stopped(error) : error;
    });
  for (let count = 0; count < outcome.todoChanges; count += 1)
    context.notify({ type: 'session.todos_changed', data: {} });
  if (outcome.isFailure) throw new ToolFailure(outcome.text);
  return { type: 'success', text: outcome.text };
}

async function executeHosted(
  query: string,
  tables: HostedFiles,
  { context, signal }: { readonly context: ToolContext; readonly signal: AbortSignal },
): Promise<ToolResult> {
  const { runHosted } = await import('./sql-hosted.js');
  const changed = () => context.notify({ type: 'session.todos_changed', data: {} });
  const { text: output } = await runHosted(query, tables, { changed, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw sqlFailure(error instanceof Error ? error.message : String(error));
  });
  return { type: 'success', text: output };
}

const longestScript = 1024 * 1024;

/** What a statement had changed that was not yet committed, SQLite takes back when the file is next opened. */
function stopped({ message, reason }: JobStopped): ToolFailure {
  const advice =
    reason === 'time' || reason === 'memory'
      ? ' Ask for less at once: fewer tables in a join, a WHERE, a LIMIT.'
      : '';
  return sqlFailure(`${message}; statements before it are kept, it changed nothing.${advice}`);
}

function sqlFailure(reason: string): ToolFailure {
  return new ToolFailure(`SQL Error: Error: ${reason}`);
}
