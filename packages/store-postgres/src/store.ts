import { setTimeout as pause } from 'node:timers/promises';
import {
  type AppendRequest,
  type Claim,
  type ClaimRequest,
  type ClusterStore,
  type LogRecord,
  type NoticeOutbox,
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
import { readAddresses } from './address.js';
import {
  type Claimed,
  claimAttempt,
  claimSession,
  findClaim,
  findRemoval,
  type Living,
  newVersion,
  releaseSession,
  removeSession,
} from './claims.js';
import { ClusterView } from './cluster-view.js';
import { columnText } from './columns.js';
import type { Connection, TimeLimits } from './connection.js';
import { Eraser } from './eraser.js';
import { type Failpoint, reach } from './failpoints.js';
import { ConnectionLost, damaged, mayPass, storeFault } from './faults.js';
import { Lease, type LeaseTimes } from './lease.js';
import { listSessions } from './listing.js';
import { migrate, requireServer } from './migrate.js';
import { Outages } from './outages.js';
import { sharedOutbox } from './outbox.js';
import { Pool } from './pool.js';
import { Primary } from './primary.js';
import { isGone } from './process-mark.js';
import { readBatch, sizeOfSession } from './read-records.js';
import { detachFiles } from './removed-sessions.js';
import { forgetRemoved, indexRecords, type Look, readUnread, searchPassages, type Unread } from './search.js';
import { WriteQueue } from './write-queue.js';

/** How a store is opened. */
export interface PostgresStoreOptions {
  /** One URL, or several separated by commas, of which one is the primary. Throws BadAddress. */
  readonly url: string;
  /** What sessions keep beside the store, on this machine; deleted with them. */
  readonly files?: SessionFiles;
  /** How long a call waits for a server that cannot be reached, in milliseconds; 15 seconds by default. */
  readonly patience?: number;
  readonly limits?: Partial<TimeLimits>;
  /** Five seconds, renewed every 1.25, by default. */
  readonly lease?: LeaseTimes;
  /** What may wait to be written, in bytes; 32 MiB by default. */
  readonly queueBytes?: number;
  /** At most so many connections for appends and claims, and for reads; one more renews the lease. */
  readonly connections?: { readonly writers: number; readonly readers: number };
  /** Called at each write step, for chaos tests; shipped bundles have none of it. */
  readonly failpoint?: Failpoint;
  readonly onWarning?: (message: string) => void;
}

/** What a store has done since it was opened. */
export interface PostgresStoreStats {
  /** Statements of appends, and records in them. */
  readonly batches: number;
  readonly records: number;
}

/** All sessions of many nodes in one PostgreSQL database. */
export interface PostgresStore extends SessionStore {
  /** What several nodes need of it. */
  readonly cluster: ClusterStore;
  /** Webhook messages of all nodes that wait to be sent; its `close` leaves the store open. */
  readonly outbox: NoticeOutbox;
  /** Connects and brings the tables up to date now, so that the first call need not. Throws StoreError. */
  open(): Promise<void>;
  /** Writes what waits, ends the lease and closes the connections. */
  close(): Promise<void>;
  stats(): PostgresStoreStats;
}

/** Opens the store; costs nothing and connects to nothing before the first call. Throws BadAddress. */
export function openPostgresStore(options: PostgresStoreOptions): PostgresStore {
  return new SharedStore(options);
}

const defaultPatience = 15_000;
const defaultLimits: TimeLimits = { connect: 5_000, answer: 10_000, lock: 5_000 };
const defaultLease: LeaseTimes = { validity: 5_000, renewal: 1_250 };
const defaultQueueBytes = 32 * 1024 * 1024;
const defaultConnections = { writers: 3, readers: 2 };
const retryPause = 20;

class SharedStore implements PostgresStore {
  readonly cluster: ClusterView;
  readonly outbox = sharedOutbox((work) => this.#reading(work));
  readonly #outages: Outages;
  readonly #primary: Primary;
  readonly #writers: Pool;
  readonly #readers: Pool;
  readonly #leases: Pool;
  readonly #lease: Lease;
  readonly #queue: WriteQueue;
  readonly #eraser: Eraser;
  readonly #options: PostgresStoreOptions;
  readonly #patience: number;
  readonly #unreadableHeads = new Set<string>();
  readonly #warned = new Set<string>();
  #closing: Promise<void> | undefined;

  constructor(options: PostgresStoreOptions) {
    const { writers, readers } = options.connections ?? defaultConnections;
    const lease = options.lease ?? defaultLease;
    this.#options = options;
    this.#patience = options.patience ?? defaultPatience;
    this.#outages = new Outages(lease);
    this.#primary = new Primary({
      addresses: readAddresses(options.url),
      limits: { ...defaultLimits, ...options.limits },
      examine: (connection) => this.#examine(connection),
      outages: this.#outages,
    });
    const pool = (size: number) => new Pool({ primary: this.#primary, size });
    this.#writers = pool(writers);
    this.#readers = pool(readers);
    this.#leases = pool(1);
    this.#lease = new Lease({ ...lease, pool: this.#leases, onWarning: (message) => this.#warn(message) });
    this.#queue = new WriteQueue({
      pool: this.#writers,
      name: () => this.#primary.name,
      failpoint: options.failpoint,
      lanes: Math.max(1, writers - 1),
      patience: this.#patience,
      mostBytes: options.queueBytes ?? defaultQueueBytes,
    });
    this.cluster = new ClusterView({
      lease: this.#lease,
      isGraceTime: () => this.#outages.isGraceTime,
      read: (work) => this.#reading(work),
      again: (attempt) => {
        this.#requireOpen();
        return this.#again(attempt, performance.now() + this.#patience);
      },
      inTurn: (sessionId, work) => this.#queue.single(sessionId, work),
      endClaim: (sessionId, epoch) => this.#queue.endClaim(sessionId, epoch),
      write: (work, deadline) => this.#again((until) => this.#writers.use(work, until), deadline),
    });
    this.#eraser = new Eraser({
      use: (work) => this.#readAgain(this.#readers, work),
      files: options.files,
      failpoint: options.failpoint,
      onWarning: (message) => this.#warn(message),
    });
  }

  async claim(request: ClaimRequest): Promise<Claim> {
    this.#requireOpen();
    requirePlain(request.sessionId);
    const attempt = claimAttempt(request, {
      living: this.#living(),
      isNode: this.cluster.isNode,
      onUnreadableHead: (sessionId) => this.#warnOfHead(sessionId),
    });
    const work = async (deadline: number) => {
      await this.#again((until) => this.#lease.hold(request.owner, until), deadline);
      const claimed = await this.#once<Claimed>(deadline, {
        send: (connection) => claimSession(connection, attempt),
        find: (connection) => findClaim(connection, attempt),
      });
      this.#queue.beginClaim(request.sessionId, { epoch: claimed.claim.epoch, version: claimed.version });
      for (const number of claimed.former) await this.#detach(number, { isReused: true, deadline });
      return claimed.claim;
    };
    const claim = await this.#queue.single(request.sessionId, work, request.create?.records);
    this.#eraser.start();
    return claim;
  }

  async append(request: AppendRequest): Promise<void> {
    this.#requireOpen();
    return this.#queue.append(request);
  }

  async release(request: { readonly sessionId: string; readonly epoch: number }): Promise<void> {
    this.#requireOpen();
    const { sessionId, epoch } = request;
    await this.#queue.single(sessionId, async (deadline) => {
      this.#queue.endClaim(sessionId, epoch);
      const work = (connection: Connection) => releaseSession(connection, request);
      await this.#again((until) => this.#writers.use(work, until), deadline);
    });
  }

  async *read(sessionId: string, after = 0): AsyncIterable<readonly LogRecord[]> {
    let number: number | undefined;
    let last = after;
    for (;;) {
      this.#requireOpen();
      if (!isPlain(sessionId)) return;
      const position = { sessionId, number, after: last };
      const batch = await this.#readAgain(this.#readers, (connection) => readBatch(connection, position));
      const end = batch?.records.at(-1);
      if (!batch || !end) return;
      yield batch.records;
      number = batch.number;
      last = end.seq;
    }
  }

  async size(sessionId: string): Promise<number> {
    if (!isPlain(sessionId)) return 0;
    return this.#reading((connection) => sizeOfSession(connection, sessionId));
  }

  async list(query: SessionQuery = {}): Promise<Page<SessionSummary>> {
    this.#requireOpen();
    const scope = {
      living: this.#living(),
      onUnreadableHead: (sessionId: string) => this.#warnOfHead(sessionId),
    };
    return this.#readAgain(this.#readers, (connection) => listSessions(connection, query, scope));
  }

  async search(request: SearchRequest): Promise<readonly SearchHit[]> {
    this.#requireOpen();
    const look: Look = (work) => this.#readAgain(this.#readers, work);
    await readUnread({ look, index: (session) => this.#index(session, request), ...request });
    return look((connection) => searchPassages(connection, request));
  }

  async remove(sessionId: string, by?: Owner): Promise<boolean> {
    this.#requireOpen();
    if (!isPlain(sessionId)) return false;
    const removal = { sessionId, by, living: this.#living(), token: newVersion() };
    const isRemoved = await this.#queue.single(sessionId, async (deadline) => {
      const number = await this.#once<number | undefined>(deadline, {
        send: (connection) => removeSession(connection, removal),
        find: (connection) => findRemoval(connection, removal.token),
      });
      if (number === undefined) return false;
      this.#queue.endClaim(sessionId);
      reach(this.#options.failpoint, 'removed');
      await this.#detach(number, { isReused: false, deadline });
      return true;
    });
    if (isRemoved) this.#eraser.start({ again: true });
    return isRemoved;
  }

  async erased(): Promise<void> {
    this.#requireOpen();
    await this.#eraser.run();
  }

  async open(): Promise<void> {
    this.#requireOpen();
    await this.#readAgain(this.#readers, async () => undefined);
    this.#eraser.start();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  stats(): PostgresStoreStats {
    return this.#queue.counts;
  }

  async #close(): Promise<void> {
    await this.#queue.drain();
    await this.#eraser.close();
    await this.#lease.close();
    await Promise.all([this.#writers.close(), this.#readers.close(), this.#leases.close()]);
  }

  /** What cannot be read of a damaged session is not searched. */
  async #index(session: Unread, { textOf }: SearchRequest): Promise<void> {
    const write = (work: (connection: Connection) => Promise<void>) => this.#readAgain(this.#readers, work);
    try {
      for await (const records of this.read(session.id, session.read))
        await write((connection) => indexRecords(connection, { session, records, textOf }));
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== 'damaged') throw error;
    }
    await write((connection) => forgetRemoved(connection, session));
  }

  #living(): Living {
    return { isGraceTime: () => this.#outages.isGraceTime, isGone };
  }

  async #detach(
    number: number,
    { isReused, deadline }: { readonly isReused: boolean; readonly deadline: number },
  ): Promise<void> {
    const { files } = this.#options;
    const work = (connection: Connection) => detachFiles(connection, { number, files, isReused });
    await this.#again((until) => this.#writers.use(work, until), deadline);
    reach(this.#options.failpoint, 'detached');
  }

  /** Sends until it is answered; after a lost answer `find` says whether it was done, so that it is done once. */
  async #once<T>(
    deadline: number,
    { send, find }: { send(on: Connection): Promise<T>; find(on: Connection): Promise<T | undefined> },
  ): Promise<T> {
    let isInDoubt = false;
    const work = async (connection: Connection) => {
      const found = isInDoubt ? await find(connection) : undefined;
      if (found !== undefined) return found;
      try {
        const answer = send(connection);
        reach(this.#options.failpoint, 'sent');
        const value = await answer;
        reach(this.#options.failpoint, 'answered');
        return value;
      } catch (error) {
        isInDoubt ||= error instanceof ConnectionLost;
        throw error;
      }
    };
    return this.#again((until) => this.#writers.use(work, until), deadline).catch((error: unknown) => {
      const isLost = isInDoubt && error instanceof StoreError && error.kind === 'busy';
      throw isLost ? new StoreError('io', `${error.message} Whether it was done is not known.`) : error;
    });
  }

  #reading<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    this.#requireOpen();
    return this.#readAgain(this.#readers, work);
  }

  #readAgain<T>(pool: Pool, work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#again((until) => pool.use(work, until), performance.now() + this.#patience);
  }

  /** Tries what may be done twice until it is answered; throws StoreError. */
  async #again<T>(attempt: (deadline: number) => Promise<T>, deadline: number): Promise<T> {
    for (;;) {
      try {
        return await attempt(deadline);
      } catch (error) {
        const isPassing = error instanceof ConnectionLost || mayPass(error);
        if (!isPassing || performance.now() + retryPause > deadline)
          throw storeFault(error, this.#primary.name);
        await pause(retryPause);
      }
    }
  }

  async #examine(connection: Connection): Promise<void> {
    requireServer(connection);
    await migrate(connection);
    if (connection.facts.fsync === 'off')
      this.#warnOnce(
        `The server ${connection.address.name} has fsync off: a crash of its machine loses what was acknowledged.`,
      );
  }

  #warn(message: string): void {
    this.#options.onWarning?.(message);
  }

  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#warn(message);
  }

  #warnOfHead(sessionId: string): void {
    if (this.#unreadableHeads.has(sessionId)) return;
    this.#unreadableHeads.add(sessionId);
    this.#warn(damaged(this.#primary.name, `the head of session ${sessionId} cannot be read`).message);
  }

  #requireOpen(): void {
    if (this.#closing !== undefined)
      throw new StoreError('io', `The session store ${this.#primary.name} is closed`);
  }
}

function isPlain(sessionId: string): boolean {
  return columnText(sessionId) === sessionId;
}

/** Such an id would become another one in the database. */
function requirePlain(sessionId: string): void {
  if (isPlain(sessionId)) return;
  throw new StoreError('io', 'The id of a session may hold neither NUL nor half a character.');
}
