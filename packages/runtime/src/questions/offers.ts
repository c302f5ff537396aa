import type { SessionLog } from '../log/session-log.js';
import { type AskedClient, ClientGone } from './asked-client.js';

/** An open question as it is put to clients by requests. */
export interface Offer {
  readonly requestId: string;
  /** The clients that answer such questions now. */
  clients(): readonly AskedClient[];
  /** Puts it to one client, and takes its answer. */
  put(client: AskedClient, signal: AbortSignal): Promise<unknown>;
  /** Every client that was asked has failed to answer. */
  fail(): Promise<unknown>;
}

interface Offered {
  readonly offer: Offer;
  /** Fires when the question is over. */
  readonly controller: AbortController;
  /** The clients it was put to. */
  readonly clients: Map<string, 'asked' | 'failed'>;
}

/** Puts open questions to every client that answers such; one that comes later is asked as well. */
export class Offers {
  private readonly open = new Map<string, Offered>();

  constructor(private readonly log: Pick<SessionLog, 'published'>) {}

  /** Asks until the question is closed. */
  put(offer: Offer): void {
    this.open.set(offer.requestId, { offer, controller: new AbortController(), clients: new Map() });
    this.renew();
  }

  close(requestId: string): void {
    this.open.get(requestId)?.controller.abort();
    this.open.delete(requestId);
  }

  /** Asks clients that have not been asked yet. */
  renew(): void {
    for (const offered of this.open.values()) {
      for (const client of offered.offer.clients()) {
        if (!offered.clients.has(client.clientId)) this.ask(offered, client).catch(heardByTheTurn);
      }
    }
  }

  private async ask({ offer, controller, clients }: Offered, client: AskedClient): Promise<void> {
    clients.set(client.clientId, 'asked');
    try {
      // The event goes out first.
      await this.log.published();
      await offer.put(client, controller.signal);
    } catch (error) {
      if (controller.signal.aborted) return;
      if (error instanceof ClientGone) clients.delete(client.clientId);
      else clients.set(client.clientId, 'failed');
      const states = [...clients.values()];
      const isHopeless = states.length > 0 && !states.includes('asked');
      if (isHopeless) await offer.fail();
    }
  }
}

/** That an answer could not be stored ends the turn that waits for it. */
const heardByTheTurn = (): undefined => undefined;
