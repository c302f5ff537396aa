import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import type { Route, SocketRoute, TokenCheck } from '@groundcrew/http-door';
import { byteChannel } from '@groundcrew/rpc';
import { defaultTenant, PeerAuthentication } from '@groundcrew/server';
import type { AuditLog, Authenticator, TenantIdentity } from '@groundcrew/tenants';
import { channelOptions, maxUntrustedBytes, type ServeChannel } from '../doors/serve-channel.js';
import { ConnectedClients } from './connected-clients.js';
import type { TenantRuntimes } from './tenant-runtimes.js';

/** What the door of several tenants needs. */
export interface TenantDoorParts {
  readonly authenticator: Authenticator;
  readonly audit: AuditLog;
  readonly runtimes: TenantRuntimes;
  warn(message: string): void;
}

/** Checks the tokens of clients, and connects each to the runtime of its tenant. */
export class TenantDoor {
  private readonly clients: ConnectedClients;
  private readonly authentication: PeerAuthentication<TenantIdentity>;
  private readonly open = new Set<Duplex>();

  constructor(private readonly parts: TenantDoorParts) {
    const { authenticator, audit, runtimes } = parts;
    this.clients = new ConnectedClients(authenticator, audit, () => runtimes.settingsChanged());
    this.authentication = new PeerAuthentication({
      authenticate: (token) => this.authenticate(token),
      onRefused: (address) => this.clients.refused({ door: 'tcp', address }),
      maxUntrustedBytes,
    });
  }

  /** How many clients are connected by the port. */
  get size(): number {
    return this.open.size;
  }

  /** Takes one connection of the port until it is over. */
  async take(socket: Socket, serve: ServeChannel): Promise<void> {
    socket.on('error', () => socket.destroy());
    const address = socket.remoteAddress ?? '';
    const entered = await this.authentication.admit(socket, address);
    if (!entered) return;
    const { identity, head, refuse } = entered;
    const leave = this.follow(identity, { door: 'tcp', address, socket });
    try {
      if (identity.tenant !== defaultTenant) await this.lead(identity, socket, { head, refuse });
      else {
        socket.unshift(head);
        const channel = byteChannel({ input: socket, output: socket }, channelOptions);
        socket.resume();
        await serve(channel, { identity });
      }
    } catch (error) {
      this.parts.warn(error instanceof Error ? error.message : String(error));
      socket.destroySoon();
    } finally {
      leave();
    }
  }

  /** Whose tokens the door over HTTP knows. */
  get tokens(): TokenCheck {
    return {
      authenticate: (token) => this.authenticate(token),
      onRefused: (address) => this.clients.refused({ door: 'http', address }),
    };
  }

  /** The same route for all: the operator's own tenant is served here, others by their runtimes. */
  readonly route = (own: Route): Route => {
    if (own.isOpen) return own;
    return {
      ...own,
      answer: async (request, identity, address = '') => {
        const who = identity as TenantIdentity;
        this.clients.visited(who, { door: 'http', address });
        return who.tenant === defaultTenant ? own.answer(request, identity, address) : this.ask(request, who);
      },
    };
  };

  /** A route for admins of the operator's own tenant only. */
  readonly operatorRoute = (own: Route): Route => {
    if (own.isOpen) return own;
    return {
      ...own,
      answer: async (request, identity) => {
        const { tenant, role, subject } = identity as TenantIdentity;
        if (tenant === defaultTenant && role === 'admin') return own.answer(request, identity);
        const method = new URL(request.url).pathname;
        this.parts.audit.write({ event: 'denied', tenant, role, subject, door: 'http', method });
        return new Response('This is for the operator of the server\n', { status: 403 });
      },
    };
  };

  /** WebSockets of all tenants. */
  socketRoute(own: SocketRoute['accept']): SocketRoute {
    return {
      accept: (socket, about) => {
        const leave = this.follow(about.identity as TenantIdentity, {
          door: 'http',
          address: about.address,
          socket: about.bytes,
        });
        socket.once('close', leave);
        own(socket, about);
      },
      forward: (incoming, stream, identity) => {
        const who = identity as TenantIdentity;
        if (who.tenant === defaultTenant) return false;
        void this.forward(incoming, stream, who);
        return true;
      },
    };
  }

  close(): void {
    this.clients.close();
    for (const socket of this.open) socket.destroy();
  }

  private async authenticate(token: string): Promise<TenantIdentity | undefined> {
    try {
      return await this.parts.authenticator.authenticate(token);
    } catch (error) {
      this.parts.warn(`A token cannot be checked: ${(error as Error).message}`);
      return undefined;
    }
  }

  private follow(
    identity: TenantIdentity,
    {
      socket,
      ...about
    }: { readonly door: 'tcp' | 'http'; readonly address: string; readonly socket: Duplex },
  ): () => void {
    this.open.add(socket);
    const leave = this.clients.enter(identity, about, () => socket.destroy());
    return () => {
      this.open.delete(socket);
      leave();
    };
  }

  /** Bytes go between the client and the runtime of its tenant as they are. */
  private async lead(
    identity: TenantIdentity,
    socket: Socket,
    { head, refuse }: { readonly head: Buffer; refuse(message: string): void },
  ): Promise<void> {
    const { process, done } = await this.parts.runtimes.enter(identity).catch((error: unknown) => {
      // The reason is for the operator's log, not for the client.
      refuse(`The runtime of the tenant ${identity.tenant} could not be started`);
      throw error;
    });
    try {
      const inner = await process.channel(identity);
      inner.write(head);
      await joined(socket, inner);
    } finally {
      done();
    }
  }

  private async ask(request: Request, identity: TenantIdentity): Promise<Response> {
    const { process, done } = await this.parts.runtimes.enter(identity);
    const { pathname, search } = new URL(request.url);
    const options = process.requestOptions(identity, {
      path: `${pathname}${search}`,
      method: request.method,
      headers: Object.fromEntries([...request.headers].filter(([name]) => passedOn.has(name))),
    });
    return new Promise((resolve, reject) => {
      const asked = httpRequest(options, (answer) => {
        answer.once('close', done);
        const headers = Object.entries(answer.headers).flatMap(([name, value]) =>
          typeof value === 'string' && !hopByHop.has(name) ? [[name, value] as [string, string]] : [],
        );
        resolve(
          new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, {
            status: answer.statusCode ?? 502,
            headers,
          }),
        );
      });
      const leave = this.clients.follow(identity, () => asked.destroy());
      asked.once('close', leave);
      asked.once('error', (error) => {
        done();
        reject(error);
      });
      request.signal.addEventListener('abort', () => asked.destroy(), { once: true });
      asked.end();
    });
  }

  private async forward(
    incoming: IncomingMessage,
    { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
    identity: TenantIdentity,
  ): Promise<void> {
    const leave = this.follow(identity, {
      door: 'http',
      address: incoming.socket.remoteAddress ?? '',
      socket,
    });
    let left: (() => void) | undefined;
    try {
      const { process, done } = await this.parts.runtimes.enter(identity);
      left = done;
      const protocols = String(incoming.headers['sec-websocket-protocol'] ?? '')
        .split(',')
        .map((each) => each.trim())
        .filter((each) => each !== '' && !each.includes('.token.'));
      const asked = httpRequest(
        process.requestOptions(identity, {
          path: incoming.url ?? '/',
          headers: {
            ...Object.fromEntries(
              webSocketHeaders.map((name) => [name, String(incoming.headers[name] ?? '')]),
            ),
            ...(protocols.length > 0 && { 'sec-websocket-protocol': protocols.join(', ') }),
          },
        }),
      );
      asked.end();
      const inner = await upgraded(asked, socket);
      if (head.length > 0) inner.write(head);
      await joined(socket, inner);
    } catch (error) {
      this.parts.warn(error instanceof Error ? error.message : String(error));
      socket.destroy();
    } finally {
      left?.();
      leave();
    }
  }
}

const webSocketHeaders = ['connection', 'upgrade', 'sec-websocket-key', 'sec-websocket-version'];
const passedOn: ReadonlySet<string> = new Set(['accept', 'last-event-id', 'content-type']);
const hopByHop: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/** Resolves with the other end once it has agreed, and passes its agreement on. */
function upgraded(asked: ReturnType<typeof httpRequest>, socket: Duplex): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    asked.once('error', reject);
    asked.once('response', () => reject(new Error('The runtime of the tenant refused a WebSocket')));
    asked.once('upgrade', (response: IncomingMessage, inner: Socket, first: Buffer) => {
      const lines = Object.entries(response.headers).map(([name, value]) => `${name}: ${value}`);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
      if (first.length > 0) socket.write(first);
      resolve(inner);
    });
  });
}

/** Passes bytes both ways until either side is gone. */
function joined(one: Duplex, other: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      one.destroy();
      other.destroy();
      resolve();
    };
    for (const side of [one, other]) {
      side.on('error', end);
      side.once('close', end);
    }
    one.pipe(other);
    other.pipe(one);
    one.resume();
  });
}
