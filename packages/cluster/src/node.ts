import { randomUUID } from 'node:crypto';
import { type Channel, channelPair } from '@groundcrew/rpc';
import type { RoutedClient, Routes, Routing } from '@groundcrew/server';
import type { ClusterStore, NodeEntry, OrphanedSession, Owner, SessionStore } from '@groundcrew/store';
import type { Bus } from './bus.js';
import { Links } from './links.js';
import { ClientRoutes } from './routes.js';

/** The sessions of this node, as the cluster needs them. */
export interface NodeSessions {
  isOpen(sessionId: string): boolean;
  openIds(): readonly string[];
  /** Goes on with the work of a session whose node is gone. Rejects when it cannot. */
  adopt(orphan: OrphanedSession): Promise<void>;
  /** What this node lacks to go on with it; undefined when nothing is. */
  missingFor(orphan: OrphanedSession): string | undefined;
  /** Another node has the session: the copy here is void. */
  lose(sessionId: string): void;
  /** Ends its turn, or waits for its end until the signal is aborted, and leaves the session to other nodes. */
  handOver(sessionId: string, signal: AbortSignal): Promise<void>;
}

/** What a node stands on. */
export interface ClusterNodeOptions {
  readonly bus: Bus;
  readonly store: Pick<SessionStore, 'read'>;
  readonly cluster: ClusterStore;
  readonly owner: Owner;
  readonly labels: readonly string[];
  readonly sessions: NodeSessions;
  /** Serves a client that a node has let in. */
  serve(channel: Channel, client: unknown): Promise<void>;
  /** Another node says what happened to a session. */
  onLifecycle(lifecycle: unknown): void;
  onWarning(message: string): void;
  /** How often nodes and orphans are looked at, and how long after the end of a lease work is taken over, in milliseconds. */
  readonly times?: { readonly tick: number; readonly headStart: number; readonly patience: number };
}

/**
 * Nodes that have clients of an orphan open it with all that these bring; the others wait so long before they take it. In
 * `patience` a session is looked for: a lease, an outage of the database, and a take-over fit into it.
 */
const defaultTimes = { tick: 250, headStart: 500, patience: 60_000 };

/** Orphans that one node takes at once: the others are to have some as well. */
const orphansAtOnce = 16;

/** What cannot run here is looked at again after so long. */
const missingAgainMs = 10_000;

/** One of several runtimes that share a store: it has requests served where their session is, and takes over what others leave. */
export class ClusterNode implements Routing {
  readonly #options: ClusterNodeOptions;
  readonly #times: Required<NonNullable<ClusterNodeOptions['times']>>;
  readonly #address = `gc.${randomUUID().replaceAll('-', '')}`;
  readonly #links: Links;
  /** Orphans that lack something here, and until when they are left alone. */
  readonly #lacking = new Map<string, number>();
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
    bus.subscribe(`${this.#address}.lifecycle`, (data) => {
      options.onLifecycle(JSON.parse(Buffer.from(data).toString()));
      return undefined;
    });
  }

  /** Shows this node to the others, and looks after what they leave from now on. Throws StoreError. */
  async start(): Promise<void> {
    const { bus, cluster, owner, labels } = this.#options;
    await bus.subscribed();
    await cluster.announce(owner, { address: this.#address, labels });
    cluster.onLapse(() => void this.#findTaken());
    await this.#tick().catch((error: Error) => this.#options.onWarning(error.message));
    await this.#greet({ runtimeId: owner.runtimeId, address: this.#address, labels });
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
      otherNode: () => (this.#isDraining ? this.#others[0] : undefined),
      connect: (node, hello) => this.#connect(node, hello),
      patience: this.#times.patience,
    });
  }

  /** Has the clients of all other nodes receive what happened to a session here. */
  broadcast(lifecycle: unknown): void {
    const data = Buffer.from(JSON.stringify(lifecycle));
    for (const { address } of this.#others) this.#options.bus.publish(`${address}.lifecycle`, data);
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
    // What was being opened when it began.
    await Promise.all(sessions.openIds().map(leave));
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isDraining = true;
    await this.#ticking.catch(() => undefined);
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

  /** The others know of this node before its first client comes. */
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
    this.#others = nodes.filter(({ runtimeId }) => runtimeId !== owner.runtimeId);
    this.#links.keepOnly(new Set(this.#others.map(({ address }) => address)));
    if (!this.#isDraining) await this.#adoptOrphans();
  }

  async #adoptOrphans(): Promise<void> {
    const { cluster, sessions, onWarning } = this.#options;
    const now = performance.now();
    for (const [sessionId, until] of this.#lacking) if (until < now) this.#lacking.delete(sessionId);
    const limit = orphansAtOnce + this.#lacking.size;
    const orphans = await cluster.orphans({ limit, since: this.#times.headStart });
    const wanted = orphans.filter(
      ({ sessionId }) => !this.#lacking.has(sessionId) && !sessions.isOpen(sessionId),
    );
    const adopting = shuffled(wanted).map(async (orphan) => {
      const missing = sessions.missingFor(orphan);
      if (missing === undefined) {
        await sessions.adopt(orphan).catch(() => this.#lack(orphan));
        return;
      }
      this.#lack(orphan);
      onWarning(`Session ${orphan.sessionId} cannot go on at this node: ${missing}`);
    });
    await Promise.all(adopting);
  }

  /** Another node may have been quicker, or is able to; this one looks again later. */
  #lack({ sessionId }: OrphanedSession): void {
    this.#lacking.set(sessionId, performance.now() + missingAgainMs);
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
