import { existsSync } from 'node:fs';
import type { ClusterNode, NodeSessions } from '@groundcrew/cluster';
import type { KeyHold } from '@groundcrew/models';
import type { Lifecycle, Runtime, RuntimeOptions } from '@groundcrew/runtime';
import { nodeWait, type Routing, type Server } from '@groundcrew/server';
import type { Lack, NodeWait, OrphanedSession, Owner } from '@groundcrew/store';
import type { ClusterChoice } from '../config/cluster-choice.js';
import type { NamedProviders } from '../config/named-providers.js';
import { BookCopy } from './book-copy.js';
import type { SharedStore } from './shared-store.js';

/** What a node is made of. */
export interface NodeParts extends ClusterChoice {
  readonly store: SharedStore;
  readonly owner: Owner;
  readonly providers: Pick<NamedProviders, 'has' | 'names'>;
  readonly version: string;
  readonly homeDirectory: string;
  warn(message: string): void;
}

/** This runtime as a node; nothing of it is loaded before `start`. */
export class ProgramNode implements Routing {
  #node: ClusterNode | undefined;
  readonly #startedAt = new Date().toISOString();

  constructor(private readonly parts: NodeParts) {}

  /** Connects to NATS and shows this node to the others. Throws StoreError, and BadBusAddress. */
  async start(runtime: Runtime, server: Server, hold: (held: KeyHold) => void): Promise<void> {
    const { nats, labels, owner, store, warn } = this.parts;
    const { ClusterNode: Node, openBus } = await import('@groundcrew/cluster');
    const bus = await openBus({ url: nats, onWarning: warn });
    const cluster = await store.cluster();
    const { homeDirectory } = this.parts;
    const copy = new BookCopy({ book: cluster.book, homeDirectory, warn });
    const node = new Node({
      bus,
      store,
      cluster,
      owner,
      labels,
      sessions: sessionsOf(runtime, this.parts),
      providers: () => this.parts.providers.names(),
      figures: () => ({
        ...runtime.figures,
        version: this.parts.version,
        startedAt: this.#startedAt,
        clients: server.clientCount,
        memoryBytes: process.memoryUsage.rss(),
      }),
      waiting: waitingLifecycle,
      refresh: () => copy.refresh(runtime),
      serve: (channel, client) => server.serveForwarded(channel, client),
      onLifecycle: (lifecycle) => server.lifecycleElsewhere(lifecycle as Lifecycle),
      onHold: hold,
      onWarning: warn,
    });
    this.#node = node;
    runtime.onLifecycle((lifecycle) => node.broadcast(lifecycle));
    await node.start();
  }

  open(client: Parameters<Routing['open']>[0]): ReturnType<Routing['open']> {
    if (!this.#node) throw new Error('The node has not been started');
    return this.#node.open(client);
  }

  /** A model service has refused a call: the other nodes wait with this key too. */
  broadcastHold(held: KeyHold): void {
    this.#node?.broadcastHold(held);
  }

  get isDraining(): boolean {
    return this.#node?.isDraining ?? false;
  }

  /** What the engine needs of the other nodes. */
  seams(server: () => Server): NonNullable<RuntimeOptions['cluster']> {
    return {
      moved: (sessionId) => server().sessionMoved(sessionId),
      handOver: async (claim) => (await this.parts.store.cluster()).handOver(claim),
      book: {
        read: async (after) => (await this.parts.store.cluster()).book.read(after),
        write: async (text, version) => (await this.parts.store.cluster()).book.write(text, version),
      },
    };
  }

  /** Leaves all sessions to other nodes; clients of this one are forwarded. */
  async drain(signal: AbortSignal): Promise<void> {
    await this.#node?.drain(signal);
  }

  async close(): Promise<void> {
    await this.#node?.close();
  }
}

function sessionsOf(runtime: Runtime, parts: NodeParts): NodeSessions {
  return {
    isOpen: (sessionId) => runtime.find(sessionId)?.isLoaded ?? false,
    openIds: () => runtime.openIds,
    adopt: ({ sessionId, head }) => runtime.adopt(sessionId, head),
    missingFor: (orphan) => missingFor(orphan, parts),
    lose: (sessionId) => runtime.left.lose(sessionId),
    handOver: (sessionId, signal) => runtime.left.handOver(sessionId, signal),
  };
}

/** What a session needs that this node does not have. */
function missingFor({ head }: OrphanedSession, { labels, providers }: NodeParts): readonly Lack[] {
  const { labels: needed = [], providerRef, secrets } = head.needs ?? {};
  const { cwd } = head.context;
  const lacking = needed.filter((label) => !labels.includes(label));
  return [
    ...lacking.map((name) => ({ kind: 'label' as const, name })),
    ...(providerRef !== undefined && !providers.has(providerRef)
      ? [{ kind: 'provider' as const, name: providerRef }]
      : []),
    ...(secrets ? [{ kind: 'client' as const, name: 'its keys' }] : []),
    ...(existsSync(cwd) ? [] : [{ kind: 'directory' as const, name: cwd }]),
  ];
}

/** The event that informs clients that no live node can go on with a session. */
function waitingLifecycle({ sessionId, head }: OrphanedSession, wait: NodeWait): Lifecycle {
  const { createdAt: startTime, modifiedAt: modifiedTime, name, summary = name } = head;
  const metadata = { startTime, modifiedTime, waitingOn: [nodeWait(wait)] };
  return {
    type: 'session.updated',
    sessionId,
    metadata: { ...metadata, ...(summary !== undefined && { summary: name ?? summary }) },
  };
}
