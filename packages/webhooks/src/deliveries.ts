import type { NoticeOutbox } from '@groundcrew/store';
import { type EndpointSettings, keyOf } from './endpoint.js';
import { Sender } from './sender.js';

/** What deliveries need. */
export interface DeliveriesOptions {
  readonly endpoints: readonly EndpointSettings[];
  readonly version: string;
  readonly outbox: NoticeOutbox;
  warn(message: string): void;
}

/** Seconds before the second attempt and those after it: more than a day in all. */
const usualRetry = [5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600];
const usualTimeout = 15;

/** Delivers what an outbox holds to the addresses that are set. */
export class Deliveries {
  private readonly senders: readonly Sender[];

  /** Addresses and secrets have been checked. */
  constructor(private readonly options: DeliveriesOptions) {
    const { endpoints, version, outbox, warn } = options;
    this.senders = endpoints.map(({ url, secrets, allowPrivate = false, ...each }) => {
      const { retry = usualRetry, timeout = usualTimeout } = each;
      const target = {
        url: new URL(url),
        keys: secrets.map((secret) => keyOf(secret)),
        allowPrivate,
        timeoutMs: timeout * 1000,
        userAgent: `groundcrew/${version}`,
      };
      return new Sender({ outbox, warn, target, delays: retry.map((seconds) => seconds * 1000) });
    });
  }

  /** Sends messages that an earlier process left in the outbox. */
  start(): void {
    const { outbox, warn } = this.options;
    const work = async () => {
      const gone = await outbox.keepOnly(this.senders.map(({ endpoint }) => endpoint));
      if (gone > 0) warn(`${gone} webhooks are not sent: their addresses are not in the settings any more`);
      this.wake();
    };
    work().catch((error: Error) => warn(`Webhooks cannot be read: ${error.message}`));
  }

  /** Something may wait. */
  wake(): void {
    for (const sender of this.senders) sender.wake();
  }

  /** Stops sending; the next start goes on. */
  async close(): Promise<void> {
    await Promise.all(this.senders.map((sender) => sender.close()));
    await this.options.outbox.close();
  }
}
