import type { Following } from '@groundcrew/webhooks';
import type { FromTenant, ToTenant } from './tenant-messages.js';

type Kept = Extract<ToTenant, { kind: 'kept' }>;

const gone = 'the door is gone';

/** The outbox of a tenant as its runtime uses it: the door stores the messages, signs them and sends them. */
export class DoorOutbox {
  private calls = 0;
  private isOver = false;
  private readonly waiting = new Map<number, (answer: Kept) => void>();

  constructor(private readonly send: (message: FromTenant) => Promise<void>) {}

  /** The calls of the port. */
  readonly port: Following = {
    follow: (...values) => this.ask('follow', values),
    put: (...values) => this.ask('put', values),
    unfollow: (...values) => this.ask('unfollow', values),
    remove: (...values) => this.ask('remove', values),
    followed: (...values) => this.ask('followed', values),
  };

  /** The door has answered. */
  answered(answer: Kept): void {
    this.waiting.get(answer.call)?.(answer);
    this.waiting.delete(answer.call);
  }

  /** The door is gone: nothing is stored any more, and the next start reads the log on from the last stored place. */
  end(): void {
    this.isOver = true;
    for (const [call, settle] of this.waiting) settle({ kind: 'kept', call, failure: gone });
    this.waiting.clear();
  }

  private ask<T>(method: keyof Following, values: readonly unknown[]): Promise<T> {
    if (this.isOver) return Promise.reject(new Error(gone));
    this.calls += 1;
    const call = this.calls;
    return new Promise((resolve, reject) => {
      this.waiting.set(call, ({ value, failure }) => {
        if (failure === undefined) resolve(value as T);
        else reject(new Error(failure));
      });
      void this.send({ kind: 'keep', call, method, values });
    });
  }
}
