import { randomUUID } from 'node:crypto';
import { errorCodes, errorMessages, type Method, type MethodName, methods, read } from '@groundcrew/protocol';
import { type Channel, Connection, RpcError } from '@groundcrew/rpc';
import type { Lifecycle, Runtime } from '@groundcrew/runtime';
import { Gatekeeper } from './auth.js';
import { Client } from './client.js';
import type { ServerEnvironment } from './environment.js';
import { explain } from './explain.js';
import { describeFailedRequest, failedText } from './failure.js';
import type { CallContext } from './handler.js';
import { handlers } from './handlers/catalog.js';
import { Inference } from './inference.js';
import { noticeOf } from './lifecycle-feed.js';
import { answerFor, currentName } from './older-methods.js';
import { PendingPeers } from './pending-peers.js';
import { requireSize } from './request-sizes.js';

/** The wire side of a runtime: any number of clients, each on its own channel. */
export class Server {
  /** Who makes the model calls, if the runtime does not. */
  readonly inference = new Inference();
  private readonly clients = new Map<Client, Gatekeeper>();
  private readonly pendingPeers = new PendingPeers();
  private isShuttingDown = false;

  constructor(
    private readonly runtime: Runtime,
    private readonly environment: ServerEnvironment,
  ) {
    runtime.onLifecycle((lifecycle) => this.broadcast(lifecycle));
  }

  /** Serves one client until its channel closes. */
  async serve(channel: Channel): Promise<void> {
    const gatekeeper = new Gatekeeper({
      token: this.environment.connectionToken,
      pendingPeers: this.pendingPeers,
      trust: () => channel.trust?.(),
      close: () => void connection.close(),
    });
    const connection: Connection = new Connection(channel, {
      onRequest: (method, params, call) => {
        const refusal = this.admit(method, params, gatekeeper);
        if (refusal !== undefined) return refusal;
        requireSize(method, call.bodyBytes);
        return this.dispatch(method, params, {
          runtime: this.runtime,
          client,
          inference: this.inference,
          environment: this.environment,
          // Made when somebody looks at it: most handlers never do.
          get signal() {
            return call.signal;
          },
        });
      },
      describeError: describeFailedRequest,
    });
    const client = new Client(randomUUID(), connection, this.runtime);
    this.clients.set(client, gatekeeper);
    await connection.closed;
    gatekeeper.leave();
    this.clients.delete(client);
    this.inference.left(client);
    client.leave();
  }

  /** Refuses what comes from now on and closes every session. */
  async shutdown(): Promise<void> {
    this.isShuttingDown = true;
    await this.runtime.shutdown();
  }

  private admit(method: string, params: unknown, gatekeeper: Gatekeeper): Promise<never> | undefined {
    if (this.isShuttingDown)
      throw new RpcError(errorCodes.serverShuttingDown, errorMessages.serverShuttingDown);
    return gatekeeper.admit(method, params);
  }

  private async dispatch(called: string, rawParams: unknown, context: CallContext): Promise<unknown> {
    const name = currentName(called);
    if (!isMethod(name)) throw new RpcError(errorCodes.methodNotFound, `Unhandled method ${called}`);
    this.environment.used?.add(name);
    const method: Method = methods[name];
    const params = read(method.params, rawParams);
    if (!params.success)
      throw new RpcError(errorCodes.invalidParams, failedText(name, explain(params.error.issues)));
    // The table pairs each name with its own handler; which one this is, is known only now.
    const handler = handlers[name] as (params: unknown, context: CallContext) => Promise<unknown>;
    const result = await handler(params.data, context);
    return answerFor(
      context.client.dialectIn(sessionOf(rawParams)),
      { method: name, params: rawParams },
      result,
    );
  }

  private broadcast(lifecycle: Lifecycle): void {
    if (this.clients.size === 0) return;
    const notice = noticeOf(lifecycle);
    for (const [client, gatekeeper] of this.clients) if (gatekeeper.isIn) client.sendLifecycle(notice);
  }
}

/** The session that a request names. */
function sessionOf(params: unknown): string {
  const { sessionId } = (params ?? {}) as { readonly sessionId?: unknown };
  return typeof sessionId === 'string' ? sessionId : '';
}

function isMethod(name: string): name is MethodName {
  return Object.hasOwn(methods, name);
}
