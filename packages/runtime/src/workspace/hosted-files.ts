import type { Callbacks, Params, Result } from '@groundcrew/protocol';

/** The requests by which a client is asked for what it stores. */
export type FileCallback = Extract<keyof Callbacks, `sessionFs.${string}`>;

/** A client that stores the files of a session. */
export interface FileHost {
  ask<K extends FileCallback>(
    callback: K,
    params: Params<Callbacks[K]>,
    signal: AbortSignal,
  ): Promise<Result<Callbacks[K]>>;
}

/** Where a client keeps the files of a session, and what it can do. */
export interface HostingSettings {
  /** The directory of the session's files, as the client names it. */
  readonly statePath: string;
  readonly separator: '/' | '\\';
  /** It keeps the session's tables too. */
  readonly hasTables: boolean;
}

/** The client that stores a session's files could not do what was asked of it. */
export class HostFailure extends Error {
  override readonly name = 'HostFailure';
}

/** One statement on tables that a client keeps. */
export interface HostedStatement {
  readonly query: string;
  readonly queryType: 'exec' | 'query' | 'run';
}

/** What came of a statement. */
export type HostedRows = Result<Callbacks['sessionFs.sqliteQuery']>;

/** How long a client may take for one file. */
const patience = 30_000;
/** After this time clients get a warning that names what the session waits for. */
const noticeable = 2_000;

/** The files that a client stores for a session, by the paths it knows. Every failure is a HostFailure. */
export class HostedFiles {
  /** How many requests were answered. */
  answered = 0;
  private abandoned = new AbortController();

  constructor(
    private readonly sessionId: string,
    /** Undefined while no such client is attached. */
    private readonly host: () => FileHost | undefined,
    /** Is given what is waited for. */
    private readonly slow: (message: string) => void,
  ) {}

  /** What waits for an answer now waits no longer. */
  abandon(): void {
    this.abandoned.abort();
    this.abandoned = new AbortController();
  }

  /** Undefined when there is no such file. */
  async read(path: string): Promise<string | undefined> {
    const { content, error } = await this.ask('sessionFs.readFile', { path });
    return this.unlessAbsent(error, `read ${path}`) ? content : undefined;
  }

  async write(path: string, content: string): Promise<void> {
    const error = await this.ask('sessionFs.writeFile', { path, content, mode: 0o600 });
    this.requireNone(error, `write ${path}`);
  }

  async append(path: string, content: string): Promise<void> {
    const error = await this.ask('sessionFs.appendFile', { path, content, mode: 0o600 });
    this.requireNone(error, `write ${path}`);
  }

  async rename(src: string, dest: string): Promise<void> {
    this.requireNone(await this.ask('sessionFs.rename', { src, dest }), `rename ${src}`);
  }

  /** What is not there is no error. */
  async remove(path: string): Promise<void> {
    const error = await this.ask('sessionFs.rm', { path, recursive: true, force: true });
    this.unlessAbsent(error, `remove ${path}`);
  }

  async makeDirectory(path: string): Promise<void> {
    const error = await this.ask('sessionFs.mkdir', { path, recursive: true, mode: 0o700 });
    this.requireNone(error, `make ${path}`);
  }

  /** Undefined when there is nothing. */
  async stat(path: string): Promise<{ readonly isDirectory: boolean; readonly size: number } | undefined> {
    const { isDirectory, size, error } = await this.ask('sessionFs.stat', { path });
    return this.unlessAbsent(error, `look at ${path}`) ? { isDirectory, size } : undefined;
  }

  /** Empty when there is no such directory. */
  async list(path: string): Promise<readonly { readonly name: string; readonly isDirectory: boolean }[]> {
    const { entries, error } = await this.ask('sessionFs.readdirWithTypes', { path });
    if (!this.unlessAbsent(error, `list ${path}`)) return [];
    return entries.map(({ name, type }) => ({ name, isDirectory: type === 'directory' }));
  }

  /** Whether the session has tables already. */
  async hasTables(): Promise<boolean> {
    return (await this.ask('sessionFs.sqliteExists', {})).exists;
  }

  /** One statement on the session's tables. */
  async query(statement: HostedStatement, signal?: AbortSignal): Promise<HostedRows> {
    const result = await this.ask('sessionFs.sqliteQuery', { ...statement }, signal);
    if (result.error) throw new HostFailure(result.error.message ?? result.error.code);
    return result;
  }

  /** All statements or none. */
  async transaction(
    statements: readonly HostedStatement[],
    signal: AbortSignal,
  ): Promise<readonly HostedRows[]> {
    const request = { statements: statements.map((each) => ({ ...each })) };
    const { results, error } = await this.ask('sessionFs.sqliteTransaction', request, signal);
    const failed = error ?? results.find((each) => each.error)?.error;
    if (failed) throw new HostFailure(failed.message ?? 'the transaction failed');
    if (results.length !== statements.length)
      throw new HostFailure(
        `The client that keeps the session's tables answered ${results.length} of ${statements.length} statements: what became of the transaction is unknown`,
      );
    return results;
  }

  private async ask<K extends FileCallback>(
    callback: K,
    params: Omit<Params<Callbacks[K]>, 'sessionId'>,
    signal?: AbortSignal,
  ): Promise<Result<Callbacks[K]>> {
    const host = this.host();
    if (!host)
      throw new HostFailure(
        `No client is attached that stores the files of session ${this.sessionId}: resume it with its session file system.`,
      );
    const limit = AbortSignal.timeout(patience);
    const request = { sessionId: this.sessionId, ...params } as Params<Callbacks[K]>;
    const notice = setTimeout(() => this.slow(waitingFor(callback)), noticeable).unref();
    const { signal: abandoned } = this.abandoned;
    try {
      return await host.ask(
        callback,
        request,
        AbortSignal.any([limit, abandoned, ...(signal ? [signal] : [])]),
      );
    } catch (error) {
      signal?.throwIfAborted();
      const late = `it took longer than ${patience / 1000} s`;
      const said = error instanceof Error ? error.message : String(error);
      const reason = abandoned.aborted ? 'it did not answer while the session was closed' : said;
      throw new HostFailure(
        `The client that stores the session's files failed at ${callback}: ${limit.aborted ? late : reason}`,
      );
    } finally {
      this.answered += 1;
      clearTimeout(notice);
    }
  }

  private unlessAbsent(error: Outcome, what: string): boolean {
    const fault = error?.error ?? error;
    if (typeof fault === 'object' && fault?.code === 'ENOENT') return false;
    this.requireNone(error, what);
    return true;
  }

  /** An answer that holds anything of a failure is one. */
  private requireNone(outcome: Outcome, what: string): void {
    const fault = outcome?.error ?? outcome;
    const reason = typeof fault === 'string' ? fault : (fault?.message ?? fault?.code);
    if (reason !== undefined)
      throw new HostFailure(`The client that stores the session's files could not ${what}: ${reason}`);
  }
}

function waitingFor(callback: FileCallback): string {
  return `The client that stores the session's files has not answered ${callback} for ${noticeable / 1000} s; it has ${patience / 1000} s.`;
}

interface Fault {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

type Outcome = (Fault & { readonly error?: Fault | string | null | undefined }) | null | undefined;
