import { type Channel, Connection, type Message } from '@groundcrew/rpc';
import { type RoutedClient, sessionMoved } from '@groundcrew/server';

/** An event on its way to the client; one that is stored has its place in the log. */
export interface ForwardedEvent {
  readonly sessionId: string;
  readonly event: { readonly type: string };
  readonly seq?: number;
}

/** What a link hands to the routes of its client. */
export interface NodeLinkHandlers {
  onEvent(event: ForwardedEvent): void;
  /** The session is no longer at that node. */
  onMoved(sessionId: string): void;
  onClosed(): void;
}

/** One client at one node: requests go there, and what the node sends comes back. */
export class NodeLink {
  readonly #connection: Connection;
  #isOpen = true;

  constructor(channel: Channel, client: RoutedClient, handlers: NodeLinkHandlers) {
    const paced = new PacedChannel(channel, client);
    this.#connection = new Connection(
      paced,
      {
        onRequest: (method, params, call) => client.ask(method, params, call.signal),
        onNotification: (method, params) => {
          if (method === 'session.event') handlers.onEvent(params as ForwardedEvent);
          else if (method === sessionMoved)
            handlers.onMoved((params as { readonly sessionId: string }).sessionId);
          else paced.pass({ jsonrpc: '2.0', method, params });
        },
      },
      { maxQueuedBytes: Number.POSITIVE_INFINITY },
    );
    void this.#connection.closed.then(() => {
      this.#isOpen = false;
      handlers.onClosed();
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    return this.#connection.request(method, params, signal);
  }

  close(): void {
    void this.#connection.close();
  }
}

/** Reads no further while the client is behind, so that the node that sends merges what waits there. */
class PacedChannel implements Channel {
  readonly messages: AsyncIterable<Message>;

  constructor(
    private readonly channel: Channel,
    private readonly client: RoutedClient,
  ) {
    this.messages = paced(channel.messages, () => client.drained());
  }

  get queuedBytes(): number {
    return this.channel.queuedBytes;
  }

  send(message: Parameters<Channel['send']>[0]): boolean {
    return this.channel.send(message);
  }

  drained(): Promise<void> {
    return this.channel.drained();
  }

  close(): Promise<void> {
    return this.channel.close();
  }

  /** Sends a message on to the client as it came. */
  pass(message: Message): void {
    const json = JSON.stringify(message);
    this.client.send({ json, byteLength: Buffer.byteLength(json) });
  }
}

/** `drained` resolves at once for a client that keeps up; it is asked every few messages. */
async function* paced(
  messages: AsyncIterable<Message>,
  drained: () => Promise<void>,
): AsyncGenerator<Message> {
  let count = 0;
  for await (const message of messages) {
    yield message;
    count += 1;
    if (count % messagesBetween === 0) await drained();
  }
}

const messagesBetween = 8;
