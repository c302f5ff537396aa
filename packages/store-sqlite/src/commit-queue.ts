import { StoreError, type StoreErrorKind } from '@groundcrew/store';
import type { Connection } from './connection.js';
import { type Failpoint, reach } from './failpoints.js';
import { isBusy } from './faults.js';
import { monotonic } from './monotonic.js';
import { busyPause } from './retry.js';

/** Work inside a transaction; one that refuses (throws a StoreError of its own making) must not have written yet. */
export interface Operation<T> {
  readonly records: number;
  readonly characters: number;
  run(connection: Connection): T;
}

/** What a queue stands on. */
export interface CommitQueueOptions {
  /** The open file; may throw. */
  readonly connect: () => Connection;
  /** Called after a fault that may have left the connection unusable. */
  readonly drop: () => void;
  readonly afterCommit: (characters: number) => void;
  /** Gives a failure its kind; for a lock that stayed too long, also the name of who may hold it. */
  readonly explain: (error: unknown) => StoreError;
  /** At most this many operations share a commit. */
  readonly operationsPerCommit: number;
  /** How long a lock is waited for, in milliseconds. */
  readonly busyLimit: number;
  readonly failpoint: Failpoint | undefined;
}

interface Pending {
  readonly records: number;
  readonly characters: number;
  readonly since: number;
  /** Returns what answers the caller, once the transaction is committed. */
  run(connection: Connection): () => void;
  fail(error: unknown): void;
}

const recordsPerCommit = 512;
const charactersPerCommit = 1024 * 1024;

const refusals: ReadonlySet<StoreErrorKind> = new Set([
  'unknown_session',
  'in_use',
  'stale_owner',
  'seq_conflict',
]);

/**
 * Group commit without a timer: what is added in one tick of the event loop shares a transaction and its sync, and is
 * answered after it. A flush is synchronous from BEGIN to COMMIT; what is added meanwhile is the next one.
 */
export class CommitQueue {
  readonly #options: CommitQueueOptions;
  readonly #counts = { commits: 0, records: 0, busyRetries: 0 };
  readonly #onEmpty: (() => void)[] = [];
  #pending: Pending[] = [];
  #isScheduled = false;
  #busyAttempts = 0;

  constructor(options: CommitQueueOptions) {
    this.#options = options;
  }

  /** Resolves with the operation's value when it is committed; operations run in the order they were added. */
  add<T>(operation: Operation<T>): Promise<T> {
    const { records, characters } = operation;
    return new Promise<T>((resolve, reject) => {
      const run = (connection: Connection) => {
        const value = operation.run(connection);
        return () => resolve(value);
      };
      this.#pending.push({ records, characters, since: monotonic(), run, fail: reject });
      this.#schedule();
    });
  }

  /** Resolves when nothing waits. */
  async drain(): Promise<void> {
    if (!this.isEmpty) await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /** Transactions, records in them, and how often a lock was found taken. */
  get counts(): { readonly commits: number; readonly records: number; readonly busyRetries: number } {
    return { ...this.#counts };
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    const connection = this.#begin();
    if (connection === 'busy') {
      this.#failLate();
      this.#retryLater();
      return;
    }
    this.#busyAttempts = 0;
    const batch = this.#take();
    if (connection instanceof StoreError) fail(batch, connection);
    else this.#commit(connection, batch);
    this.#finish();
  }

  #begin(): Connection | StoreError | 'busy' {
    try {
      reach(this.#options.failpoint, 'begin');
      const connection = this.#options.connect();
      connection.begin();
      return connection;
    } catch (error) {
      if (isBusy(error)) return 'busy';
      this.#options.drop();
      return this.#options.explain(error);
    }
  }

  #failLate(): void {
    this.#counts.busyRetries += 1;
    const oldest = monotonic() - this.#options.busyLimit;
    const late = this.#pending.filter((pending) => pending.since < oldest);
    if (late.length === 0) return;
    this.#pending = this.#pending.filter((pending) => pending.since >= oldest);
    fail(late, this.#options.explain(undefined));
  }

  #retryLater(): void {
    if (this.isEmpty) {
      this.#finish();
      return;
    }
    setTimeout(() => this.#flush(), busyPause(this.#busyAttempts));
    this.#busyAttempts += 1;
  }

  #finish(): void {
    this.#isScheduled = false;
    if (!this.isEmpty) this.#schedule();
    else for (const resolve of this.#onEmpty.splice(0)) resolve();
  }

  #take(): readonly Pending[] {
    let records = 0;
    let characters = 0;
    const tooMuch = this.#pending.findIndex((pending, index) => {
      records += pending.records;
      characters += pending.characters;
      const isOver = records > recordsPerCommit || characters > charactersPerCommit;
      return index > 0 && (isOver || index >= this.#options.operationsPerCommit);
    });
    return this.#pending.splice(0, tooMuch === -1 ? this.#pending.length : tooMuch);
  }

  #commit(connection: Connection, batch: readonly Pending[]): void {
    const settlements = this.#write(connection, batch);
    if (settlements instanceof StoreError) {
      fail(batch, settlements);
      return;
    }
    this.#counts.commits += 1;
    for (const pending of batch) this.#counts.records += pending.records;
    for (const settle of settlements) settle();
    this.#options.afterCommit(batch.reduce((sum, pending) => sum + pending.characters, 0));
  }

  #write(connection: Connection, batch: readonly Pending[]): readonly (() => void)[] | StoreError {
    const { failpoint, drop, explain } = this.#options;
    try {
      const settlements = batch.map((pending) => attempt(pending, { connection, failpoint }));
      reach(failpoint, 'commit');
      connection.commit();
      reach(failpoint, 'committed');
      return settlements;
    } catch (error) {
      connection.rollback();
      drop();
      return explain(error);
    }
  }
}

function attempt(
  pending: Pending,
  { connection, failpoint }: { readonly connection: Connection; readonly failpoint: Failpoint | undefined },
): () => void {
  try {
    const settle = pending.run(connection);
    reach(failpoint, 'written');
    return settle;
  } catch (error) {
    if (!(error instanceof StoreError) || !refusals.has(error.kind)) throw error;
    return () => pending.fail(error);
  }
}

function fail(batch: readonly Pending[], error: StoreError): void {
  for (const pending of batch) pending.fail(error);
}
