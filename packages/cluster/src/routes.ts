import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Channel } from '@groundcrew/rpc';
import { nodeWait, type RoutedClient, type RoutedRequest, type Routes } from '@groundcrew/server';
import type { ClusterStore, NodeEntry, SessionNeeds, SessionPlace, SessionStore } from '@groundcrew/store';
import { AttachedSession } from './attached-session.js';
import { NodeUnreachable } from './links.js';
import { NodeLink } from './node-link.js';
import {
  isAnswer,
  isElsewhere,
  isLinkLost,
  isNotFound,
  isRepeatable,
  mayPass,
  outcomeUnknown,
  unreachable,
} from './retries.js';

/** What the routes of a client are made with. */
export interface RoutesOptions {
  readonly store: Pick<SessionStore, 'read'>;
  readonly placeOf: ClusterStore['placeOf'];
  readonly runtimeId: string;
  /** Whether the session is open at this node. */
  isHere(sessionId: string): boolean;
  readonly waitOf: ClusterStore['waitOf'];
  /** Where a session that no node has is opened: undefined for this node. Throws when no node has the labels. */
  nodeFor(needs: SessionNeeds): NodeEntry | undefined;
  /** A channel on which a client is served: at this node, or at another one. Rejects with NodeUnreachable. */
  connect(node: NodeEntry | undefined, hello: { clientId: string; client: unknown }): Promise<Channel>;
  /** How long a session is looked for, in milliseconds. */
  readonly patience: number;
}

/** Methods with the id of a session that are answered from the store, wherever the session is. */
const answeredHere: ReadonlySet<string> = new Set([
  'session.getMetadata',
  'session.setForeground',
  'sessions.connect',
  'sessions.fork',
  'sessions.getMetadata',
]);

const opening: ReadonlySet<string> = new Set(['session.create', 'session.resume', 'sessions.open']);
const leaving: ReadonlySet<string> = new Set([
  'session.delete',
  'session.destroy',
  'session.detach',
  'session.shutdown',
  'sessions.close',
  'sessions.delete',
]);

type Params = Record<string, unknown>;

/** Forwards each request of one client to the node that owns its session, and events of these sessions back. */
export class ClientRoutes implements Routes {
  /** By the id of the node; this one has none. */
  readonly #links = new Map<string, Promise<NodeLink>>();
  readonly #attached = new Map<string, AttachedSession>();
  readonly #closing = new AbortController();

  constructor(
    private readonly client: RoutedClient,
    private readonly options: RoutesOptions,
  ) {}

  request(request: RoutedRequest): Promise<unknown> {
    const routed = withId(request);
    const sessionId = answeredHere.has(request.name) ? undefined : sessionIdIn(routed.params);
    if (sessionId === undefined) return this.client.serveHere(request);
    if (request.name === 'session.metadata.activity') return this.#activity(routed, sessionId);
    return opening.has(request.name) ? this.#open(routed, sessionId) : this.#forward(routed, sessionId);
  }

  close(): void {
    this.#closing.abort();
    this.#attached.clear();
    for (const link of this.#links.values())
      link.then(
        (each) => each.close(),
        () => undefined,
      );
  }

  /** Opens a session: from now on the client receives its events, wherever it goes. */
  async #open(request: RoutedRequest, sessionId: string): Promise<unknown> {
    const { name, params } = request;
    this.client.settle(openParams(request), name !== 'session.create');
    await this.#attached.get(sessionId)?.moving?.catch(() => undefined);
    const known = this.#attached.get(sessionId);
    const place = known ? undefined : await this.options.placeOf(sessionId);
    const session = known ?? new AttachedSession(sessionId, this.client, place?.seq ?? 0);
    this.#attached.set(sessionId, session);
    try {
      const answer = await this.#forward(request, sessionId);
      session.opened(openParams({ name, params }));
      return answer;
    } catch (error) {
      if (!known) this.#attached.delete(sessionId);
      throw error;
    }
  }

  /** Of a session that no live node can go on with, every node can say what it waits for. */
  async #activity(request: RoutedRequest, sessionId: string): Promise<unknown> {
    const isHere = this.#attached.get(sessionId)?.link?.isOpen || this.options.isHere(sessionId);
    const wait = isHere ? undefined : await this.options.waitOf(sessionId);
    if (!wait) return this.#forward(request, sessionId);
    return { abortable: false, hasActiveWork: true, waitingOn: [nodeWait(wait)] };
  }

  /** Sends a request to where the session is, again where it has moved meanwhile. */
  async #forward({ method, name, params, call }: RoutedRequest, sessionId: string): Promise<unknown> {
    const deadline = performance.now() + this.options.patience;
    for (let attempt = 0; ; attempt += 1) {
      const session = this.#attached.get(sessionId);
      try {
        await session?.moving;
        const link = session?.link?.isOpen ? session.link : await this.#linkFor(sessionId, needsIn(params));
        if (session && opening.has(name)) session.link = link;
        const answer = await link.request(method, params, call.signal);
        if (leaving.has(name)) this.#attached.delete(sessionId);
        return answer;
      } catch (error) {
        const hasMoved = session !== undefined && (session.moving !== undefined || isElsewhere(error));
        if (isLinkLost(error) && !isRepeatable(name)) throw outcomeUnknown(name);
        const isPassing = isAnswer(name) && !isElsewhere(error) && mayPass(error);
        const isWorthIt =
          isPassing ||
          isLinkLost(error) ||
          error instanceof NodeUnreachable ||
          isElsewhere(error) ||
          (hasMoved && isNotFound(error));
        if (!isWorthIt || call.signal.aborted || this.#closing.signal.aborted) throw error;
        if (performance.now() > deadline)
          throw error instanceof NodeUnreachable ? unreachable(sessionId, error.message) : error;
        if (session && !opening.has(name) && !isPassing) this.#move(session);
        await pause(pauseAfter(attempt));
      }
    }
  }

  async #linkFor(sessionId: string, wanted: Wanted = {}): Promise<NodeLink> {
    if (this.options.isHere(sessionId)) return this.#linkTo(undefined);
    const place: Partial<SessionPlace> = (await this.options.placeOf(sessionId)) ?? {};
    const { node } = place;
    if (node) return this.#linkTo(node.runtimeId === this.options.runtimeId ? undefined : node);
    const { providerRef, ...needs } = { ...wanted, ...place.needs };
    // A client may bring another service than the one that its session has named.
    const isNamed = providerRef !== undefined && !wanted.bringsProvider;
    return this.#linkTo(this.options.nodeFor({ ...needs, ...(isNamed && { providerRef }) }));
  }

  async #linkTo(node: NodeEntry | undefined): Promise<NodeLink> {
    const id = node?.runtimeId ?? '';
    const known = this.#links.get(id);
    const link = await known?.catch(() => undefined);
    if (link?.isOpen) return link;
    if (known && this.#links.get(id) !== known) return this.#linkTo(node);
    const opening = this.#connect(node);
    this.#links.set(id, opening);
    return opening;
  }

  async #connect(node: NodeEntry | undefined): Promise<NodeLink> {
    const { client } = this;
    const channel = await this.options.connect(node, { clientId: client.id, client: client.describe() });
    const link: NodeLink = new NodeLink(channel, client, {
      onEvent: (event) => {
        const session = this.#attached.get(event.sessionId);
        if (session?.link === link) session.receive(event);
      },
      onMoved: (sessionId) => {
        const session = this.#attached.get(sessionId);
        if (session?.link === link) this.#move(session);
      },
      onClosed: () => {
        for (const session of this.#attached.values()) if (session.link === link) this.#move(session);
      },
    });
    if (this.#closing.signal.aborted) link.close();
    return link;
  }

  /** Looks for the session anew and goes on there from the last event that the client has received. */
  #move(session: AttachedSession): void {
    if (session.moving || this.#closing.signal.aborted) return;
    session.link = undefined;
    session.hold();
    const moving = this.#reopen(session).finally(() => {
      session.moving = undefined;
    });
    session.moving = moving;
    moving.catch(() => undefined);
  }

  async #reopen(session: AttachedSession): Promise<void> {
    const { sessionId } = session;
    const deadline = performance.now() + this.options.patience;
    for (let attempt = 0; this.#isAttached(session); attempt += 1) {
      try {
        const link = await this.#linkFor(sessionId, needsIn(session.reopening));
        session.hold();
        session.link = link;
        await link.request('session.resume', session.reopening, this.#closing.signal);
        await session.catchUp(this.options.store, () => isIdleAt(link, sessionId));
        return;
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        session.link = undefined;
        const wait = await this.options.waitOf(sessionId).catch(() => undefined);
        if (wait) session.warn(nodeWait(wait).message);
        const isOver = !wait && performance.now() > deadline;
        const isPassing = isLinkLost(error) || error instanceof NodeUnreachable || mayPass(error);
        if (!isPassing || isOver) {
          // The client's next request gets the error; the client may then open the session again.
          this.#attached.delete(sessionId);
          throw error instanceof NodeUnreachable ? unreachable(sessionId, error.message) : error;
        }
        await pause(wait ? waitingPauseMs : pauseAfter(attempt));
      }
    }
  }

  #isAttached(session: AttachedSession): boolean {
    return !this.#closing.signal.aborted && this.#attached.get(session.sessionId) === session;
  }
}

async function isIdleAt(link: NodeLink, sessionId: string): Promise<boolean> {
  const activity = await link.request('session.metadata.activity', { sessionId }).catch(() => undefined);
  return (activity as { readonly hasActiveWork?: boolean } | undefined)?.hasActiveWork === false;
}

/** A session that no live node can go on with is looked for less often. */
const waitingPauseMs = 1_000;

/** Grows, and differs at random, so that the clients of a lost node do not all try at the same moment. */
function pauseAfter(attempt: number): number {
  return Math.min(500, 25 * 2 ** Math.min(attempt, 6)) * (0.5 + Math.random() / 2);
}

/** New sessions and prompts get their ids here, so that a request can be sent once more and is done once. */
function withId(request: RoutedRequest): RoutedRequest {
  const params = (request.params ?? {}) as Params;
  if (request.name === 'session.create' && typeof params.sessionId !== 'string')
    return { ...request, params: { ...params, sessionId: randomUUID() } };
  if (request.name === 'session.send' && params.messageId === undefined)
    return { ...request, params: { ...params, messageId: randomUUID() } };
  if (request.name !== 'sessions.open' || params.kind !== 'create') return request;
  const options = (params.options ?? {}) as Params;
  return { ...request, params: { ...params, options: { sessionId: randomUUID(), ...options } } };
}

function sessionIdIn(params: unknown): string | undefined {
  const { sessionId, options } = (params ?? {}) as { sessionId?: unknown; options?: { sessionId?: unknown } };
  if (typeof sessionId === 'string' && sessionId !== '') return sessionId;
  return typeof options?.sessionId === 'string' ? options.sessionId : undefined;
}

/** What a node must have for a session, by the parameters of the client that opens it. */
interface Wanted extends SessionNeeds {
  /** The client brings a model service of its own. */
  readonly bringsProvider?: boolean;
}

function needsIn(params: unknown): Wanted {
  const { nodeLabels, providerRef, provider } = (params ?? {}) as Params;
  return {
    bringsProvider: (provider as { readonly baseUrl?: unknown } | null | undefined)?.baseUrl !== undefined,
    ...(Array.isArray(nodeLabels) && { labels: nodeLabels.filter((label) => typeof label === 'string') }),
    ...(typeof providerRef === 'string' && { providerRef }),
  };
}

function openParams({ name, params }: Pick<RoutedRequest, 'name' | 'params'>): Params {
  const given = (params ?? {}) as Params;
  return name === 'sessions.open' ? ((given.options ?? {}) as Params) : given;
}
