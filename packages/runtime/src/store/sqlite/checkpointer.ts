import { storeFault } from './faults.js';
import { lengthenedLog, type StoreFile } from './store-file.js';

const idlePause = 100;
const ceiling = 64 * 1024 * 1024;
const ceilingStep = 16 * 1024 * 1024;

/** Folds the write-ahead log into the database file: when the store is idle, and at the latest at 64 MB. */
export class Checkpointer {
  readonly #file: StoreFile;
  readonly #isIdle: () => boolean;
  readonly #onWarning: (message: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #limit = ceiling;

  constructor(options: {
    readonly file: StoreFile;
    readonly isIdle: () => boolean;
    readonly onWarning: (message: string) => void;
  }) {
    this.#file = options.file;
    this.#isIdle = options.isIdle;
    this.#onWarning = options.onWarning;
  }

  /** To be called after each commit. */
  committed(): void {
    const bytes = this.#file.logBytes();
    if (bytes > this.#limit) this.#checkpoint();
    else if (bytes > lengthenedLog) this.#waitForIdle();
  }

  /**
   * Leaves nothing in the log. SQLite sees to that only once all statements are finalized, which the package for Node 20
   * leaves to the garbage collector.
   */
  close(): void {
    clearTimeout(this.#timer);
    if (this.#file.logBytes() > 0) this.#checkpoint();
  }

  #waitForIdle(): void {
    if (this.#timer) {
      this.#timer.refresh();
      return;
    }
    const whenIdle = () => {
      if (this.#isIdle()) this.#checkpoint();
    };
    this.#timer = setTimeout(whenIdle, idlePause).unref();
  }

  /** A reader in the way leaves the log as long as it is; the limit then moves, lest every commit tries in vain. */
  #checkpoint(): void {
    try {
      const isDone = this.#file.forReading()?.checkpoint() ?? true;
      this.#limit = isDone ? ceiling : Math.max(ceiling, this.#file.logBytes() + ceilingStep);
    } catch (error) {
      this.#onWarning(storeFault(error, this.#file.path).message);
    }
  }
}
