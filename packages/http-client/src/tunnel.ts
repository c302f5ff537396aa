import { request as requestHttp } from 'node:http';
import { Agent, type RequestOptions, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { HttpError } from './errors.js';
import { proxyAuthorization } from './proxy-authorization.js';

/** Where a tunnel leads. */
interface Destination {
  readonly host: string;
  readonly port: number | string;
  readonly servername?: string | undefined;
}

/** Connections to services through one proxy. */
export class TunnelAgent extends Agent {
  readonly #proxy: URL;

  constructor(proxy: URL) {
    super({ keepAlive: true, timeout: 5_000 });
    this.#proxy = proxy;
  }

  /** A connection that speaks TLS with the service behind the proxy. */
  open({ host, port, servername = isIP(host) === 0 ? host : '' }: Destination): Promise<TLSSocket> {
    const authority = `${bracketed(host)}:${port}`;
    const ask = this.#proxy.protocol === 'https:' ? requestHttps : requestHttp;
    return new Promise((resolve, reject) => {
      const request = ask(this.#proxy.origin, {
        method: 'CONNECT',
        path: authority,
        timeout: tunnelTimeLimit,
        headers: { host: authority, ...proxyAuthorization(this.#proxy) },
      });
      request.on('timeout', () => request.destroy(new Error('The proxy did not answer')));
      request.on('error', reject);
      request.once('connect', ({ statusCode = 0 }, socket) => {
        socket.setTimeout(0);
        if (statusCode === 200) {
          resolve(connectTls({ socket, host, servername, ALPNProtocols: ['http/1.1'] }));
          return;
        }
        socket.destroy();
        reject(refusal(statusCode));
      });
      request.end();
    });
  }

  override createConnection(
    { host, port, servername }: RequestOptions,
    callback: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    // Node passes a stream only when there is no error; its types do not say so.
    const fail = callback as (error: Error) => void;
    this.open({ host: host ?? '', port: port ?? 443, servername }).then(
      (socket) => callback(null, socket),
      fail,
    );
  }
}

const tunnelTimeLimit = 30_000;

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function refusal(status: number): HttpError {
  if (status === 407) return new HttpError('configuration', 'The proxy wants other credentials');
  return new HttpError('unavailable', `The proxy refused the connection with status ${status}`);
}
