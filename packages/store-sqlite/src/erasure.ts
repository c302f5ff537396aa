import { RepeatedWork, type SessionFiles } from '@groundcrew/store';
import type { Checkpointer } from './checkpointer.js';
import type { CommitQueue } from './commit-queue.js';
import type { Connection } from './connection.js';
import type { DeletionMarks } from './deletion-marks.js';
import { type Failpoint, type FailpointName, reach } from './failpoints.js';
import { deleteSomeRecords } from './records.js';
import { discardRecoveryCopies } from './recovery-copies.js';
import { Scrubber } from './scrub/scrubber.js';
import { deleteSomePassages } from './search-index.js';
import { type RemovedSession, removedSessions, removeMarked, type StoreScope } from './sessions.js';
import type { StoreFile } from './store-file.js';

/** What an erasure works on. */
export interface ErasureOptions {
  readonly file: StoreFile;
  readonly queue: CommitQueue;
  readonly checkpointer: Checkpointer;
  readonly marks: DeletionMarks;
  readonly files: SessionFiles | undefined;
  readonly scope: (connection: Connection) => StoreScope;
  /** How long a reader in the way is waited for, in milliseconds. */
  readonly busyLimit: number;
  readonly failpoint: Failpoint | undefined;
}

const pagesPerGift = 64;
/** About what such a commit writes to the log; it is folded in as it fills, for a long one takes long. */
const heavy = { records: 0, characters: 512 * 1024 };
const nothing = { records: 0, characters: 0 };

/**
 * Deletes what removed sessions left: first their files, then their records in pieces, then every byte of them in the
 * database file and its log. What is to be done is a record of the store. When a process dies, the next one that opens
 * the store goes on with it; each step may be done again.
 */
export class Erasure {
  readonly #options: ErasureOptions;
  readonly #scrubber: Scrubber;
  readonly #work = new RepeatedWork(async () => {
    const removed = await this.#detachAll();
    if (removed.length > 0) await this.#erase(removed);
  });

  constructor(options: ErasureOptions) {
    this.#options = options;
    this.#scrubber = new Scrubber({ ...options, isClosing: () => this.#work.isClosed });
  }

  /** Resolves when nothing is left of what was removed before the call; throws StoreError when it must wait for others. */
  run(): Promise<void> {
    return this.#work.run();
  }

  /** Gives what is under way a little time, then ends it after the step at hand; the next to open the store goes on. */
  close(): Promise<void> {
    return this.#work.close();
  }

  /** Holds the write lock: as soon as the files are known to be gone, a session of the same id may be made. */
  #detachAll(): Promise<readonly RemovedSession[]> {
    const { queue, files, marks, scope } = this.#options;
    const run = (connection: Connection) => {
      const marked = marks.list();
      for (const { number } of marked) removeMarked(scope(connection), number);
      const removed = removedSessions(connection);
      for (const { number, id } of removed) {
        if (id === null) continue;
        files?.detach({ number, id });
        connection.run('UPDATE removed_session SET id = NULL WHERE number = ?', number);
      }
      const pending = new Set(removed.map(({ number }) => number));
      marks.clear(marked.flatMap(({ number }) => (pending.has(number) ? [] : [number])));
      return removed;
    };
    return queue.add({ ...nothing, run });
  }

  async #erase(removed: readonly RemovedSession[]): Promise<void> {
    const { queue, files, marks } = this.#options;
    const numbers = removed.map(({ number }) => number);
    this.#reach('detached');
    for (const number of numbers) await files?.discard(number);
    discardRecoveryCopies(this.#options.file.path, numbers);
    this.#reach('discarded');
    for (const number of numbers) await this.#sweep(number);
    while (
      !this.#work.isClosed &&
      (await queue.add({ ...heavy, run: (store) => store.giveBack(pagesPerGift) }))
    );
    this.#reach('swept');
    if (this.#work.isClosed) return;
    const spoken = removed.find(({ scrubs }) => scrubs !== null);
    if (spoken) await this.#scrubber.run((connection) => countScrub(connection, spoken.number));
    if (this.#work.isClosed) return;
    this.#reach('scrubbed');
    const run = (connection: Connection) => {
      for (const number of numbers) connection.run('DELETE FROM removed_session WHERE number = ?', number);
    };
    await queue.add({ ...nothing, run });
    marks.clear(numbers);
    this.#reach('erased');
  }

  async #sweep(number: number): Promise<void> {
    const run = (connection: Connection) =>
      deleteSomeRecords(connection, number) || deleteSomePassages(connection, number);
    while (!this.#work.isClosed && (await this.#options.queue.add({ ...heavy, run })));
  }

  #reach(name: FailpointName): void {
    reach(this.#options.failpoint, name);
  }
}

function countScrub(connection: Connection, number: number): void {
  connection.run('UPDATE removed_session SET scrubs = coalesce(scrubs, 0) + 1 WHERE number = ?', number);
}
