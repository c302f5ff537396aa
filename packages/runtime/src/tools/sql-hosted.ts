import type { HostedFiles, HostedRows, HostedStatement } from '../workspace/hosted-files.js';
import {
  isReadingPragma,
  kindOf,
  listed,
  rowsText,
  type StatementKind,
  schemaOfTodos,
  writesTodos,
} from './sql-script.js';
import { type SqlStatement, splitStatements } from './sql-statements.js';

/** What came of a script on tables that a client keeps. */
interface HostedOutcome {
  readonly text: string;
  /** How many statements changed the todos. */
  readonly todoChanges: number;
}

/** Runs statements on tables that a client keeps, one after the other up to the first that fails; rejects with its reason. */
export async function runHosted(
  script: string,
  tables: HostedFiles,
  progress: { changed(): void; readonly signal: AbortSignal },
): Promise<HostedOutcome> {
  const statements = splitStatements(script);
  if (statements.length === 0) throw new Error('no statement was given');
  for (const statement of statements) requireAvailable(statement);
  for (const query of splitStatements(schemaOfTodos()))
    await tables.query({ query: query.sql.trim(), queryType: 'exec' }, progress.signal);
  const outcomes: { keyword: string; text: string }[] = [];
  let todoChanges = 0;
  for (const group of groupsOf(statements)) {
    const hosted = group.statements.map(hostedStatement);
    const [first] = hosted;
    const results =
      group.isTransaction || !first
        ? await tables.transaction(hosted, progress.signal)
        : [await tables.query(first, progress.signal)];
    for (const [index, statement] of group.statements.entries()) {
      const { keyword } = statement;
      outcomes.push({ keyword, text: outcomeText(statement, results[index] ?? nothing) });
      if (!writesTodos(statement)) continue;
      todoChanges += 1;
      progress.changed();
    }
  }
  const [only] = outcomes;
  return { text: outcomes.length === 1 && only ? only.text : listed(outcomes), todoChanges };
}

const nothing: HostedRows = { rows: [], columns: [], rowsAffected: 0 };

/** What reaches other files is refused here, whatever the client's database would say. */
function requireAvailable({ sql, keyword }: SqlStatement): void {
  if (kindOf(keyword) === undefined || keyword === 'SAVEPOINT' || keyword === 'RELEASE')
    throw new Error(`${keyword} is not available in the session's database`);
  if (keyword === 'PRAGMA' && !isReadingPragma(sql))
    throw new Error("this PRAGMA is not available in the session's database");
}

interface Group {
  readonly isTransaction: boolean;
  readonly statements: readonly SqlStatement[];
}

/** A transaction is one request: between two requests the client's database belongs to others too. */
function groupsOf(statements: readonly SqlStatement[]): readonly Group[] {
  const groups: Group[] = [];
  let open: SqlStatement[] | undefined;
  for (const statement of statements) {
    const { keyword } = statement;
    if (keyword === 'BEGIN' && !open) open = [];
    else if (isCommit(keyword) && open) {
      groups.push({ isTransaction: true, statements: open });
      open = undefined;
    } else if (keyword === 'ROLLBACK' && open) open = undefined;
    else if (keyword === 'BEGIN' || isCommit(keyword) || keyword === 'ROLLBACK')
      throw new Error(
        `${keyword} does not fit: transactions begin and end in one call, and not in one another`,
      );
    else if (open) open.push(statement);
    else groups.push({ isTransaction: false, statements: [statement] });
  }
  if (open)
    throw new Error(
      'the transaction was not committed in the call that began it, and nothing of it was done',
    );
  return groups;
}

function isCommit(keyword: string): boolean {
  return keyword === 'COMMIT' || keyword === 'END';
}

function hostedStatement({ sql, keyword }: SqlStatement): HostedStatement {
  const query = sql.trim();
  if (hasRows({ sql, keyword })) return { query, queryType: 'query' };
  const kind = changeOf({ sql, keyword });
  return { query, queryType: kind === 'insert' || kind === 'updated' || kind === 'deleted' ? 'run' : 'exec' };
}

type Worded = Pick<SqlStatement, 'sql' | 'keyword'>;

function hasRows(statement: Worded): boolean {
  const kind = changeOf(statement);
  return kind === 'query' || kind === 'pragma' || /\bRETURNING\b/i.test(statement.sql);
}

/** A `WITH` may go before a query as well as before a change. */
function changeOf({ sql, keyword }: Worded): StatementKind | undefined {
  const kind = kindOf(keyword);
  if (kind !== 'with') return kind;
  const verb = /\b(INSERT|REPLACE|UPDATE|DELETE)\b/i.exec(sql)?.[0].toUpperCase();
  return verb ? kindOf(verb) : 'query';
}

function outcomeText(statement: SqlStatement, result: HostedRows): string {
  const { rows, columns, rowsAffected, lastInsertRowid } = result;
  const kind = changeOf(statement);
  if (hasRows(statement)) {
    const names = columns.length > 0 ? columns : Object.keys(rows[0] ?? {});
    return rowsText(
      names,
      rows.map((row) => names.map((name) => row[name])),
    );
  }
  if (kind === 'insert') {
    const id = lastInsertRowid == null ? '' : ` Last inserted row ID: ${lastInsertRowid}.`;
    return `${rowsAffected} row(s) inserted.${id}`;
  }
  if (kind === 'updated' || kind === 'deleted') return `${rowsAffected} row(s) ${kind}.`;
  return kind === 'define' ? 'Schema operation completed successfully.' : 'Statement executed successfully.';
}
