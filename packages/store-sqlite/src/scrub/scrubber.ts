import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { StoreError } from '@groundcrew/store';
import type { Checkpointer } from '../checkpointer.js';
import type { Connection } from '../connection.js';
import { isBusy } from '../faults.js';
import { monotonic } from '../monotonic.js';
import { busyPause } from '../retry.js';
import type { StoreFile } from '../store-file.js';
import { borrowHandle } from './borrowed-handle.js';
import { type Scrubbed, scrubPages } from './scrub-pages.js';

/** What a scrubber works on. */
export interface ScrubberOptions {
  readonly file: StoreFile;
  readonly checkpointer: Checkpointer;
  /** How long a reader or writer in the way is waited for, in milliseconds. */
  readonly busyLimit: number;
  /** The store is about to be closed: the rest is left to the next process that opens it. */
  readonly isClosing: () => boolean;
}

/** Four megabytes are looked through in a few milliseconds; others are served before the next. */
const pagesPerSlice = 1024;
/** A file up to this size is rewritten at once; a larger one that an earlier version made is left to `doctor`. */
const rewrittenBytes = 4 * 1024 * 1024;

/** Leaves no byte of what was deleted in a store's file and its log. */
export class Scrubber {
  readonly #options: ScrubberOptions;

  constructor(options: ScrubberOptions) {
    this.#options = options;
  }

  /**
   * Overwrites what no row uses any more, and empties the log. `touch` changes some row: where bytes were overwritten, a
   * commit makes every process forget the pages that it has in memory. Throws StoreError `busy`.
   */
  async run(touch: (connection: Connection) => void): Promise<void> {
    const { checkpointer, isClosing } = this.#options;
    await this.#patiently(() => this.#rewriteSmall());
    for (let page: number | undefined = 1; page !== undefined && !isClosing(); await nextTurn()) {
      const from: number = page;
      page = (await this.#patiently(() => this.#scrubSlice(from, touch)))?.next;
    }
    await this.#patiently(() => (checkpointer.truncate() ? true : 'busy'));
  }

  #rewriteSmall(): true {
    const connection = this.#options.file.forWriting();
    if (!connection.givesBack && connection.size <= rewrittenBytes) connection.rewrite();
    return true;
  }

  /** The log is emptied first: then the file has every page as it is now, and no other process writes to it. */
  #scrubSlice(from: number, touch: (connection: Connection) => void): Scrubbed | 'busy' {
    const { file, checkpointer } = this.#options;
    if (file.logBytes() > 0 && !checkpointer.truncate()) return 'busy';
    const connection = file.forWriting();
    connection.begin();
    try {
      if (file.logBytes() > 0) return 'busy';
      const slice = (handle: number) => scrubPages({ handle, from, count: pagesPerSlice });
      const scrubbed = borrowHandle(file.path, slice);
      if (!scrubbed)
        throw new StoreError('io', `The open file of the session store ${file.path} was not found`);
      if (scrubbed.isChanged) {
        touch(connection);
        connection.commit();
      }
      return scrubbed;
    } finally {
      connection.rollback();
      connection.shrink();
    }
  }

  /** Undefined when the store was closed meanwhile. */
  async #patiently<T>(attempt: () => T | 'busy'): Promise<T | undefined> {
    const end = monotonic() + this.#options.busyLimit;
    for (let attempts = 0; !this.#options.isClosing(); attempts += 1) {
      const result = whenFree(attempt);
      if (result !== 'busy') return result;
      if (monotonic() > end) throw this.#busy();
      await pause(busyPause(attempts));
    }
    return undefined;
  }

  #busy(): StoreError {
    const { path } = this.#options.file;
    return new StoreError(
      'busy',
      `Deleted sessions can be read in ${path} or its log until another process that uses the store lets it be cleaned; it is tried again.`,
    );
  }
}

function whenFree<T>(attempt: () => T | 'busy'): T | 'busy' {
  try {
    return attempt();
  } catch (error) {
    if (isBusy(error)) return 'busy';
    throw error;
  }
}
