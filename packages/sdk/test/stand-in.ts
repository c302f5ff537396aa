import { Connection, channelPair, ErrorCode, RpcError } from '@groundcrew/rpc';
import { Client } from '../src/client.js';
import { RuntimeConnection } from '../src/connection-options.js';
import type { HandlerFailure } from '../src/handler-failure.js';

type Reply = (params: Readonly<Record<string, unknown>>) => unknown;

/** A runtime whose every word the test says: for what no real one can be made to say on demand. */
export class StandIn {
  /** What it was asked, without the handshake. */
  readonly requests: { readonly method: string; readonly params: Readonly<Record<string, unknown>> }[] = [];
  readonly failures: HandlerFailure[] = [];
  readonly client: Client;
  private readonly connection: Connection;
  private readonly replies: Readonly<Record<string, Reply>>;

  constructor(
    replies: Readonly<Record<string, Reply>> = {},
    options: { readonly connectionToken?: string } = {},
  ) {
    const [ours, theirs] = channelPair();
    this.replies = { ...usual, ...replies };
    this.connection = new Connection(theirs, {
      onRequest: async (method, params) => this.reply(method, params),
    });
    this.client = new Client({
      connection: RuntimeConnection.forChannel(() => ours, options),
      reconnectTimeout: 0,
      onHandlerError: (failure) => this.failures.push(failure),
    });
  }

  /** Asks the client something. */
  ask(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    return this.connection.request(method, params, signal);
  }

  /** Sends the client an event, and waits until it has received it. */
  async send(sessionId: string, type: string, data: object): Promise<void> {
    const event = { id: 'e', timestamp: '2026-01-02T03:04:05.678Z', parentId: null, type, data };
    this.connection.notify('session.event', { sessionId, event });
    await this.ask('unknown', { sessionId }).catch(() => undefined);
  }

  hangUp(): Promise<void> {
    return this.connection.close();
  }

  private reply(method: string, params: unknown): unknown {
    const known = this.replies[method];
    if (!known) throw new RpcError(ErrorCode.methodNotFound, `Unhandled method ${method}`);
    const given = params as Readonly<Record<string, unknown>>;
    if (method !== 'connect') this.requests.push({ method, params: given });
    return known(given);
  }
}

const usual: Readonly<Record<string, Reply>> = {
  connect: () => ({ ok: true, protocolVersion: 3, version: '0' }),
  'session.create': ({ sessionId }) => ({ sessionId, workspacePath: '' }),
  'session.destroy': () => ({ success: true }),
  'session.permissions.handlePendingPermissionRequest': () => ({ success: true }),
  'session.tools.handlePendingToolCall': () => ({ success: true }),
};
