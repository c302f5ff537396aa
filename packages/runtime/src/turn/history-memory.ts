import { HistoryReader } from './history-reader.js';

/**
 * Keeps what the calls of a conversation have in common while they come one soon after the other: the messages of one
 * call are the same objects in the next. A session that is idle keeps nothing.
 */
export class HistoryMemory {
  private reader: HistoryReader | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** The reader for the next call. */
  use(): HistoryReader {
    this.reader ??= new HistoryReader();
    if (this.timer) this.timer.refresh();
    else this.timer = setTimeout(() => this.clear(), keptFor).unref();
    return this.reader;
  }

  private clear(): void {
    this.reader = undefined;
    this.timer = undefined;
  }
}

const keptFor = 5_000;
