import { HistoryReader } from './history-reader.js';

/**
 * Keeps the messages of a conversation's calls while they come one soon after the other: those of earlier calls are the same
 * objects in the next, and what writes them knows them by that. A session that rests keeps nothing.
 */
export class CallMemory {
  private reader: HistoryReader | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** For the next call. */
  use(): HistoryReader {
    this.reader ??= new HistoryReader();
    if (this.timer) this.timer.refresh();
    else this.timer = setTimeout(() => this.forget(), keptFor).unref();
    return this.reader;
  }

  private forget(): void {
    this.reader = undefined;
    this.timer = undefined;
  }
}

const keptFor = 5_000;
