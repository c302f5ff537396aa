import type { DueMessage, NoticeOutbox } from '@groundcrew/store';
import { deliver, type Outcome, type Target } from './delivery.js';

/** What the sender of one address needs. */
export interface SenderOptions {
  readonly target: Target;
  readonly outbox: NoticeOutbox;
  /** Milliseconds before the second attempt, the third and so on. */
  readonly delays: readonly number[];
  warn(message: string): void;
}

const atOnce = 4;
/** Added to the time of an attempt, to store its outcome. */
const leaseMarginMs = 5_000;
const lookEveryMs = 30_000;
/** While a receiver has not answered, others are looked for more often. */
const pendingLookMs = 1_000;
const longestRetryAfterMs = 24 * 60 * 60 * 1000;

/** Delivers what waits for one address, a few at a time; a slow receiver holds up no other. */
export class Sender {
  readonly endpoint: string;
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isWanted = false;
  private nudge: (() => void) | undefined;
  private isGone = false;
  private isFailing = false;

  constructor(private readonly options: SenderOptions) {
    this.endpoint = options.target.url.href;
  }

  /** Something may wait. */
  wake(): void {
    this.isWanted = true;
    this.nudge?.();
    if (this.stopping.signal.aborted || this.running) return;
    clearTimeout(this.timer);
    this.running = this.work().finally(() => {
      this.running = undefined;
      if (this.isWanted) this.wake();
    });
  }

  async close(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.timer);
    await this.running;
  }

  private async work(): Promise<void> {
    const { outbox } = this.options;
    try {
      await this.sendAll();
      const next = await outbox.dueIn(this.endpoint);
      this.lookAgain(next ?? lookEveryMs);
    } catch (error) {
      this.options.warn(`What waits for ${this.name} cannot be read: ${(error as Error).message}`);
      this.lookAgain(lookEveryMs);
    }
  }

  /** Sends what is due, a few messages at a time: one that is not answered takes one place, and holds up no other. */
  private async sendAll(): Promise<void> {
    const { outbox, target } = this.options;
    const leaseMs = target.timeoutMs + leaseMarginMs;
    const pending = new Set<Promise<void>>();
    const faults: unknown[] = [];
    for (;;) {
      this.isWanted = false;
      const places = this.stopping.signal.aborted || faults.length > 0 ? 0 : atOnce - pending.size;
      const taken = places === 0 ? [] : outbox.take({ endpoint: this.endpoint, limit: places, leaseMs });
      for (const message of await taken) {
        const attempt = this.attempt(message)
          .catch((error: unknown) => void faults.push(error))
          .finally(() => pending.delete(attempt));
        pending.add(attempt);
      }
      if (pending.size === 0) break;
      if (places === 0 || !this.isWanted) await this.until(pending);
    }
    if (faults.length > 0) throw faults[0];
  }

  /** Resolves when a place is free, or something may wait for one that is; what is tried again is due without a word. */
  private async until(pending: ReadonlySet<Promise<void>>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const news = new Promise<void>((resolve) => {
      if (pending.size === atOnce) return;
      this.nudge = resolve;
      timer = setTimeout(resolve, pendingLookMs);
    });
    await Promise.race([...pending, news]).finally(() => clearTimeout(timer));
  }

  private lookAgain(delayMs: number): void {
    if (this.stopping.signal.aborted) return;
    this.timer = setTimeout(() => this.wake(), Math.min(delayMs, lookEveryMs)).unref();
  }

  private async attempt(message: DueMessage): Promise<void> {
    const { outbox } = this.options;
    const { signal } = this.stopping;
    if (this.isGone) return outbox.settle(message);
    const outcome = await deliver(message, this.options.target, signal);
    if (outcome.type === 'delivered') {
      this.isFailing = false;
      return outbox.settle(message);
    }
    // Whether it was delivered is not known: it is sent again, with the same id.
    if (signal.aborted) return outbox.postpone(message, 0);
    if (outcome.type === 'gone') return this.unsubscribe(message);
    return this.again(message, outcome);
  }

  private async unsubscribe(message: DueMessage): Promise<void> {
    if (!this.isGone)
      this.options.warn(`${this.name} wants no more webhooks (410): it gets none until the next start`);
    this.isGone = true;
    await this.options.outbox.settle(message);
  }

  private async again(message: DueMessage, outcome: Extract<Outcome, { type: 'failed' }>): Promise<void> {
    const { delays, outbox, warn } = this.options;
    const delay = delays[message.tries];
    if (delay === undefined) {
      warn(`The webhook ${message.id} for ${this.name} is given up after ${message.tries + 1} attempts`);
      return outbox.settle(message);
    }
    if (!this.isFailing) warn(`A webhook for ${this.name} failed and is tried again: ${outcome.reason}`);
    this.isFailing = true;
    const asked = Math.min(outcome.retryAfterMs ?? 0, longestRetryAfterMs);
    // A receiver that is back does not get the retries of all senders at once.
    const spread = delay * (0.9 + Math.random() * 0.2);
    await outbox.postpone({ ...message, tries: message.tries + 1 }, Math.max(asked, spread));
  }

  /** Paths of addresses may be secrets themselves. */
  private get name(): string {
    return this.options.target.url.origin;
  }
}
