import type { SessionEvent } from '@groundcrew/protocol';
import { AsyncQueue } from '@groundcrew/rpc';

/** Events of a session from now on, for one reader. */
export class EventStream implements AsyncIterableIterator<SessionEvent, undefined> {
  private readonly queue = new AsyncQueue<SessionEvent>();
  private readonly reader = this.queue[Symbol.asyncIterator]();

  /** `onEnd` is called when nothing more will be read, and maybe again. */
  constructor(private readonly onEnd: () => void) {}

  push(event: SessionEvent): void {
    this.queue.push(event);
  }

  /** The reader gets what still waits, then the end or the error. */
  end(error?: unknown): void {
    this.onEnd();
    if (error === undefined) this.queue.end();
    else this.queue.fail(error);
  }

  next(): Promise<IteratorResult<SessionEvent, undefined>> {
    return this.reader.next();
  }

  async return(): Promise<IteratorResult<SessionEvent, undefined>> {
    this.onEnd();
    this.queue.discard();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
