import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import {
  type AppendRequest,
  type Claim,
  type ClaimRequest,
  type LogRecord,
  type Owner,
  type Page,
  type SearchHit,
  type SearchRequest,
  type SessionFiles,
  type SessionQuery,
  type SessionStore,
  type SessionSummary,
  StoreError,
} from '@groundcrew/store';
import { Checkpointer } from './checkpointer.js';
import { CommitQueue } from './commit-queue.js';
import type { Connection } from './connection.js';
import { DeletionMarks } from './deletion-marks.js';
import { loadDriver, type SqliteDriver } from './driver.js';
import { Erasure } from './erasure.js';
import { type Failpoint, reach } from './failpoints.js';
import { damaged, isBusy, storeFault } from './faults.js';
import { listedNumbers, listedPage, liveOwners, summariesOf } from './listing.js';
import { Liveness } from './liveness.js';
import { writeLockHolder } from './lock-holder.js';
import { selectRecords, sizeOfRecords } from './records.js';
import { whileBusy } from './retry.js';
import { type SearchElsewhere, searchElsewhere } from './search-elsewhere.js';
import { hasIndex, indexSome, isLargeStore, makeIndex, searchIndex, unreadSessions } from './search-index.js';
import {
  appendRecords,
  claimSession,
  releaseSession,
  removedSessions,
  removeSession,
  type StoreScope,
} from './sessions.js';
import { type SqliteMode, StoreFile } from './store-file.js';

/** How a store is opened. */
export interface SqliteStoreOptions {
  /** The one database file of a home; it and its directory are made at the first write. */
  readonly file: string;
  /** Where each runtime keeps the lock that shows it is alive. */
  readonly runDirectory: string;
  /** `group` by default. */
  readonly mode?: SqliteMode;
  /** How long another process's lock is waited for, in milliseconds; ten seconds by default. */
  readonly busyLimit?: number;
  /** What sessions keep beside the store; deleted with them. */
  readonly files?: SessionFiles;
  /** Does a step of a search in another process; large stores are searched there, lest others wait. */
  readonly searchElsewhere?: SearchElsewhere;
  /** Called at each write step, for chaos tests; shipped bundles have none of it. */
  readonly failpoint?: Failpoint;
  /** Called with what is wrong but has done no harm yet. */
  readonly onWarning?: (message: string) => void;
}

/** What a store has done since it was opened. */
export interface SqliteStoreStats {
  readonly commits: number;
  readonly records: number;
  readonly busyRetries: number;
}

/** The embedded store: all sessions of a home in one SQLite file, shared safely by any number of processes. */
export interface SqliteStore extends SessionStore {
  /** Loads SQLite now, so that the first call need not. */
  load(): void;
  /** Opens the file now, if there is one; makes no file. */
  warmUp(): void;
  /** Closes the file, and the next call opens it again; false when something waits to be written. Sessions stay ours. */
  idle(): boolean;
  /** Commits what waits, takes the write-ahead log over and closes the file; sessions not released count as left by a dead owner. */
  close(): Promise<void>;
  stats(): SqliteStoreStats;
}

/** Opens the embedded store; costs nothing and touches no file before the first call. */
export function openSqliteStore(options: SqliteStoreOptions): SqliteStore {
  return new EmbeddedStore(options);
}

const defaultBusyLimit = 10_000;
/** How long a deletion waits for others before it is left for later, and how much later. */
const patience = 2_000;
const eraseAgain = 10_000;
const sessionsPerStretch = 500;
/** About what a commit of the search index writes to the log. */
const indexing = { records: 0, characters: 512 * 1024 };
/** Milliseconds for which a long log is read at a stretch; then others have their turn. */
const longestStretch = 5;

class EmbeddedStore implements SqliteStore {
  readonly #file: StoreFile;
  readonly #liveness: Liveness;
  readonly #queue: CommitQueue;
  readonly #checkpointer: Checkpointer;
  readonly #erasure: Erasure;
  readonly #marks: DeletionMarks;
  readonly #files: SessionFiles | undefined;
  readonly #searchElsewhere: SearchElsewhere | undefined;
  readonly #busyLimit: number;
  readonly #failpoint: Failpoint | undefined;
  readonly #onWarning: (message: string) => void;
  #driver: SqliteDriver | undefined;
  readonly #unreadableHeads = new Set<string>();
  #isErasing = false;
  #erasingLater: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SqliteStoreOptions) {
    const { file, runDirectory, mode = 'group', onWarning = () => undefined } = options;
    const driver = () => this.#loadDriver();
    this.#onWarning = onWarning;
    this.#busyLimit = options.busyLimit ?? defaultBusyLimit;
    this.#file = new StoreFile({ file, mode, driver, onWarning });
    this.#liveness = new Liveness({ driver, directory: runDirectory });
    this.#checkpointer = new Checkpointer({ file: this.#file, isIdle: () => this.#queue.isEmpty, onWarning });
    this.#queue = new CommitQueue({
      connect: () => this.#file.forWriting(),
      drop: () => this.#file.drop(),
      afterCommit: (characters) => this.#checkpointer.committed(characters),
      explain: (error) => (error === undefined ? this.#lockedTooLong() : storeFault(error, file)),
      operationsPerCommit: mode === 'strict' ? 1 : Number.POSITIVE_INFINITY,
      busyLimit: this.#busyLimit,
      failpoint: options.failpoint,
    });
    this.#marks = new DeletionMarks(runDirectory);
    this.#failpoint = options.failpoint;
    this.#files = options.files;
    this.#searchElsewhere = options.searchElsewhere;
    this.#erasure = new Erasure({
      file: this.#file,
      queue: this.#queue,
      checkpointer: this.#checkpointer,
      marks: this.#marks,
      files: options.files,
      scope: (connection) => this.#scope(connection),
      busyLimit: Math.min(this.#busyLimit, patience),
      failpoint: options.failpoint,
    });
  }

  async claim(request: ClaimRequest): Promise<Claim> {
    this.#requireOpen();
    await this.#patiently(() => this.#liveness.hold(request.owner.runtimeId));
    const run = (connection: Connection) => claimSession(this.#scope(connection), request);
    const claim = this.#queue.add({ run, ...weigh(request.create?.records) });
    if (!this.#isErasing) void this.#erase();
    return claim;
  }

  async append(request: AppendRequest): Promise<void> {
    this.#requireOpen();
    const run = (connection: Connection) => appendRecords(connection, request);
    return this.#queue.add({ run, ...weigh(request.records) });
  }

  async release(request: { readonly sessionId: string; readonly epoch: number }): Promise<void> {
    this.#requireOpen();
    return this.#queue.add({ run: (connection) => releaseSession(connection, request), ...weigh() });
  }

  async *read(sessionId: string, after = 0): AsyncIterable<readonly LogRecord[]> {
    const session = await this.#look((connection) => findSession(connection, sessionId)?.number);
    if (session === undefined) return;
    let last = after;
    let began = performance.now();
    for (;;) {
      if (performance.now() - began > longestStretch) {
        await turnOfTheLoop();
        began = performance.now();
      }
      const batch = await this.#look((connection) => {
        const found = findSession(connection, sessionId);
        if (found?.number !== session) return [];
        const records = selectRecords(connection, { session, after: last });
        if (records.length > 0 || last >= found.seq) return records;
        throw damaged(connection.file, `record ${last + 1} is missing`);
      });
      const end = batch?.at(-1);
      if (!batch || !end) return;
      yield batch;
      last = end.seq;
    }
  }

  async size(sessionId: string): Promise<number> {
    const bytes = await this.#look((connection) => {
      const found = findSession(connection, sessionId);
      return found && sizeOfRecords(connection, found.number);
    });
    return bytes ?? 0;
  }

  /** A list without a limit is read in stretches: sessions that are removed meanwhile are left out. */
  async list(query: SessionQuery = {}): Promise<Page<SessionSummary>> {
    const look = <T>(body: (scope: StoreScope) => T) =>
      this.#look((connection) => body(this.#scope(connection)));
    if (query.limit !== undefined) return (await look((scope) => listedPage(scope, query))) ?? { items: [] };
    const numbers = (await look((scope) => listedNumbers(scope, query))) ?? [];
    const items: SessionSummary[] = [];
    for (let start = 0; start < numbers.length; start += sessionsPerStretch) {
      if (start > 0) await turnOfTheLoop();
      const stretch = numbers.slice(start, start + sessionsPerStretch);
      items.push(...((await look((scope) => summariesOf(scope, stretch))) ?? []));
    }
    return { items };
  }

  async search(request: SearchRequest): Promise<readonly SearchHit[]> {
    const step = this.#searchElsewhere;
    if (step && (await this.#look(isLargeStore)))
      return searchElsewhere({ ...request, file: this.#file.path, step });
    await this.#readUnread(request);
    return (await this.#look((connection) => searchIndex(connection, request))) ?? [];
  }

  async remove(sessionId: string, by?: Owner): Promise<boolean> {
    this.#requireOpen();
    const marked: number[] = [];
    const mark = (removed: Parameters<DeletionMarks['set']>[0]) => {
      this.#marks.set(removed);
      marked.push(removed.number);
      reach(this.#failpoint, 'marked');
    };
    const run = (connection: Connection) => removeSession(this.#scope(connection), { sessionId, by, mark });
    try {
      const isRemoved = await this.#queue.add({ ...weigh(), run });
      if (isRemoved) void this.#erase();
      return isRemoved;
    } catch (error) {
      this.#marks.clear(marked);
      throw error;
    }
  }

  async erased(): Promise<void> {
    this.#requireOpen();
    await this.#erase();
  }

  load(): void {
    this.#loadDriver();
  }

  warmUp(): void {
    this.#loadDriver();
    try {
      const connection = this.#file.forReading();
      if (!connection) return;
      if (removedSessions(connection).length + this.#marks.list().length > 0) void this.#erase();
    } catch {
      // The first caller that needs the file learns what is wrong with it.
      this.#file.drop();
    }
  }

  idle(): boolean {
    if (this.#queue.isEmpty) this.#file.drop();
    return this.#queue.isEmpty;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#erasingLater);
    await this.#erasure.close();
    await this.#queue.drain();
    this.#checkpointer.close();
    this.#file.drop();
    this.#liveness.close();
  }

  stats(): SqliteStoreStats {
    return this.#queue.counts;
  }

  /** What no search has read yet is read into the index, in commits between which others have their turn. */
  async #readUnread({ textOf, onProgress }: SearchRequest): Promise<void> {
    const unread = (await this.#look(unreadSessions)) ?? [];
    if (unread.length === 0) return;
    if (!(await this.#look(hasIndex))) await this.#queue.add({ ...weigh(), run: makeIndex });
    for (let done = 0; done < unread.length; onProgress?.({ done, of: unread.length })) {
      const rest = unread.slice(done);
      const run = (connection: Connection) => indexSome(connection, { unread: rest, textOf });
      done += await this.#queue.add({ ...indexing, run });
    }
  }

  /** Deletes what removed sessions left, also those of an earlier run; what cannot be done now is tried again. */
  async #erase(): Promise<void> {
    this.#isErasing = true;
    try {
      await this.#erasure.run();
    } catch (error) {
      if (this.#isClosed) return;
      this.#onWarning(storeFault(error, this.#file.path).message);
      clearTimeout(this.#erasingLater);
      this.#erasingLater = setTimeout(() => void this.#erase(), eraseAgain).unref();
    }
  }

  /** Reads from one unchanging view; undefined when there is no store yet. */
  async #look<T>(body: (connection: Connection) => T): Promise<T | undefined> {
    this.#requireOpen();
    return this.#patiently(() => {
      const connection = this.#file.forReading();
      return connection?.view(() => body(connection));
    });
  }

  async #patiently<T>(call: () => T): Promise<T> {
    try {
      return await whileBusy(call, this.#busyLimit);
    } catch (error) {
      throw isBusy(error) ? this.#lockedTooLong() : storeFault(error, this.#file.path);
    }
  }

  #scope(connection: Connection) {
    return {
      connection,
      isAlive: (runtimeId: string) => this.#liveness.isAlive(runtimeId),
      onUnreadableHead: (sessionId: string) => this.#warnOfHead(sessionId),
      detachFiles: (removed: Parameters<SessionFiles['detach']>[0]) =>
        this.#files?.detach(removed, { isReused: true }),
    };
  }

  /** Once for each session: lists are asked for often. */
  #warnOfHead(sessionId: string): void {
    if (this.#unreadableHeads.has(sessionId)) return;
    this.#unreadableHeads.add(sessionId);
    this.#onWarning(damaged(this.#file.path, `the head of session ${sessionId} cannot be read`).message);
  }

  #lockedTooLong(): StoreError {
    const path = this.#file.path;
    const holder = writeLockHolder(path) ?? this.#likelyHolder();
    const waited = `${Math.round(this.#busyLimit / 100) / 10} s`;
    return new StoreError(
      'busy',
      `The session store ${path} was locked by ${holder} for ${waited}; nothing was written. Try again.`,
    );
  }

  #likelyHolder(): string {
    const owners = this.#otherOwners().map(({ pid, host }) => `process ${pid} on ${host}`);
    return owners.length === 0 ? 'another process' : `another process (${owners.join(' or ')})`;
  }

  #otherOwners() {
    try {
      const connection = this.#file.forReading();
      if (!connection) return [];
      const owners = connection.view(() => liveOwners(this.#scope(connection)));
      return owners.filter(({ runtimeId }) => !this.#liveness.holds(runtimeId));
    } catch (error) {
      this.#onWarning(storeFault(error, this.#file.path).message);
      return [];
    }
  }

  #loadDriver(): SqliteDriver {
    this.#driver ??= loadDriver();
    return this.#driver;
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new StoreError('io', `The session store ${this.#file.path} is closed`);
  }
}

function weigh(records: readonly LogRecord[] = []): {
  readonly records: number;
  readonly characters: number;
} {
  return {
    records: records.length,
    characters: records.reduce((sum, record) => sum + record.json.length, 0),
  };
}

function findSession(
  connection: Connection,
  sessionId: string,
): { readonly number: number; readonly seq: number } | undefined {
  return connection.get('SELECT number, seq FROM session WHERE id = ?', sessionId);
}
