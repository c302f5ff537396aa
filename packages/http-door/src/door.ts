import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { type Fault, notFound, refuse, refuseSocket, unauthorised } from './faults.js';
import { Guesses } from './guesses.js';
import { PageCookies } from './page-cookies.js';
import { allowedHosts, hostFault, originFault, ownOrigins } from './places.js';
import { Sockets } from './sockets.js';
import { Strangers } from './strangers.js';
import { isSameToken, tokenInProtocols, tokenOf } from './token.js';
import { requestOf, send, TooLarge } from './web.js';

/** What answers at one path. */
export interface Route {
  /** Without it a request must show the token. */
  readonly isOpen?: boolean;
  answer(request: Request): Promise<Response>;
}

/** What takes the WebSockets of one path. */
export interface SocketRoute {
  /** `isTrusted`: the token was shown already; without it, the first message has to. */
  accept(socket: WebSocket, about: { readonly isTrusted: boolean; readonly bytes: Duplex }): void;
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
  /** By path. */
  readonly sockets?: Readonly<Record<string, SocketRoute>>;
  /** The path where a page that shows the token by POST gets a cookie in its place; none without. */
  readonly cookiePath?: string;
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
const mostStrangers = 64;
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
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: 5_000,
      // Two lengths, or a strange end of line: what is in doubt is refused.
      insecureHTTPParser: false,
    },
    (request, response) => void door.take(request, response),
  );
  server.maxConnections = mostConnections;
  server.maxRequestsPerSocket = 1000;
  server.on('connection', (socket: Socket) => door.greet(socket));
  server.on('upgrade', (request, socket, head) => void door.upgrade(request, socket, head));
  server.listen(options.port ?? 0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  door.open({ host, port });
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
  private hosts: ReadonlySet<string> = new Set();
  private ownOrigins: ReadonlySet<string> = new Set();
  private cookies: PageCookies | undefined;
  private running = 0;
  private readonly guesses = new Guesses();
  private readonly sockets = new Sockets();
  private readonly strangers = new Strangers(mostStrangers);
  private readonly life = new AbortController();

  constructor(private readonly options: HttpDoorOptions) {}

  open({ host, port }: { readonly host: string; readonly port: number }): void {
    const { allowedHosts: more = [], token, cookiePath } = this.options;
    this.hosts = allowedHosts({ host, port, more });
    this.ownOrigins = ownOrigins(this.hosts);
    if (token !== undefined && cookiePath !== undefined) this.cookies = new PageCookies(token, port);
  }

  close(): void {
    this.life.abort(new Error('The door is closed'));
    this.sockets.close();
  }

  greet(socket: Socket): void {
    this.strangers.add(socket);
  }

  async take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    outgoing.on('error', () => outgoing.destroy());
    const fault = await this.faultOf(incoming);
    if (fault) return refuse(outgoing, fault);
    if (!this.routeOf(incoming)?.isOpen) this.strangers.admit(incoming.socket);
    if (this.running >= mostRequests)
      return refuse(outgoing, { status: 503, text: 'Too many requests at once' });
    this.running += 1;
    try {
      await this.answer(incoming, outgoing);
    } catch (error) {
      if (error instanceof TooLarge) return refuse(outgoing, { status: 413, text: error.message });
      // A client that leaves before it has said all is no failure of ours.
      if (incoming.destroyed && !incoming.complete) return;
      this.options.onFailure?.(error);
      refuse(outgoing, { status: 500, text: 'Internal error' });
    } finally {
      this.running -= 1;
    }
  }

  /** The same checks as for requests; a WebSocket may also show the token by a subprotocol, or in its first message. */
  async upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const { sockets = {} } = this.options;
    const [path = '/'] = (incoming.url ?? '/').split('?');
    const wrongPlace = this.placeFault(incoming);
    if (wrongPlace) return refuseSocket(socket, wrongPlace);
    const route = Object.hasOwn(sockets, path) ? sockets[path] : undefined;
    if (!route) return refuseSocket(socket, notFound);
    const shown = tokenInProtocols(incoming.headers['sec-websocket-protocol']);
    const hasShown = this.options.token === undefined || this.showsCookie(incoming);
    const fault = hasShown
      ? undefined
      : await this.tokenFault(shown ?? tokenOf(incoming.headers.authorization));
    if (fault && fault !== unauthorised) return refuseSocket(socket, fault);
    const hasGuessed = shown !== undefined || incoming.headers.authorization !== undefined;
    if (fault && hasGuessed) return refuseSocket(socket, fault);
    // From here on those that have not shown the token are counted by who serves them.
    this.strangers.admit(incoming.socket);
    await this.sockets.accept(incoming, { socket, head }, (accepted) =>
      route.accept(accepted, { isTrusted: fault === undefined, bytes: socket }),
    );
  }

  /** In this order: a page of another origin learns nothing, not even whether it guessed a path or the token. */
  private async faultOf(incoming: IncomingMessage): Promise<Fault | undefined> {
    const wrongPlace = this.placeFault(incoming);
    if (wrongPlace) return wrongPlace;
    const route = this.routeOf(incoming);
    const isKnown = route !== undefined || this.isCookiePath(incoming);
    if (this.options.token === undefined || route?.isOpen) return isKnown ? undefined : notFound;
    const isIn = !this.isCookiePath(incoming) && this.showsCookie(incoming);
    const fault = isIn ? undefined : await this.tokenFault(tokenOf(incoming.headers.authorization));
    return fault ?? (isKnown ? undefined : notFound);
  }

  private placeFault({ headers: { host, origin } }: IncomingMessage): Fault | undefined {
    const allowed = new Set([...this.ownOrigins, ...(this.options.allowedOrigins ?? [])]);
    const text = hostFault(host, this.hosts) ?? originFault(origin, allowed);
    return text === undefined ? undefined : { status: 403, text };
  }

  /** The right token is let in whatever others try. */
  private async tokenFault(shown: string | undefined): Promise<Fault | undefined> {
    const { token } = this.options;
    if (token === undefined) return undefined;
    if (shown === undefined) return unauthorised;
    if (isSameToken(shown, token)) return undefined;
    return (await this.guesses.wrong()) ? unauthorised : { status: 429, text: 'Too many wrong tokens' };
  }

  /** A cookie comes along with whatever a browser sends: it counts only for what our own page has asked. */
  private showsCookie({ headers }: IncomingMessage): boolean {
    const { origin, cookie, 'sec-fetch-site': site } = headers;
    if (origin !== undefined && !this.ownOrigins.has(origin.toLowerCase())) return false;
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
    return this.cookies?.isValid(cookie) ?? false;
  }

  private isCookiePath({ url = '/', method }: IncomingMessage): boolean {
    return this.cookies !== undefined && method === 'POST' && url.split('?')[0] === this.options.cookiePath;
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
    if (this.cookies && this.isCookiePath(incoming)) {
      outgoing.writeHead(204, { 'set-cookie': this.cookies.issue(), 'cache-control': 'no-store' }).end();
      return;
    }
    const response = await this.routeOf(incoming)?.answer(request);
    if (response) await send(response, outgoing, signal);
  }
}
