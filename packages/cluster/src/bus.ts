import type { NatsConnection } from '@nats-io/transport-node';

/** Carries bytes between nodes. Nothing of it is durable, and nothing that must be right depends on it. */
export interface Bus {
  readonly isConnected: boolean;
  /** What is published while there is no connection is lost. */
  publish(subject: string, data: Uint8Array): void;
  /** Calls back for each message; a request is answered by what the handler returns. */
  subscribe(subject: string, handler: (data: Uint8Array, subject: string) => Uint8Array | undefined): void;
  /** Resolves when others reach what is subscribed; at once without a connection. */
  subscribed(): Promise<void>;
  /** Rejects when no node answers in time, at once when no node listens. */
  request(subject: string, data: Uint8Array, milliseconds: number): Promise<Uint8Array>;
  /** Called whenever the connection is lost, and whenever it is there again. */
  onChange(listener: (isConnected: boolean) => void): void;
  close(): Promise<void>;
}

/** What a bus is opened with. */
export interface BusOptions {
  /** One address of NATS or several, separated by commas; user, password or token stand in it. */
  readonly url: string;
  onWarning(message: string): void;
}

/** A text is no address of NATS. It is not in the message, because it may hold a password. */
export class BadBusAddress extends Error {
  override readonly name = 'BadBusAddress';
}

/** The servers that an address names, without what opens them. Throws BadBusAddress. */
export function readBusAddress(text: string): {
  readonly servers: string[];
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
} {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  const urls = parts.map((part) => (/^[a-z]+:\/\//i.test(part) ? part : `nats://${part}`));
  if (urls.length === 0 || urls.some((url) => !/^(?:nats|tls):\/\//i.test(url) || !URL.canParse(url)))
    throw new BadBusAddress(
      'An address of NATS looks like nats://host:4222; several are separated by commas.',
    );
  const read = urls.map((url) => new URL(url));
  const servers = read.map(({ protocol, hostname, port }) => `${protocol}//${hostname}:${port || '4222'}`);
  const { username, password } = read.find((url) => url.username !== '') ?? { username: '', password: '' };
  if (username === '') return { servers };
  const user = decodeURIComponent(username);
  return password === '' ? { servers, token: user } : { servers, user, pass: decodeURIComponent(password) };
}

/** Opens the bus; resolves at once and connects by itself, again and again until it is closed. Throws BadBusAddress. */
export async function openBus({ url, onWarning }: BusOptions): Promise<Bus> {
  const address = readBusAddress(url);
  const { connect } = await import('@nats-io/transport-node');
  const bus = new NatsBus(onWarning);
  const connecting = connect({
    ...address,
    name: 'groundcrew',
    reconnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 100,
    waitOnFirstConnect: true,
    timeout: 5_000,
    pingInterval: 2_000,
    maxPingOut: 2,
  });
  bus.use(connecting);
  await Promise.race([connecting, new Promise((resolve) => setTimeout(resolve, firstConnectMs).unref())]);
  if (!bus.isConnected)
    onWarning(
      `NATS at ${address.servers.join(', ')} cannot be reached yet: only sessions of this node answer.`,
    );
  return bus;
}

const firstConnectMs = 3_000;

class NatsBus implements Bus {
  #connection: NatsConnection | undefined;
  #isConnected = false;
  #isClosed = false;
  readonly #subscriptions: (() => void)[] = [];
  readonly #listeners: ((isConnected: boolean) => void)[] = [];

  constructor(private readonly warn: (message: string) => void) {}

  get isConnected(): boolean {
    return this.#isConnected;
  }

  use(connecting: Promise<NatsConnection>): void {
    connecting.then(
      (connection) => {
        if (this.#isClosed) {
          void connection.close();
          return;
        }
        this.#connection = connection;
        for (const subscribe of this.#subscriptions) subscribe();
        this.#changed(true);
        void this.#watch(connection);
      },
      (error: unknown) => this.warn(`NATS refuses this node: ${(error as Error).message}`),
    );
  }

  publish(subject: string, data: Uint8Array): void {
    if (this.#isConnected) this.#connection?.publish(subject, data);
  }

  subscribe(subject: string, handler: (data: Uint8Array, subject: string) => Uint8Array | undefined): void {
    const subscribe = () =>
      void this.#connection?.subscribe(subject, {
        callback: (error, message) => {
          if (error) return;
          const answer = handler(message.data, message.subject);
          if (answer) message.respond(answer);
        },
      });
    this.#subscriptions.push(subscribe);
    subscribe();
  }

  async subscribed(): Promise<void> {
    if (this.#isConnected) await this.#connection?.flush().catch(() => undefined);
  }

  async request(subject: string, data: Uint8Array, timeout: number): Promise<Uint8Array> {
    if (!this.#connection || !this.#isConnected) throw new Error('NATS cannot be reached');
    return (await this.#connection.request(subject, data, { timeout })).data;
  }

  onChange(listener: (isConnected: boolean) => void): void {
    this.#listeners.push(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // What was published last is to leave; a server that is gone is not waited for.
    const flushed = this.#isConnected ? this.#connection?.flush().catch(() => undefined) : undefined;
    await Promise.race([flushed, new Promise((resolve) => setTimeout(resolve, flushMs))]);
    await this.#connection?.close();
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') this.#changed(false);
      if (type === 'reconnect') this.#changed(true);
    }
  }

  #changed(isConnected: boolean): void {
    if (this.#isConnected === isConnected || this.#isClosed) return;
    this.#isConnected = isConnected;
    for (const listener of this.#listeners) listener(isConnected);
  }
}

const flushMs = 500;
