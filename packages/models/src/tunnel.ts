import { request as requestHttp } from 'node:http';
import { Agent, type RequestOptions, request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { ModelError } from './errors.js';
import { proxyAuthorization } from './proxy-authorization.js';

/** Connections to services through one proxy, kept and shared like those of any agent. */
export class TunnelAgent extends Agent {
  readonly #proxy: URL;

  constructor(proxy: URL) {
    super({ keepAlive: true, timeout: 5_000 });
    this.#proxy = proxy;
  }

  override createConnection(
    options: RequestOptions,
    callback: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    // Node passes a stream only when there is no error; its types do not say so.
    const fail = callback as (error: Error) => void;
    const authority = `${bracketed(options.host ?? '')}:${options.port}`;
    const open = this.#proxy.protocol === 'https:' ? requestHttps : requestHttp;
    const request = open(this.#proxy.origin, {
      method: 'CONNECT',
      path: authority,
      timeout: tunnelTimeLimit,
      headers: { host: authority, ...proxyAuthorization(this.#proxy) },
    });
    request.on('timeout', () => request.destroy(new Error('The proxy did not answer')));
    request.on('error', fail);
    request.once('connect', (response, socket) => {
      socket.setTimeout(0);
      if (response.statusCode === 200) return callback(null, secured(socket, options));
      socket.destroy();
      fail(refusal(response.statusCode ?? 0));
    });
    request.end();
  }
}

const tunnelTimeLimit = 30_000;

function secured(socket: Socket, { host, servername }: RequestOptions): TLSSocket {
  return connectTls({
    socket,
    ALPNProtocols: ['http/1.1'],
    ...(host && { host }),
    ...(servername && { servername }),
  });
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function refusal(status: number): ModelError {
  if (status === 407) return new ModelError('configuration', 'The proxy wants other credentials');
  return new ModelError('unavailable', `The proxy refused the connection with status ${status}`);
}
