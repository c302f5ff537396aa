import type { SessionEvent } from '@groundcrew/protocol';
import { EventStream } from './event-stream.js';
import { type Listener, Listeners } from './listeners.js';

/** All listeners of this app for the events of one session. */
export class EventFeed {
  private readonly listeners: Listeners<SessionEvent>;
  private readonly streams = new Set<EventStream>();
  private isOver = false;

  constructor(onFailure: (event: SessionEvent, thrown: unknown) => void) {
    this.listeners = new Listeners(onFailure);
  }

  /** Returns the undo; after the end no listener is added. */
  on(type: string | undefined, listener: Listener<SessionEvent>): () => void {
    return this.isOver ? () => undefined : this.listeners.add(type, listener);
  }

  stream(signal?: AbortSignal): EventStream {
    const stop = () => void stream.return();
    const stream = new EventStream(() => {
      this.streams.delete(stream);
      signal?.removeEventListener('abort', stop);
    });
    this.streams.add(stream);
    signal?.addEventListener('abort', stop, { once: true });
    if (this.isOver || signal?.aborted) stream.end();
    return stream;
  }

  deliver(event: SessionEvent): void {
    for (const stream of this.streams) stream.push(event);
    this.listeners.deliver(event);
  }

  /** Listeners receive nothing more; readers of a stream get the reason, if there is a reason. */
  end(reason?: Error): void {
    this.isOver = true;
    this.listeners.clear();
    for (const stream of this.streams) stream.end(reason);
  }
}
