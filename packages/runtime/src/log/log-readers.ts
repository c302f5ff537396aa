import { EphemeralEvents } from './ephemeral-events.js';
import type { PublishedEvent } from './published-event.js';

/** That a client wants to receive events of a type. */
interface Interest {
  readonly eventType: string;
  readonly clientId: string;
}

/** Clients that read a session's events by cursor, instead of receiving them as they happen. */
export class LogReaders {
  readonly ephemerals = new EphemeralEvents();
  /** Seqs of stored records that could not be read. */
  readonly missing = new Set<number>();
  /** Optional events that some client wants, by handle. */
  private readonly interests = new Map<string, Interest>();
  private readonly interestListeners = new Set<() => void>();
  private readonly waiters = new Set<() => void>();

  isWanted(eventType: string): boolean {
    return [...this.interests.values()].some((interest) => interest.eventType === eventType);
  }

  addInterest(handle: string, interest: Interest): void {
    this.interests.set(handle, interest);
  }

  /** False when there is no such handle. */
  releaseInterest(handle: string): boolean {
    const isKnown = this.interests.delete(handle);
    for (const listener of this.interestListeners) listener();
    return isKnown;
  }

  /** A client that leaves wants nothing any more. */
  releaseClient(clientId: string): void {
    for (const [handle, interest] of [...this.interests])
      if (interest.clientId === clientId) this.releaseInterest(handle);
  }

  /** Calls back when an interest was released; returns what ends that. */
  onInterest(listener: () => void): () => void {
    this.interestListeners.add(listener);
    return () => void this.interestListeners.delete(listener);
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
