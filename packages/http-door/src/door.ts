import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Guesses } from './guesses.js';
import { allowedHosts, hostFault, originFault } from './places.js';
import { isSameToken, tokenOf } from './token.js';
import { requestOf, send, TooLarge } from './web.js';

/** What answers at one path. */
export interface Route {
  /** Without it a request must show the token. */
  readonly isOpen?: boolean;
  answer(request: Request): Promise<Response>;
}

/** How the door is opened. */
export interface HttpDoorOptions {
  /** The address to listen on; this machine only unless another is named. */
  readonly host?: string;
  /** Any free one unless it is given. */
  readonly port?: number;
  /** What every request must show as `Authorization: Bearer …`; undefined lets every request in that passes the other checks. */
  readonly token: string | undefined;
  /** Names, beside its own, that requests may call this machine by. */
  readonly allowedHosts?: readonly string[];
  /** Pages, by their origin, that may make requests beside those from here. */
  readonly allowedOrigins?: readonly string[];
  /** By path. */
  readonly routes: Readonly<Record<string, Route>>;
  /** Called with what went wrong inside; the client gets nothing of it. */
  onFailure?(error: unknown): void;
}

/** A door over HTTP that is open. */
export interface HttpDoor {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** Refuses new requests, ends those under way, and resolves when the port is free. */
  close(): Promise<void>;
}

const mostConnections = 256;
const mostRequests = 128;
const mostBodyBytes = 4 * 1024 * 1024;

/** Opens the one door for all that comes over HTTP: who may come in, by which name and from which page, and how much, is decided here. */
export async function openHttpDoor(options: HttpDoorOptions): Promise<HttpDoor> {
  const host = options.host ?? '127.0.0.1';
  const door = new Door(options);
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 60_000,
      keepAliveTimeout: 5_000,
      // Two lengths, or a strange end of line: what is in doubt is refused.
      insecureHTTPParser: false,
    },
    (request, response) => void door.take(request, response),
  );
  server.maxConnections = mostConnections;
  server.maxRequestsPerSocket = 1000;
  server.on('upgrade', (_request, socket) => socket.destroy());
  server.listen(options.port ?? 0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  door.hosts = allowedHosts({ host, port, more: options.allowedHosts ?? [] });
  return {
    host,
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    close: async () => {
      door.close();
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

class Door {
  hosts: ReadonlySet<string> = new Set();
  private running = 0;
  private readonly guesses = new Guesses();
  private readonly life = new AbortController();

  constructor(private readonly options: HttpDoorOptions) {}

  close(): void {
    this.life.abort(new Error('The door is closed'));
  }

  async take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    outgoing.on('error', () => outgoing.destroy());
    const fault = await this.faultOf(incoming);
    if (fault) return refuse(outgoing, fault);
    if (this.running >= mostRequests)
      return refuse(outgoing, { status: 503, text: 'Too many requests at once' });
    this.running += 1;
    try {
      await this.answer(incoming, outgoing);
    } catch (error) {
      if (error instanceof TooLarge) return refuse(outgoing, { status: 413, text: error.message });
      this.options.onFailure?.(error);
      refuse(outgoing, { status: 500, text: 'Internal error' });
    } finally {
      this.running -= 1;
    }
  }

  /** In this order: a page of another origin learns nothing, not even whether it guessed a path or the token. */
  private async faultOf(incoming: IncomingMessage): Promise<Fault | undefined> {
    const { host, origin, authorization } = incoming.headers;
    const wrongPlace = hostFault(host, this.hosts) ?? originFault(origin, this.originSet());
    if (wrongPlace !== undefined) return { status: 403, text: wrongPlace };
    const route = this.routeOf(incoming);
    const { token } = this.options;
    if (token === undefined || route?.isOpen) return route ? undefined : notFound;
    const shown = tokenOf(authorization);
    if (shown === undefined) return unauthorised;
    if (isSameToken(shown, token)) return route ? undefined : notFound;
    // The right token is let in whatever others try.
    return (await this.guesses.wrong()) ? unauthorised : { status: 429, text: 'Too many wrong tokens' };
  }

  private originSet(): ReadonlySet<string> {
    const own = [...this.hosts].flatMap((host) => [`http://${host}`, `https://${host}`]);
    return new Set([...own, ...(this.options.allowedOrigins ?? [])]);
  }

  private routeOf({ url = '/' }: IncomingMessage): Route | undefined {
    const [path = '/'] = url.split('?');
    const { routes } = this.options;
    return Object.hasOwn(routes, path) ? routes[path] : undefined;
  }

  private async answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const left = new AbortController();
    outgoing.once('close', () => left.abort(new Error('The client is gone')));
    const signal = AbortSignal.any([left.signal, this.life.signal]);
    const request = await requestOf(incoming, { mostBodyBytes, signal });
    const response = await this.routeOf(incoming)?.answer(request);
    if (response) await send(response, outgoing, signal);
  }
}

interface Fault {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const notFound: Fault = { status: 404, text: 'There is nothing here' };

const unauthorised: Fault = {
  status: 401,
  text: 'Show the token: Authorization: Bearer …',
  headers: { 'www-authenticate': 'Bearer' },
};

function refuse(outgoing: ServerResponse, { status, text, headers }: Fault): void {
  if (outgoing.headersSent) {
    outgoing.destroy();
    return;
  }
  // What the client still sends is not read.
  outgoing.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    connection: 'close',
    ...headers,
  });
  outgoing.end(`${text}\n`);
}
