import { EphemeralEvents } from './ephemeral-events.js';
import type { PublishedEvent } from './published-event.js';

/** Those who read a session's events by cursor rather than as they come. */
export class LogReaders {
  readonly ephemerals = new EphemeralEvents();
  /** Optional events that some client wants to hear of, by handle. */
  readonly interests = new Map<string, string>();
  /** Seqs of stored records that could not be read. */
  readonly missing = new Set<number>();
  private readonly waiters = new Set<() => void>();

  isWanted(eventType: string): boolean {
    return [...this.interests.values()].includes(eventType);
  }

  /** Resolves at the next event, or when the time is over. */
  waitForEvent(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.waiters.delete(done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      signal.addEventListener('abort', done, { once: true });
      this.waiters.add(done);
    });
  }

  /** A client reads, or waits to. */
  get isActive(): boolean {
    return this.ephemerals.isWanted || this.waiters.size > 0;
  }

  addEphemeral(published: PublishedEvent, afterSeq: number): void {
    this.ephemerals.add(published, afterSeq);
    this.wake();
  }

  wake(): void {
    for (const wake of this.waiters) wake();
  }
}
