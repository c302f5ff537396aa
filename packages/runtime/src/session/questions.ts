import type { SessionLog } from './log.js';

interface Waiting {
  settle(answer: unknown): void;
}

/** Questions to people: an event goes out to all, the first answer wins, the log records both. */
export class Questions {
  private readonly waiting = new Map<string, Waiting>();

  constructor(private readonly log: SessionLog) {}

  /** Waits for the answer; `settle` writes it, and all that it completes, to the log at once. */
  ask<A, R>(requestId: string, settle: (answer: A) => R, signal: AbortSignal): Promise<R> {
    signal.throwIfAborted();
    return new Promise<R>((resolve, reject) => {
      const stop = () => {
        this.waiting.delete(requestId);
        reject(signal.reason);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.waiting.set(requestId, {
        settle: (answer) => {
          signal.removeEventListener('abort', stop);
          resolve(settle(answer as A));
        },
      });
    });
  }

  isOpen(requestId: string): boolean {
    return this.waiting.has(requestId);
  }

  /** True once the answer is stored and told; false tells a slower client that it came late. */
  async answer(requestId: string, answer: unknown): Promise<boolean> {
    const question = this.waiting.get(requestId);
    if (!question) return false;
    this.waiting.delete(requestId);
    question.settle(answer);
    await this.log.told();
    return true;
  }
}
