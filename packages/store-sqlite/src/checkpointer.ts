import { isBusy, storeFault } from './faults.js';
import type { StoreFile } from './store-file.js';

const idlePause = 100;
const worthwhile = 256 * 1024;
/** The log's length, given in advance to a store that is really used; folding it in before it is full keeps it so. */
const logLength = 1536 * 1024;
const commitsBeforeLengthening = 4;
const fullShare = 0.85;
/** Others may write to the log as well; its true length is looked at now and then. */
const commitsBetweenLooks = 16;
const ceiling = 64 * 1024 * 1024;
const ceilingStep = 16 * 1024 * 1024;
/** Pages that a small commit writes to the log besides its text. */
const commitOverhead = 4 * 4120;

/** Folds the write-ahead log into the database file: when the store is idle or the log is full, and at the latest at 64 MB. */
export class Checkpointer {
  readonly #file: StoreFile;
  readonly #isIdle: () => boolean;
  readonly #onWarning: (message: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #limit = ceiling;
  #commits = 0;
  /** What this process has written to the log since it was last folded in, more or less. */
  #written = 0;
  #isDue = false;

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
  committed(characters: number): void {
    this.#commits += 1;
    this.#written += characters + commitOverhead;
    if (this.#commits === commitsBeforeLengthening) this.#attempt(() => this.#file.lengthenLog(logLength));
    if (this.#commits % commitsBetweenLooks === 0 && this.#file.logBytes() > this.#limit)
      this.#checkpoint('TRUNCATE');
    else if (this.#written > logLength * fullShare) this.#checkpointSoon();
    else if (this.#written > worthwhile) this.#waitForIdle();
  }

  /** Empties the log, whose bytes hold what was deleted since; false while a reader stands in the way. */
  truncate(): boolean {
    const isDone = this.#file.forReading()?.checkpoint('TRUNCATE') ?? true;
    // A log without a length gets one again.
    if (isDone) this.#commits = 0;
    return isDone;
  }

  /**
   * Leaves nothing in the log. SQLite sees to that only once all statements are finalized, which the package for Node 20
   * leaves to the garbage collector.
   */
  close(): void {
    clearTimeout(this.#timer);
    if (this.#file.logBytes() > 0) this.#checkpoint('TRUNCATE');
  }

  /** After the callers that wait for the commit have been answered. */
  #checkpointSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => setImmediate(() => this.#checkpoint('PASSIVE')));
  }

  #waitForIdle(): void {
    if (this.#timer) {
      this.#timer.refresh();
      return;
    }
    const whenIdle = () => {
      if (this.#isIdle()) this.#checkpoint('PASSIVE');
    };
    this.#timer = setTimeout(whenIdle, idlePause).unref();
  }

  /** A reader in the way leaves the log as long as it is; the limit then moves, lest every commit tries in vain. */
  #checkpoint(kind: 'PASSIVE' | 'TRUNCATE'): void {
    this.#isDue = false;
    this.#written = 0;
    this.#attempt(() => {
      const isDone = this.#file.forReading()?.checkpoint(kind) ?? true;
      this.#limit = isDone ? ceiling : Math.max(ceiling, this.#file.logBytes() + ceilingStep);
    });
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!isBusy(error)) this.#onWarning(storeFault(error, this.#file.path).message);
    }
  }
}
