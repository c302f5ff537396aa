import type { Callbacks, ParsedParams, Result } from '@groundcrew/protocol';
import { ErrorCode, RpcError } from '@groundcrew/rpc';
import { readCallback } from './callback-params.js';
import { toError } from './errors.js';

/** That this app stores what its sessions keep for themselves. */
export interface SessionFsOptions {
  /** The directory of a session's files, as the app names it: what the model and `workspacePath` say. */
  readonly sessionStatePath: string;
  /** Where sessions work unless they name another directory; the runtime's own working directory unless given. */
  readonly initialCwd?: string;
  /** How paths are written; `posix` unless given. */
  readonly conventions?: 'posix' | 'windows';
  /** The app keeps the session's tables too: its files have `sqlite`. */
  readonly sqlite?: boolean;
  /** The files of one session; called once for each session while the client lives. */
  readonly open: (sessionId: string) => SessionFiles;
}

/** What is known of a stored file or directory. */
export interface SessionFileInfo {
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  readonly size: number;
  /** ISO times. */
  readonly mtime: string;
  readonly birthtime: string;
}

/**
 * The files that an app stores for one session. What fails throws; an error whose `code` is `ENOENT` says that there is
 * no such file. Paths are whole, and begin with `sessionStatePath`.
 */
export interface SessionFiles {
  readFile(path: string): Promise<string>;
  /** Makes directories that are not there. */
  writeFile(path: string, content: string, mode?: number): Promise<void>;
  /** Makes the file, and directories, that are not there. */
  appendFile(path: string, content: string, mode?: number): Promise<void>;
  exists(path: string): Promise<boolean>;
  stat(path: string): Promise<SessionFileInfo>;
  mkdir(path: string, options: { readonly recursive: boolean; readonly mode?: number }): Promise<void>;
  readdir(path: string): Promise<readonly { readonly name: string; readonly type: 'file' | 'directory' }[]>;
  rm(path: string, options: { readonly recursive: boolean; readonly force: boolean }): Promise<void>;
  /** A file of the new name is replaced. */
  rename(from: string, to: string): Promise<void>;
  /** The session's own tables. */
  readonly sqlite?: SessionTables;
}

/** One statement on a session's tables. */
export type SessionStatement = Omit<ParsedParams<Callbacks['sessionFs.sqliteQuery']>, 'sessionId'>;

/** What came of a statement. */
export interface SessionRows {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly rowsAffected: number;
  readonly lastInsertRowid?: number;
}

/** A session's own database, where the app keeps it. What fails throws, and the model reads why. */
export interface SessionTables {
  query(statement: SessionStatement): Promise<SessionRows | undefined>;
  /** All statements or none. */
  transaction(statements: readonly SessionStatement[]): Promise<readonly SessionRows[]>;
  exists(): Promise<boolean>;
}

/** Answers the runtime's requests for files of sessions. */
export class SessionFilesAnswers {
  private readonly opened = new Map<string, SessionFiles>();

  constructor(private readonly options: SessionFsOptions) {}

  /** A failure of a file is an answer; one of a table is an error. */
  async answer(method: string, params: unknown): Promise<unknown> {
    if (!isFileCallback(method)) throw new RpcError(ErrorCode.methodNotFound, `Unhandled method ${method}`);
    const parsed = readCallback(method, params);
    if (!parsed.success) throw new RpcError(ErrorCode.invalidParams, `${method}: ${parsed.reason}`);
    const { sessionId } = parsed.data as { readonly sessionId: string };
    const files = this.opened.get(sessionId) ?? this.options.open(sessionId);
    this.opened.set(sessionId, files);
    // The table pairs each name with its own answer; which one this is, is known only now.
    return (answers[method] as Answer<FileCallback>)(parsed.data as never, files);
  }
}

type FileCallback = Extract<keyof Callbacks, `sessionFs.${string}`>;

type Answer<K extends FileCallback> = (
  params: ParsedParams<Callbacks[K]>,
  files: SessionFiles,
) => Promise<Result<Callbacks[K]>>;

const answers: { readonly [K in FileCallback]: Answer<K> } = {
  'sessionFs.appendFile': ({ path, content, mode }, files) =>
    attempt(() => files.appendFile(path, content, mode)),
  'sessionFs.exists': async ({ path }, files) => ({ exists: await files.exists(path) }),
  'sessionFs.mkdir': ({ path, recursive = false, mode }, files) =>
    attempt(() => files.mkdir(path, { recursive, ...(mode !== undefined && { mode }) })),
  'sessionFs.readFile': ({ path }, files) =>
    files.readFile(path).then(
      (content) => ({ content }),
      (thrown: unknown) => ({ content: '', error: faultOf(thrown) }),
    ),
  'sessionFs.readdir': ({ path }, files) =>
    files.readdir(path).then(
      (entries) => ({ entries: entries.map(({ name }) => name) }),
      (thrown: unknown) => ({ entries: [], error: faultOf(thrown) }),
    ),
  'sessionFs.readdirWithTypes': ({ path }, files) =>
    files.readdir(path).then(
      (entries) => ({ entries: entries.map(({ name, type }) => ({ name, type })) }),
      (thrown: unknown) => ({ entries: [], error: faultOf(thrown) }),
    ),
  'sessionFs.rename': ({ src, dest }, files) => attempt(() => files.rename(src, dest)),
  'sessionFs.rm': ({ path, recursive = false, force = false }, files) =>
    attempt(() => files.rm(path, { recursive, force })),
  'sessionFs.sqliteExists': async (_params, files) => ({ exists: await tablesOf(files).exists() }),
  'sessionFs.sqliteQuery': async ({ sessionId: _, ...statement }, files) =>
    wireRows(await tablesOf(files).query(statement)),
  'sessionFs.sqliteTransaction': ({ statements }, files) =>
    tablesOf(files)
      .transaction(statements)
      .then(
        (results) => ({ results: results.map(wireRows) }),
        (thrown: unknown) => ({
          results: [],
          error: { errorClass: 'fatal', message: toError(thrown).message },
        }),
      ),
  'sessionFs.stat': ({ path }, files) =>
    files.stat(path).then(
      (info) => info,
      (thrown: unknown) => ({ ...nowhere, error: faultOf(thrown) }),
    ),
  'sessionFs.writeFile': ({ path, content, mode }, files) =>
    attempt(() => files.writeFile(path, content, mode)),
};

const nowhere = { isFile: false, isDirectory: false, size: 0, mtime: '', birthtime: '' };

async function attempt(work: () => Promise<void>) {
  try {
    await work();
    return null;
  } catch (thrown) {
    return faultOf(thrown);
  }
}

function faultOf(thrown: unknown) {
  const error: Error & { readonly code?: unknown } = toError(thrown);
  return { code: error.code === 'ENOENT' ? 'ENOENT' : 'UNKNOWN', message: error.message };
}

function tablesOf({ sqlite }: SessionFiles): SessionTables {
  if (!sqlite) throw new RpcError(ErrorCode.internal, 'This app keeps no tables of sessions');
  return sqlite;
}

function wireRows(result: SessionRows | undefined) {
  const { columns = [], rows = [], rowsAffected = 0, lastInsertRowid } = result ?? {};
  return {
    columns: [...columns],
    rows: rows.map((row) => ({ ...row })),
    rowsAffected,
    ...(lastInsertRowid !== undefined && { lastInsertRowid }),
  };
}

function isFileCallback(method: string): method is FileCallback {
  return Object.hasOwn(answers, method);
}
