import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { allowedHosts, hostFault, originFault, ownOrigins } from './allowed-hosts.js';
import {
  type Fault,
  notFound,
  readOnly,
  refuse,
  refuseSocket,
  twoHosts,
  unauthorised,
  unknownMethod,
} from './faults.js';
import { guards } from './guards.js';
import { PageCookies } from './page-cookies.js';
import { PendingBodies } from './pending-bodies.js';
import { PendingConnections } from './pending-connections.js';
import { PlainRequest } from './plain-request.js';
import { Sockets } from './sockets.js';
import { isSameToken, tokenInProtocols, tokenOf } from './token.js';
import { TokenCookies } from './token-cookies.js';
import { TokenThrottle } from './token-throttle.js';
import { requestOf, send, TooLarge } from './web.js';

/** What answers at one path. */
export interface Route {
  /** Without it a request must show the token. */
  readonly isOpen?: boolean;
  /** Only GET and HEAD are answered, as where no token is needed. */
  readonly isRead?: boolean;
  /** `identity`: whose token was shown, where the door knows several. `address`: where the request came from. */
  answer(request: Request, identity?: unknown, address?: string): Promise<Response>;
}

/** What takes the WebSockets of one path. */
export interface SocketRoute {
  /** `isTrusted`: the token was shown already; without it, the first message has to. */
  accept(
    socket: WebSocket,
    about: {
      readonly isTrusted: boolean;
      readonly bytes: Duplex;
      readonly identity?: unknown;
      /** Where the request came from. */
      readonly address: string;
    },
  ): void;
  /** Takes the request as it came, for what is served elsewhere; false leaves it here. */
  forward?(
    request: IncomingMessage,
    stream: { readonly socket: Duplex; readonly head: Buffer },
    identity: unknown,
  ): boolean;
}

/** Whose tokens are known, where there are several. */
export interface TokenCheck {
  /** Undefined for a token that is not known. */
  authenticate(token: string): Promise<unknown>;
  /** A request showed a token that is not known. */
  onRefused?(address: string): void;
}

/** How the door is opened. */
export interface HttpDoorOptions {
  /** The address to listen on; this machine only unless another is named. */
  readonly host?: string;
  /** Any free one unless it is given. */
  readonly port?: number;
  /** A socket of this machine by its path, in the place of host and port. */
  readonly path?: string;
  /** So many at once; 256 unless given. */
  readonly mostConnections?: number;
  /** What every request must show as `Authorization: Bearer …`; undefined lets every request in that passes the other checks. */
  readonly token: string | undefined;
  /** In the place of the one token. */
  readonly tokens?: TokenCheck;
  /** The certificate for TLS; default: no TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Names, beside its own, that requests may call this machine by. */
  readonly allowedHosts?: readonly string[];
  /** Pages, by their origin, that may make requests beside those from here. */
  readonly allowedOrigins?: readonly string[];
  /** By path. */
  readonly routes: Readonly<Record<string, Route>>;
  /** By path. */
  readonly sockets?: Readonly<Record<string, SocketRoute>>;
  /** The path where a page exchanges the token for a cookie, by POST; default: there are no cookies. */
  readonly cookiePath?: string;
  /** Called with what went wrong inside; the client gets nothing of it. */
  onFailure?(error: unknown): void;
}

/** A door over HTTP that is open. */
export interface HttpDoor {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** Shows another certificate from now on. */
  renew(tls: { readonly cert: string; readonly key: string }): void;
  /** Refuses new requests, ends those under way, and resolves when the port is free. */
  close(): Promise<void>;
}

const mostConnections = 256;
/** One in so many connections may be one that has not shown the token. */
const pendingShare = 4;
const mostRequests = 128;
/** So many may be on their way, beside those that are answered. */
const mostPendingBodies = 64;
const mostBodyBytes = 4 * 1024 * 1024;

const serverOptions = {
  IncomingMessage: PlainRequest,
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 5_000,
  // Two lengths, or a strange end of line: what is in doubt is refused.
  insecureHTTPParser: false,
};

/** Opens the one door for all that comes over HTTP: who may come in, by which name and from which page, and how much, is decided here. */
export async function openHttpDoor(options: HttpDoorOptions): Promise<HttpDoor> {
  const host = options.host ?? '127.0.0.1';
  const door = new Door(options);
  const { tls } = options;
  const take = (request: IncomingMessage, response: ServerResponse) => void door.take(request, response);
  const server = tls
    ? createTlsServer({ ...serverOptions, ...tls, handshakeTimeout: 10_000, minVersion: 'TLSv1.2' }, take)
    : createServer(serverOptions, take);
  server.maxConnections = options.mostConnections ?? mostConnections;
  server.maxRequestsPerSocket = 1000;
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => door.greet(socket));
  server.on('upgrade', (request, socket, head) => void door.upgrade(request, socket, head));
  if (options.path === undefined) server.listen(options.port ?? 0, host);
  else server.listen(options.path);
  await once(server, 'listening');
  const port = options.path === undefined ? (server.address() as AddressInfo).port : 0;
  door.open({ host, port });
  return {
    host,
    port,
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    renew: (identity) => {
      if (tls) (server as TlsServer).setSecureContext({ ...identity, minVersion: 'TLSv1.2' });
    },
    close: async () => {
      door.close();
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

/** What a request has shown of itself. */
interface Visit {
  /** Why it is refused. */
  readonly fault?: Fault;
  readonly identity?: unknown;
  /** The token, where one of several was shown. */
  readonly shown?: string;
}

class Door {
  private hosts: ReadonlySet<string> = new Set();
  private ownOrigins: ReadonlySet<string> = new Set();
  private cookies: PageCookies | undefined;
  private tokenCookies: TokenCookies | undefined;
  /** Requests that are answered; those that need no token take no place of others. */
  private readonly running = { open: 0, admitted: 0 };
  private readonly throttle = new TokenThrottle();
  private readonly pendingBodies: PendingBodies;
  private readonly sockets = new Sockets();
  private readonly pendingConnections: PendingConnections;
  private readonly life = new AbortController();

  constructor(private readonly options: HttpDoorOptions) {
    const { mostConnections: most = mostConnections } = options;
    this.pendingConnections = new PendingConnections(Math.ceil(most / pendingShare));
    this.pendingBodies = new PendingBodies(Math.max(mostPendingBodies, Math.ceil(most / pendingShare)));
  }

  open({ host, port }: { readonly host: string; readonly port: number }): void {
    const { allowedHosts: more = [], token, cookiePath, tokens, tls } = this.options;
    this.hosts = allowedHosts({ host, port, more });
    this.ownOrigins = ownOrigins(this.hosts);
    if (cookiePath === undefined) return;
    if (tokens) this.tokenCookies = new TokenCookies(port, { isSecure: tls !== undefined });
    else if (token !== undefined) this.cookies = new PageCookies(token, port);
  }

  close(): void {
    this.life.abort(new Error('The door is closed'));
    this.sockets.close();
  }

  greet(socket: Socket): void {
    this.pendingConnections.add(socket);
  }

  async take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    outgoing.on('error', () => outgoing.destroy());
    const visit = await this.visit(incoming);
    if (visit.fault) return refuse(outgoing, visit.fault);
    if (!this.routeOf(incoming)?.isOpen) this.pendingConnections.admit(incoming.socket);
    try {
      await this.answer(incoming, outgoing, visit);
    } catch (error) {
      if (error instanceof TooLarge) return refuse(outgoing, { status: 413, text: error.message });
      // A client that leaves before it has said all is no failure of ours.
      if (incoming.destroyed && !incoming.complete) return;
      this.options.onFailure?.(error);
      refuse(outgoing, { status: 500, text: 'Internal error' });
    }
  }

  /** The same checks as for requests; a WebSocket may also show the token by a subprotocol, or in its first message. */
  async upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const { sockets = {}, tokens } = this.options;
    const [path = '/'] = (incoming.url ?? '/').split('?');
    const wrongPlace = this.placeFault(incoming);
    if (wrongPlace) return refuseSocket(socket, wrongPlace);
    const route = Object.hasOwn(sockets, path) ? sockets[path] : undefined;
    if (!route) return refuseSocket(socket, notFound);
    const shown = tokenInProtocols(incoming.headers['sec-websocket-protocol']);
    const hasGuessed = shown !== undefined || incoming.headers.authorization !== undefined;
    const { fault, identity } = await this.entry(incoming, shown ?? tokenOf(incoming.headers.authorization));
    // Where there are several tokens, a peer without one gets no WebSocket at all.
    if (fault && (fault !== unauthorised || hasGuessed || tokens)) return refuseSocket(socket, fault);
    // From here on those that have not shown the token are counted by who serves them.
    this.pendingConnections.admit(incoming.socket);
    if (identity !== undefined && route.forward?.(incoming, { socket, head }, identity)) return;
    const about = { isTrusted: fault === undefined, bytes: socket, identity, address: addressOf(incoming) };
    await this.sockets.accept(incoming, { socket, head }, (accepted) => route.accept(accepted, about));
  }

  /** In this order: a page of another origin learns nothing, not even whether it guessed a path or the token. */
  private async visit(incoming: IncomingMessage): Promise<Visit> {
    const wrongPlace = this.placeFault(incoming);
    if (wrongPlace) return { fault: wrongPlace };
    const route = this.routeOf(incoming);
    const { token, tokens } = this.options;
    const wrongCall = this.callFault(incoming, route);
    const called = wrongCall ? { fault: wrongCall } : {};
    if (route?.isOpen && !this.isCookiePath(incoming)) return called;
    if (token === undefined && !tokens) return called;
    const shown = tokenOf(incoming.headers.authorization);
    const visit = this.isCookiePath(incoming)
      ? await this.showing(incoming, shown)
      : await this.entry(incoming, shown);
    return visit.fault ? visit : { ...visit, ...called };
  }

  /** Why there is no answer to what is asked, whoever asks. */
  private callFault(incoming: IncomingMessage, route: Route | undefined): Fault | undefined {
    if (this.isCookiePath(incoming)) return undefined;
    if (!route) return notFound;
    if ((route.isOpen || route.isRead) && !isRead(incoming)) return readOnly;
    return incoming.method === 'TRACE' ? unknownMethod : undefined;
  }

  /** By a cookie of ours, or by a token. */
  private async entry(incoming: IncomingMessage, shown: string | undefined): Promise<Visit> {
    const { token, tokens } = this.options;
    if (!tokens) {
      if (token === undefined || this.showsCookie(incoming)) return {};
      return this.showing(incoming, shown);
    }
    const kept = this.isOwnPage(incoming) ? this.tokenCookies?.tokenOf(incoming.headers.cookie) : undefined;
    return this.showing(incoming, shown ?? kept);
  }

  /** Wrong tokens of others never delay the right token. */
  private async showing(incoming: IncomingMessage, shown: string | undefined): Promise<Visit> {
    const { token, tokens } = this.options;
    if (shown === undefined) return { fault: unauthorised };
    const identity = await tokens?.authenticate(shown);
    if (identity !== undefined) return { identity, shown };
    if (!tokens && token !== undefined && isSameToken(shown, token)) return {};
    tokens?.onRefused?.(addressOf(incoming));
    return {
      fault: (await this.throttle.wrong()) ? unauthorised : { status: 429, text: 'Too many wrong tokens' },
    };
  }

  private placeFault({ headers: { host, origin }, headersDistinct }: IncomingMessage): Fault | undefined {
    // A proxy may have heeded the other one.
    if ((headersDistinct.host?.length ?? 0) > 1) return twoHosts;
    const allowed = new Set([...this.ownOrigins, ...(this.options.allowedOrigins ?? [])]);
    const text = hostFault(host, this.hosts) ?? originFault(origin, allowed);
    return text === undefined ? undefined : { status: 403, text };
  }

  /** A cookie comes along with whatever a browser sends: it counts only for what our own page has asked. */
  private showsCookie(incoming: IncomingMessage): boolean {
    return this.isOwnPage(incoming) && (this.cookies?.isValid(incoming.headers.cookie) ?? false);
  }

  private isOwnPage({ headers }: IncomingMessage): boolean {
    const { origin, 'sec-fetch-site': site } = headers;
    if (origin !== undefined && !this.ownOrigins.has(origin.toLowerCase())) return false;
    return site === undefined || site === 'same-origin' || site === 'none';
  }

  private isCookiePath({ url = '/', method }: IncomingMessage): boolean {
    const hasCookies = this.cookies !== undefined || this.tokenCookies !== undefined;
    return hasCookies && method === 'POST' && url.split('?')[0] === this.options.cookiePath;
  }

  private routeOf({ url = '/' }: IncomingMessage): Route | undefined {
    const [path = '/'] = url.split('?');
    const { routes } = this.options;
    return Object.hasOwn(routes, path) ? routes[path] : undefined;
  }

  private async answer(incoming: IncomingMessage, outgoing: ServerResponse, visit: Visit): Promise<void> {
    const left = new AbortController();
    // A connection that has ended has none any more.
    const address = addressOf(incoming);
    outgoing.once('close', () => left.abort(new Error('The client is gone')));
    const signal = AbortSignal.any([left.signal, this.life.signal]);
    const request = await this.arrived(incoming, outgoing, { visit, signal });
    const kind = this.routeOf(incoming)?.isOpen ? 'open' : 'admitted';
    if (this.running[kind] >= (this.options.mostConnections ?? mostRequests))
      return refuse(outgoing, { status: 503, text: 'Too many requests at once' });
    this.running[kind] += 1;
    try {
      if (this.isCookiePath(incoming)) {
        const cookie = this.tokenCookies?.issue(visit.shown ?? '') ?? this.cookies?.issue() ?? '';
        outgoing.writeHead(204, { ...guards, 'set-cookie': cookie, 'cache-control': 'no-store' }).end();
        return;
      }
      const response = await this.routeOf(incoming)?.answer(request, visit.identity, address);
      if (response) await send(response, outgoing, signal);
    } finally {
      this.running[kind] -= 1;
    }
  }

  /** The whole request. One that is slow while too many others come is refused, and its connection closed. */
  private async arrived(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    { visit, signal }: { readonly visit: Visit; readonly signal: AbortSignal },
  ): Promise<Request> {
    const pendingBody = this.pendingBodies.begin(visit.shown ?? '', () => {
      refuse(outgoing, { status: 408, text: 'The request took too long to arrive' });
      incoming.destroy();
    });
    try {
      return await requestOf(incoming, { mostBodyBytes, signal });
    } finally {
      pendingBody.done();
    }
  }
}

function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? '';
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}
