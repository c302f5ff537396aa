import type { Client } from './client.js';
import type { CarriedCalls } from './client-model-calls.js';

/** Another client makes the model calls already. */
class InferenceTaken extends Error {
  override readonly name = 'InferenceTaken';

  constructor() {
    super('Another client is already the LLM inference provider.');
  }
}

/** Who makes the runtime's model calls in its place; at most one client does, for as long as it is connected. */
export class Inference {
  private provider: Client | undefined;
  private current: CarriedCalls | undefined;

  /** Nothing: the runtime makes its calls itself. */
  get calls(): CarriedCalls | undefined {
    return this.current;
  }

  /** Throws InferenceTaken. */
  async setProvider(client: Client): Promise<void> {
    if (this.provider === client) return;
    if (this.provider) throw new InferenceTaken();
    this.provider = client;
    const { CarriedCalls } = await import('./client-model-calls.js');
    if (this.provider === client) this.current = new CarriedCalls(client);
  }

  /** Calls that a client was at fail when it leaves, and are made again by the client that makes them then. */
  removeClient(client: Client): void {
    if (this.provider !== client) return;
    this.current?.end();
    this.provider = undefined;
    this.current = undefined;
  }

  /** The calls that this client makes, if it makes any. */
  callsOf(client: Client): CarriedCalls | undefined {
    return this.provider === client ? this.current : undefined;
  }
}
