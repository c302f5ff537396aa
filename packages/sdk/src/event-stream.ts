import type { SessionEvent } from '@groundcrew/protocol';
import { AsyncQueue } from '@groundcrew/rpc';

/** Events of a session from now on, for one reader. */
export class EventStream implements AsyncIterableIterator<SessionEvent, undefined> {
  private readonly queue = new AsyncQueue<SessionEvent>();
  private readonly reader = this.queue[Symbol.asyncIterator]();

  /** `onReturn` lets go of the stream when its reader stops early. */
  constructor(private readonly onReturn: () => void) {}

  push(event: SessionEvent): void {
    this.queue.push(event);
  }

  /** The reader gets what still waits, then the end or the error. */
  end(error?: unknown): void {
    if (error === undefined) this.queue.end();
    else this.queue.fail(error);
  }

  next(): Promise<IteratorResult<SessionEvent, undefined>> {
    return this.reader.next();
  }

  async return(): Promise<IteratorResult<SessionEvent, undefined>> {
    this.onReturn();
    this.queue.discard();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
