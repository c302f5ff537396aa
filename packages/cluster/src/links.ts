import { randomUUID } from 'node:crypto';
import { byteChannel, type Channel } from '@groundcrew/rpc';
import type { NodeEntry } from '@groundcrew/store';
import type { Bus } from './bus.js';
import { BusStream, resetMessage } from './bus-stream.js';

/** What the node that a client is connected to says of it to the node that owns a session. */
export interface Hello {
  /** The same for all links of one client: a new one takes the place of the old. */
  readonly clientId: string;
  /** What the server of the one node knows of the client, for that of the other. */
  readonly client: unknown;
}

/** What links stand on. */
export interface LinksOptions {
  readonly bus: Bus;
  /** The subjects of this node begin with it; a node that knows it can open links. */
  readonly address: string;
  /** Serves a client of another node until its channel ends. */
  accept(channel: Channel, hello: Hello): Promise<void>;
}

/** The node cannot be reached over the bus; it may live all the same. */
export class NodeUnreachable extends Error {
  override readonly name = 'NodeUnreachable';
}

interface Link {
  readonly id: string;
  /** Where the other end listens. */
  readonly peer: string;
  readonly stream: BusStream;
}

interface Opening extends Hello {
  readonly id: string;
  /** The address of the node that opens it. */
  readonly from: string;
}

const answerMs = 2_500;
const pingMs = 1_250;
const mostMissedPings = 2;

/** The same bounds as for clients on a port. */
const channelOptions = { highWaterMark: 1024 * 1024, maxKeptBytes: 32 * 1024 * 1024 };

/** Channels between this node and others, one for each client and node; all of them break when the bus does. */
export class Links {
  readonly #options: LinksOptions;
  readonly #links = new Map<string, Link>();
  /** Serving clients of other nodes, by the id of the client. */
  readonly #served = new Map<string, { readonly link: Link; readonly over: Promise<void> }>();
  readonly #missed = new Map<string, number>();
  /** Other ends that do not know yet that their link is broken. */
  readonly #unaware = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: LinksOptions) {
    this.#options = options;
    const { bus, address } = options;
    bus.subscribe(`${address}.ping`, (data) => data);
    bus.subscribe(`${address}.open`, (data) => this.#accept(data));
    bus.subscribe(`${address}.link.*`, (data, subject) => {
      const id = subject.slice(subject.lastIndexOf('.') + 1);
      this.#links.get(id)?.stream.receive(data);
      return undefined;
    });
    bus.onChange((isConnected) => (isConnected ? this.#resetUnaware() : this.#breakAll()));
    this.#timer = setInterval(() => this.#pingPeers(), pingMs).unref();
  }

  /** How many links there are, in both directions. */
  get size(): number {
    return this.#links.size;
  }

  /** A channel to another node, which serves the client there. Rejects with NodeUnreachable. */
  async open(node: NodeEntry, hello: Hello): Promise<Channel> {
    const { bus, address } = this.#options;
    const id = randomUUID();
    // It listens before it asks: the other side may be quick.
    const link = this.#link(id, node.address);
    const opening: Opening = { ...hello, id, from: address };
    // A node whose lease ends meanwhile is not waited for: its links are broken then.
    const broken = new Promise<never>((_, reject) => {
      link.stream.once('close', () => reject(new Error('it does not live any more')));
    });
    broken.catch(() => undefined);
    try {
      await Promise.race([bus.request(`${node.address}.open`, encode(opening), answerMs), broken]);
    } catch (error) {
      link.stream.destroy();
      throw new NodeUnreachable(`Node ${node.runtimeId} cannot be reached: ${(error as Error).message}`);
    }
    return byteChannel({ input: link.stream, output: link.stream }, channelOptions);
  }

  /** Breaks the links to nodes that no longer live. */
  keepOnly(addresses: ReadonlySet<string>): void {
    for (const { peer, stream } of [...this.#links.values()]) if (!addresses.has(peer)) stream.destroy();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#breakAll();
    await Promise.allSettled([...this.#served.values()].map(({ over }) => over));
  }

  #accept(data: Uint8Array): Uint8Array | undefined {
    const opening = decode(data);
    if (!opening) return undefined;
    const { id, from, clientId, client } = opening;
    const before = this.#served.get(clientId);
    before?.link.stream.destroy();
    const link = this.#link(id, from);
    const channel = byteChannel({ input: link.stream, output: link.stream }, channelOptions);
    const over = Promise.resolve(before?.over)
      .then(() => this.#options.accept(channel, { clientId, client }))
      .finally(() => {
        if (this.#served.get(clientId)?.link === link) this.#served.delete(clientId);
      });
    this.#served.set(clientId, { link, over });
    return Uint8Array.of();
  }

  #link(id: string, peer: string): Link {
    const { bus } = this.#options;
    const stream = new BusStream({
      send: (message) => bus.publish(`${peer}.link.${id}`, message),
      onClose: () => {
        this.#links.delete(id);
        if (!bus.isConnected) this.#unaware.add(`${peer}.link.${id}`);
      },
    });
    stream.on('error', () => undefined);
    const link = { id, peer, stream };
    this.#links.set(id, link);
    return link;
  }

  #breakAll(): void {
    for (const { stream } of [...this.#links.values()]) stream.destroy();
  }

  #resetUnaware(): void {
    for (const subject of this.#unaware) this.#options.bus.publish(subject, resetMessage);
    this.#unaware.clear();
  }

  #pingPeers(): void {
    const peers = new Set([...this.#links.values()].map(({ peer }) => peer));
    for (const peer of this.#missed.keys()) if (!peers.has(peer)) this.#missed.delete(peer);
    for (const peer of peers) void this.#ping(peer);
  }

  async #ping(peer: string): Promise<void> {
    try {
      await this.#options.bus.request(`${peer}.ping`, Uint8Array.of(), answerMs);
      this.#missed.delete(peer);
    } catch {
      const missed = (this.#missed.get(peer) ?? 0) + 1;
      this.#missed.set(peer, missed);
      if (missed >= mostMissedPings)
        for (const link of [...this.#links.values()]) if (link.peer === peer) link.stream.destroy();
    }
  }
}

function encode(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function decode(data: Uint8Array): Opening | undefined {
  try {
    const opening = JSON.parse(Buffer.from(data).toString()) as Opening;
    const texts = [opening.id, opening.from, opening.clientId];
    return texts.every((text) => typeof text === 'string' && /^[\w.-]+$/.test(text)) ? opening : undefined;
  } catch {
    return undefined;
  }
}
