import { randomUUID } from 'node:crypto';
import { type Channel, channelPair } from '@groundcrew/rpc';
import { lackText, type RoutedClient, type Routes, type Routing } from '@groundcrew/server';
import {
  type ClusterStore,
  type Lack,
  type NodeAnnouncement,
  type NodeEntry,
  type NodeFigures,
  type NodeWait,
  type OrphanedSession,
  type Owner,
  type SessionNeeds,
  type SessionStore,
  StoreError,
} from '@groundcrew/store';
import type { Bus } from './bus.js';
import { Links } from './links.js';
import { noNodeHas } from './retries.js';
import { ClientRoutes } from './routes.js';

/** The sessions of this node, as the cluster needs them. */
export interface NodeSessions {
  isOpen(sessionId: string): boolean;
  openIds(): readonly string[];
  /** Continues the work of a session whose node has died. Rejects when this node cannot. */
  adopt(orphan: OrphanedSession): Promise<void>;
  /** What this node lacks to go on with it. */
  missingFor(orphan: OrphanedSession): readonly Lack[];
  /** Another node has the session: the copy here is void. */
  lose(sessionId: string): void;
  /** Ends its turn, or waits for its end until the signal is aborted, and leaves the session to other nodes. */
  handOver(sessionId: string, signal: AbortSignal): Promise<void>;
}

/** A key of a model service, by a hash, and how long calls with it wait. */
export interface HeldKey {
  readonly key: string;
  readonly milliseconds: number;
}

/** What a node is made with. */
export interface ClusterNodeOptions {
  readonly bus: Bus;
  readonly store: Pick<SessionStore, 'read'>;
  readonly cluster: ClusterStore;
  readonly owner: Owner;
  readonly labels: readonly string[];
  readonly sessions: NodeSessions;
  /** Names of the model services that this node knows. */
  providers(): readonly string[];
  /** What this node does, as others are shown it. */
  figures(): Omit<NodeFigures, 'isDraining' | 'links'>;
  /** Brings what all nodes share up to date at this node, each time it looks at the others. */
  refresh(): Promise<void>;
  /** The event that informs clients that no live node can go on with a session. */
  waiting(orphan: OrphanedSession, wait: NodeWait): unknown;
  /** Serves a client that another node, or this one, has authenticated. */
  serve(channel: Channel, client: unknown): Promise<void>;
  /** Another node says what happened to a session. */
  onLifecycle(lifecycle: unknown): void;
  /** Another node was refused by a model service, because there were too many calls with one key. */
  onHold(held: HeldKey): void;
  onWarning(message: string): void;
  /** How often nodes and orphans are looked at, and how long after the end of a lease work is taken over, in milliseconds. */
  readonly times?: { readonly tick: number; readonly headStart: number; readonly patience: number };
}

/**
 * Nodes that have clients of an orphan open it with all that these bring; the others wait so long before they take it. In
 * `patience` a session is looked for: a lease, an outage of the database, and a take-over fit into it.
 */
const defaultTimes = { tick: 250, headStart: 500, patience: 60_000 };

/** All nodes subscribe to it, those of other tenants too, because they may use the same keys of model services. */
const heldSubject = 'gc.held';

/** How many orphans one node takes over at once, so that other nodes get some too. */
const orphansAtOnce = 16;

/** For how many sessions it is remembered that clients got the event. */
const mostAnnounced = 1_000;

/** When an orphan is tried again: one that lacks something here, and one whose take-over failed. */
const missingAgainMs = 10_000;
const failedAgainMs = 500;

/** One of several runtimes that share a store: it forwards requests to the node that has the session, and takes over sessions that others leave. */
export class ClusterNode implements Routing {
  readonly #options: ClusterNodeOptions;
  readonly #times: Required<NonNullable<ClusterNodeOptions['times']>>;
  readonly #address = `gc.${randomUUID().replaceAll('-', '')}`;
  /** Names this node in messages that all nodes receive, so that it ignores its own. It is no address. */
  readonly #sender = randomUUID();
  readonly #links: Links;
  /** Orphans that cannot go on here now, and until when they are not tried again. */
  readonly #lacking = new Map<string, number>();
  /** Orphans that are being taken over, beside one another: one that takes long does not delay the others. */
  readonly #adopting = new Map<string, Promise<void>>();
  /** Sessions whose clients were sent the event, each with a digest of what was missing. */
  readonly #announced = new Map<string, string>();
  #others: readonly NodeEntry[] = [];
  #isDraining = false;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> = Promise.resolve();

  constructor(options: ClusterNodeOptions) {
    this.#options = options;
    this.#times = options.times ?? defaultTimes;
    const { bus } = options;
    this.#links = new Links({
      bus,
      address: this.#address,
      accept: (channel, { client }) => options.serve(channel, client),
    });
    bus.subscribe(`${this.#address}.joined`, (data) => {
      this.#others = [...this.#others, JSON.parse(Buffer.from(data).toString()) as NodeEntry];
      return Uint8Array.of();
    });
    bus.subscribe(heldSubject, (data) => {
      const held = heldIn(data);
      if (held && held.from !== this.#sender) options.onHold(held);
      return undefined;
    });
    bus.subscribe(`${this.#address}.lifecycle`, (data) => {
      options.onLifecycle(JSON.parse(Buffer.from(data).toString()));
      return undefined;
    });
  }

  /** Makes this node known to the others, and begins to take over orphans. Throws StoreError. */
  async start(): Promise<void> {
    const { bus, cluster, owner } = this.#options;
    await bus.subscribed();
    await cluster.announce(owner, () => this.#announcement());
    cluster.onLapse(() => void this.#findTaken());
    await this.#tick().catch((error: Error) => this.#options.onWarning(error.message));
    await this.#greet({ ...this.#entry, runtimeId: owner.runtimeId });
    this.#next();
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  open(client: RoutedClient): Routes {
    const { store, cluster, owner, sessions } = this.#options;
    return new ClientRoutes(client, {
      store,
      placeOf: (sessionId) => cluster.placeOf(sessionId),
      runtimeId: owner.runtimeId,
      isHere: (sessionId) => sessions.isOpen(sessionId),
      waitOf: (sessionId) => cluster.waitOf(sessionId),
      nodeFor: (needs) => this.#nodeFor(needs),
      connect: (node, hello) => this.#connect(node, hello),
      patience: this.#times.patience,
    });
  }

  /** Sends what happened to a session here to the clients of all other nodes. */
  broadcast(lifecycle: unknown): void {
    const data = Buffer.from(JSON.stringify(lifecycle));
    for (const { address } of this.#others) this.#options.bus.publish(`${address}.lifecycle`, data);
  }

  /** Asks all other nodes to hold calls with this key. */
  broadcastHold({ key, milliseconds }: HeldKey): void {
    const data = JSON.stringify({ key, milliseconds, from: this.#sender });
    this.#options.bus.publish(heldSubject, Buffer.from(data));
  }

  /**
   * Leaves all sessions to other nodes: each when its turn ends, and all of them when the signal is aborted. Clients of
   * this node stay connected, and are forwarded.
   */
  async drain(signal: AbortSignal): Promise<void> {
    const { sessions, onWarning } = this.#options;
    this.#isDraining = true;
    await this.#tick().catch(() => undefined);
    const leave = (sessionId: string) =>
      sessions.handOver(sessionId, signal).catch((error: Error) => onWarning(error.message));
    await Promise.all(sessions.openIds().map(leave));
    // Sessions that were being opened when draining began.
    await Promise.all(sessions.openIds().map(leave));
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isDraining = true;
    await this.#ticking.catch(() => undefined);
    await Promise.all(this.#adopting.values());
    await this.#links.close();
    await this.#options.bus.close();
  }

  async #connect(
    node: NodeEntry | undefined,
    hello: { readonly clientId: string; readonly client: unknown },
  ): Promise<Channel> {
    if (node) return this.#links.open(node, hello);
    const [here, there] = channelPair();
    void this.#options.serve(there, hello.client);
    return here;
  }

  get #entry(): Omit<NodeEntry, 'runtimeId'> {
    const { labels, providers } = this.#options;
    return { address: this.#address, labels, providers: providers() };
  }

  #announcement(): NodeAnnouncement {
    const links = this.#links.size;
    const figures = { ...this.#options.figures(), isDraining: this.#isDraining, links };
    return { ...this.#entry, figures };
  }

  /** A node that has all that a session needs; throws where none has. */
  #nodeFor(needs: SessionNeeds): NodeEntry | undefined {
    const { labels: wanted = [], providerRef } = needs;
    const has = ({ labels, providers }: Pick<NodeEntry, 'labels' | 'providers'>) =>
      wanted.every((label) => labels.includes(label)) &&
      (providerRef === undefined || providers.includes(providerRef));
    const hasHere = has(this.#entry);
    if (!this.#isDraining && hasHere) return undefined;
    const other = this.#others.find(has);
    if (!other && !hasHere) throw noNodeHas(needs);
    return other;
  }

  /** Tells the others of this node at once, so that they need not find it in the database first. */
  async #greet(entry: NodeEntry): Promise<void> {
    const data = Buffer.from(JSON.stringify(entry));
    const { bus } = this.#options;
    await Promise.allSettled(
      this.#others.map(({ address }) => bus.request(`${address}.joined`, data, 1_000)),
    );
  }

  #next(): void {
    this.#timer = setTimeout(() => {
      this.#ticking = this.#tick().catch(() => undefined);
      void this.#ticking.then(() => this.#timer && this.#next());
    }, this.#times.tick).unref();
  }

  async #tick(): Promise<void> {
    const { cluster, owner } = this.#options;
    const nodes = await cluster.nodes();
    await this.#options.refresh();
    this.#others = nodes.filter(({ runtimeId }) => runtimeId !== owner.runtimeId);
    this.#links.keepOnly(new Set(this.#others.map(({ address }) => address)));
    if (!this.#isDraining) await this.#adoptOrphans();
  }

  async #adoptOrphans(): Promise<void> {
    const { cluster, sessions } = this.#options;
    const now = performance.now();
    for (const [sessionId, until] of this.#lacking) if (until < now) this.#lacking.delete(sessionId);
    const limit = orphansAtOnce + this.#lacking.size + this.#adopting.size;
    const orphans = await cluster.orphans({ limit, since: this.#times.headStart });
    const wanted = orphans.filter(
      ({ sessionId }) =>
        !this.#lacking.has(sessionId) && !this.#adopting.has(sessionId) && !sessions.isOpen(sessionId),
    );
    for (const orphan of shuffled(wanted).slice(0, Math.max(0, orphansAtOnce - this.#adopting.size))) {
      const { sessionId } = orphan;
      this.#adopting.set(
        sessionId,
        this.#adopt(orphan).finally(() => this.#adopting.delete(sessionId)),
      );
    }
  }

  async #adopt(orphan: OrphanedSession): Promise<void> {
    const { sessions, onWarning } = this.#options;
    const missing = sessions.missingFor(orphan);
    if (missing.length === 0) {
      await sessions.adopt(orphan).catch((error: Error) => this.#notAdopted(orphan, error));
      return;
    }
    this.#postpone(orphan, missingAgainMs);
    onWarning(`Session ${orphan.sessionId} cannot go on at this node: ${lackText(missing)}`);
    await this.#announce(orphan, missing).catch((error: Error) => onWarning(error.message));
  }

  /** Another node was quicker, or something failed that may pass: it is looked at again soon. */
  #notAdopted(orphan: OrphanedSession, error: Error): void {
    this.#postpone(orphan, failedAgainMs);
    if (!(error instanceof StoreError && error.kind === 'in_use'))
      this.#options.onWarning(`Session ${orphan.sessionId} was not taken over: ${error.message}`);
  }

  /** This node does not try it again for so long. */
  #postpone({ sessionId }: OrphanedSession, milliseconds: number): void {
    this.#lacking.set(sessionId, performance.now() + milliseconds);
  }

  /** Notes what this node lacks. The last node to do so broadcasts to the clients of all nodes that none can go on. */
  async #announce(orphan: OrphanedSession, missing: readonly Lack[]): Promise<void> {
    const { cluster, owner, onLifecycle, waiting } = this.#options;
    const { sessionId } = orphan;
    await cluster.lack(owner, sessionId, missing);
    const wait = await cluster.waitOf(sessionId);
    const digest = JSON.stringify(wait);
    if (
      wait?.nodes.at(-1)?.node !== `${owner.host}:${owner.pid}` ||
      this.#announced.get(sessionId) === digest
    )
      return;
    this.#announced.set(sessionId, digest);
    if (this.#announced.size > mostAnnounced)
      this.#announced.delete(this.#announced.keys().next().value ?? '');
    const lifecycle = waiting(orphan, wait);
    onLifecycle(lifecycle);
    this.broadcast(lifecycle);
  }

  /** After a pause that was longer than the lease: sessions that others have are not this node's any more. */
  async #findTaken(): Promise<void> {
    const { cluster, owner, sessions } = this.#options;
    try {
      const taken = await cluster.taken(owner, sessions.openIds());
      for (const sessionId of taken) sessions.lose(sessionId);
    } catch (error) {
      this.#options.onWarning((error as Error).message);
    }
  }
}

function shuffled<T>(items: readonly T[]): readonly T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** The hold on a key in a message of the bus; undefined when it has another form. */
function heldIn(data: Uint8Array): (HeldKey & { readonly from?: unknown }) | undefined {
  try {
    const held = JSON.parse(Buffer.from(data).toString()) as Record<keyof HeldKey | 'from', unknown>;
    const { key, milliseconds, from } = held;
    const isKey = typeof key === 'string' && key.length <= 64 && Number.isFinite(milliseconds);
    return isKey ? { key, milliseconds: Number(milliseconds), from } : undefined;
  } catch {
    return undefined;
  }
}
