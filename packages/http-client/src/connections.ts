import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { Connection } from './connection.js';
import { monotonic } from './monotonic.js';
import type { Route } from './proxy.js';

interface Resting {
  readonly connection: Connection;
  readonly until: number;
}

/** Connections that are idle between two calls, by where they lead. */
export class Connections {
  readonly #resting = new Map<string, Resting[]>();
  readonly #tlsSessions = new Map<string, Buffer>();
  #sweeping: NodeJS.Timeout | undefined;

  /** An idle connection that is still open: the one that was used last is the likeliest to be. */
  take({ target }: Route): Connection | undefined {
    const list = this.#resting.get(target.origin);
    for (let last = list?.pop(); last; last = list?.pop()) {
      if (last.connection.isOpen && last.until > monotonic()) return last.connection;
      last.connection.destroy();
    }
    return undefined;
  }

  async open(route: Route): Promise<Connection> {
    const { target, tunnel, secure } = route;
    const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
    const port = Number(target.port || (secure ? 443 : 80));
    if (tunnel) return new Connection(await tunnel.open({ host, port }));
    if (!secure) return new Connection(connectPlain({ host, port }));
    return new Connection(await this.#connectSecurely(target.origin, { host, port }));
  }

  /** Keeps a connection for the next call, for as long as the service says it will, or a few seconds. */
  keep(connection: Connection, { target }: Route, keepAlive: string | undefined): void {
    const [, seconds] = /(?:^|[\s,])timeout=(\d+)/i.exec(keepAlive ?? '') ?? [];
    const idleTime =
      seconds === undefined ? usualIdleTime : Math.min(longestIdleTime, Number(seconds) * 1000 - safety);
    const list = this.#resting.get(target.origin) ?? [];
    if (idleTime <= 0 || list.length >= mostResting || !connection.isOpen) {
      connection.destroy();
      return;
    }
    connection.idle();
    list.push({ connection, until: monotonic() + idleTime });
    this.#resting.set(target.origin, list);
    this.#sweeping ??= setTimeout(() => this.#sweep(), sweepPause).unref();
  }

  #sweep(): void {
    this.#sweeping = undefined;
    for (const [origin, list] of this.#resting) {
      const kept = list.filter(({ connection, until }) => {
        const stays = connection.isOpen && until > monotonic();
        if (!stays) connection.destroy();
        return stays;
      });
      if (kept.length > 0) this.#resting.set(origin, kept);
      else this.#resting.delete(origin);
    }
    if (this.#resting.size > 0) this.#sweeping = setTimeout(() => this.#sweep(), sweepPause).unref();
  }

  /** TLS costs as much to load as all of this, and a model on this machine needs none. */
  async #connectSecurely(
    origin: string,
    { host, port }: { readonly host: string; readonly port: number },
  ): Promise<Socket> {
    const { connect } = await import('node:tls');
    const session = this.#tlsSessions.get(origin);
    const socket = connect({
      host,
      port,
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      ...(session && { session }),
    });
    // What both sides agreed on once need not be agreed on again.
    socket.on('session', (agreed: Buffer) => this.#tlsSessions.set(origin, agreed));
    socket.on('error', () => this.#tlsSessions.delete(origin));
    return socket;
  }
}

const usualIdleTime = 5_000;
const longestIdleTime = 60_000;
/** A service may close at the very moment it has named. */
const safety = 1_000;
const mostResting = 256;
const sweepPause = 1_000;
