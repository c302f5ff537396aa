import { randomUUID } from 'node:crypto';
import { errorCodes, errorMessages, type Method, type MethodName, methods, read } from '@groundcrew/protocol';
import { type Call, type Channel, Connection, RpcError } from '@groundcrew/rpc';
import type { Lifecycle, Runtime } from '@groundcrew/runtime';
import { staleOwner } from '@groundcrew/store';
import { auditAnswer, type Identity, localUser, requireRole } from './access.js';
import { Client } from './client.js';
import { ClientDialect, type DescribedDialect } from './dialect/client-dialect.js';
import { NewerSessions } from './dialect/newer-sessions.js';
import { currentName } from './dialect/older-methods.js';
import type { ServerEnvironment } from './environment.js';
import { Extensions } from './extensions.js';
import { describeFailedRequest, describeIssues, failedText, QuotaExceeded } from './failure.js';
import { findSession } from './find-session.js';
import { ForwardedTelemetry } from './forwarded-telemetry.js';
import { Gatekeeper } from './gatekeeper.js';
import type { CallContext } from './handler.js';
import { handlers, sessionMethodHandlers } from './handlers/catalog.js';
import { Inference } from './inference.js';
import { noticeOf } from './lifecycle-feed.js';
import { optionWarnings, unknownParameters } from './option-warnings.js';
import { PendingPeers } from './pending-peers.js';
import { requireSize, requireValues } from './request-sizes.js';
import type { RoutedClient } from './routing.js';

/** The wire side of a runtime: any number of clients, each on its own channel. */
export class Server {
  /** Who makes the model calls, if the runtime does not. */
  readonly inference = new Inference();
  private readonly clients = new Map<Client, Gatekeeper>();
  private readonly pendingPeers = new PendingPeers();
  private isShuttingDown = false;
  private readonly newerSessions = new NewerSessions();
  private readonly telemetry: ForwardedTelemetry;
  private readonly extensions: Extensions;

  constructor(
    private readonly runtime: Runtime,
    private readonly environment: ServerEnvironment,
  ) {
    this.telemetry = new ForwardedTelemetry(environment.version);
    this.extensions = new Extensions(environment.extensions, (channel, extension) =>
      this.serve(channel, { extension }),
    );
    runtime.onLifecycle((lifecycle) => this.broadcast(lifecycle));
  }

  /** It refuses what comes from now on. */
  get isClosing(): boolean {
    return this.isShuttingDown;
  }

  /** Serves one client until its channel closes; a trusted one has shown the token where its channel was opened. */
  serve(channel: Channel, options: ServeOptions = {}): Promise<void> {
    return this.serveClient(channel, options);
  }

  /** Serves a client of another node, which has let it in, until the channel between the nodes closes. */
  async serveForwarded(channel: Channel, described: unknown): Promise<void> {
    const { tenant } = this.environment.access ?? {};
    const { identity } = (described ?? {}) as Partial<DescribedClient>;
    if (tenant !== undefined && identity?.tenant !== tenant) return channel.close();
    return this.serveClient(channel, { isTrusted: true, described: described as DescribedClient });
  }

  /** Another node has the session now: clients that are attached to it here go on there. */
  sessionMoved(sessionId: string): void {
    for (const client of this.clients.keys()) client.sessionMoved(sessionId);
  }

  /** How many clients are connected to this node. */
  get clientCount(): number {
    return [...this.clients.keys()].filter(({ isForwarded }) => !isForwarded).length;
  }

  /** This node is about to end: clients that know what to do then connect elsewhere. */
  announceDrain(): void {
    for (const client of this.clients.keys()) client.announceDrain();
  }

  /** What happened to a session of another node. */
  lifecycleElsewhere(lifecycle: Lifecycle): void {
    this.broadcast(lifecycle);
  }

  private async serveClient(
    channel: Channel,
    {
      extension,
      isTrusted = false,
      described,
      identity,
    }: ServeOptions & { readonly described?: DescribedClient },
  ): Promise<void> {
    const gatekeeper = new Gatekeeper({
      token: this.environment.connectionToken,
      // A child that the runtime started itself is no stranger.
      isKnown: isTrusted || extension !== undefined || identity !== undefined,
      ...(identity && { hasIdentity: true }),
      pendingPeers: this.pendingPeers,
      trust: () => channel.trust?.(),
      close: () => void connection.close(),
    });
    const connection: Connection = new Connection(
      channel,
      {
        onRequest: (method, params, call) => {
          const refusal = this.admit(method, params, gatekeeper);
          if (refusal !== undefined) return refusal;
          requireSize(method, call.bodyBytes);
          requireValues(method, params);
          const name = currentName(method);
          if (isMethod(name))
            requireRole(name, params, { identity: client.identity, access: this.environment.access });
          if (routes) return routes.request({ method, name, params, call });
          return this.answer(method, params, { client, call });
        },
        describeError: describeFailedRequest,
      },
      { longestTurnMs },
    );
    const client = new Client(
      randomUUID(),
      dialectOf(this.environment, described),
      connection,
      this.runtime,
      this.telemetry,
      extension,
      described !== undefined,
      identity ?? described?.identity ?? localUser,
    );
    client.wantsTelemetry = described?.wantsTelemetry ?? false;
    const routes =
      extension || described ? undefined : this.environment.routing?.open(this.routed(client, connection));
    this.clients.set(client, gatekeeper);
    await connection.closed;
    routes?.close();
    gatekeeper.disconnect();
    this.clients.delete(client);
    this.inference.removeClient(client);
    client.disconnect();
    if (!extension) this.extensions.left((sessionId) => this.runtime.find(sessionId));
  }

  private answer(
    method: string,
    params: unknown,
    { client, call }: Pick<Request, 'client' | 'call'>,
  ): Promise<unknown> {
    const works: (() => void)[] = [];
    const answered = this.dispatch(method, params, { client, call, works });
    // The connection sends the answer as soon as it is there; what is put off until the next phase follows it.
    const follow = () => works.length > 0 && setImmediate(() => works.forEach((work) => void work()));
    answered.then(follow, follow);
    return answered;
  }

  private routed(client: Client, connection: Connection): RoutedClient {
    return {
      id: client.id,
      serveHere: ({ method, params, call }) => this.answer(method, params, { client, call }),
      ask: (method, params, signal) => connection.request(method, params, signal),
      send: (frame) => connection.send(frame),
      drained: () => connection.drained(),
      eventOf: (sessionId, record) => client.eventOf(sessionId, record),
      settle: (params, isResume) => {
        const given = (params ?? {}) as Parameters<ClientDialect['settle']>[0]['params'];
        const isOfNewer = this.newerSessions.has(given.sessionId ?? '');
        client.dialect.settle({ params: given, isResume, isOfNewer });
        if (!isResume && client.dialect.resumesLikeProtocol2) this.newerSessions.add(given.sessionId ?? '');
      },
      describe: (): DescribedClient => ({
        dialect: client.dialect.describe(),
        wantsTelemetry: client.wantsTelemetry,
        identity: client.identity,
      }),
    };
  }

  /** Refuses what comes from now on and closes every session. */
  async shutdown(): Promise<void> {
    this.isShuttingDown = true;
    await this.extensions.stopAll();
    await this.runtime.shutdown();
  }

  private admit(method: string, params: unknown, gatekeeper: Gatekeeper): Promise<never> | undefined {
    if (this.isShuttingDown)
      throw new RpcError(errorCodes.serverShuttingDown, errorMessages.serverShuttingDown);
    return gatekeeper.admit(method, params);
  }

  private async dispatch(
    called: string,
    rawParams: unknown,
    { client, call, works }: Request,
  ): Promise<unknown> {
    const name = currentName(called);
    if (client.isForwarded) this.requireStaying(name, rawParams);
    if (!isMethod(name)) throw new RpcError(errorCodes.methodNotFound, `Unhandled method ${called}`);
    this.environment.used?.add(name);
    const method: Method = methods[name];
    const params = read(method.params, rawParams);
    if (!params.success)
      throw new RpcError(errorCodes.invalidParams, failedText(name, describeIssues(params.error.issues)));
    const context: CallContext = {
      runtime: this.runtime,
      client,
      inference: this.inference,
      environment: this.environment,
      // Made when a handler looks at it: most never do.
      get signal() {
        return call.signal;
      },
      newerSessions: this.newerSessions,
      telemetry: this.telemetry,
      extensions: this.extensions,
      afterAnswer: (work) => void works.push(work),
      optionWarnings: () => optionWarnings(name, params.data as object),
    };
    const result = await this.handle(name, params.data, context);
    return client.dialect.answer({ method: name, params: rawParams }, result);
  }

  /** A node that is about to end takes no session that it does not have: the client's node looks for another one. */
  private requireStaying(name: string, params: unknown): void {
    if (!this.environment.routing?.isDraining || !opening.has(name)) return;
    const { sessionId = '' } = (params ?? {}) as { readonly sessionId?: string };
    if (!this.runtime.find(sessionId)) throw staleOwner(sessionId);
  }

  /** Within the quotas of the tenant, and audited where that matters. */
  private async handle(name: MethodName, params: unknown, context: CallContext): Promise<unknown> {
    const { access } = this.environment;
    if (!access) return this.handleAdmitted(name, params, context);
    const { identity } = context.client;
    const request = { method: name, params };
    const done = await access.admit?.(request, this.runtime).catch((error: Error) => {
      if (error instanceof QuotaExceeded)
        access.audit({ event: 'quota', method: name, detail: error.message }, identity);
      throw error;
    });
    try {
      const result = await this.handleAdmitted(name, params, context);
      auditAnswer(request, result, { identity, access });
      return result;
    } finally {
      done?.();
    }
  }

  private async handleAdmitted(name: MethodName, params: unknown, context: CallContext): Promise<unknown> {
    // The tables pair each name with its own handler; which one this is, is known only now.
    if (!isInSession(name)) return (handlers[name] as LooseHandler)(params, context);
    const { sessionId } = params as { readonly sessionId?: string };
    const session = findSession(this.runtime, sessionId, name);
    const result = await (sessionMethodHandlers[name] as LooseHandler)(
      params,
      Object.assign(context, { session }),
    );
    const unknown = unknownParameters(name, params as object);
    // A session that the call has closed has no one left to warn.
    if (unknown.length > 0 && this.runtime.find(session.sessionId) === session)
      await session.tools.warn(unknown);
    return result;
  }

  private broadcast(lifecycle: Lifecycle): void {
    if (lifecycle.type === 'session.deleted') {
      this.telemetry.remove(lifecycle.sessionId);
      void this.extensions.stop(lifecycle.sessionId);
    }
    if (this.clients.size === 0) return;
    const notice = noticeOf(lifecycle);
    for (const [client, gatekeeper] of this.clients) if (gatekeeper.isIn) client.sendLifecycle(notice);
  }
}

/** One client may send thousands of small requests at once; between so many milliseconds of them others are answered. */
const longestTurnMs = 5;

const opening: ReadonlySet<string> = new Set(['session.create', 'session.resume', 'sessions.open']);

interface ServeOptions {
  readonly extension?: Client['extension'];
  readonly isTrusted?: boolean;
  /** The client's identity, which was checked where its channel was opened; the local user unless given. */
  readonly identity?: Identity;
}

/** What one node sends another about a client. */
interface DescribedClient {
  readonly dialect: DescribedDialect;
  readonly wantsTelemetry: boolean;
  /** Absent where the other node is of a version without tenants. */
  readonly identity?: Identity;
}

function dialectOf(
  { clients = {} }: ServerEnvironment,
  described: DescribedClient | undefined,
): ClientDialect {
  return described ? ClientDialect.of(clients, described.dialect) : new ClientDialect(clients);
}

type LooseHandler = (params: unknown, context: CallContext) => Promise<unknown>;

/** Who asks, and the request as the connection has it. */
interface Request {
  readonly client: Client;
  readonly call: Call;
  /** What is to follow the answer. */
  readonly works: (() => void)[];
}

function isInSession(name: MethodName): name is keyof typeof sessionMethodHandlers {
  return Object.hasOwn(sessionMethodHandlers, name);
}

function isMethod(name: string): name is MethodName {
  return Object.hasOwn(methods, name);
}
