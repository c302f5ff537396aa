import { isIPv6 } from 'node:net';
import type { HttpDoor, Route, SocketRoute, TokenCheck } from '@groundcrew/http-door';
import { type TlsIdentity, webSocketChannel } from '@groundcrew/rpc';
import type { Identity } from '@groundcrew/server';
import type { Program } from '../compose.js';
import { channelOptions, maxUntrustedBytes, type ServeChannel } from '../doors/serve-channel.js';
import { lastPort, UsageError } from '../flags/arguments.js';
import { type Flag, numberFlag, textFlag } from '../flags/flags.js';

/** A flag that may be given again and again. */
function namesFlag(
  name: string,
  {
    placeholder,
    help,
    read,
  }: { readonly placeholder: string; readonly help: string; read(value: string): string },
): Flag<readonly string[]> {
  return {
    names: [name],
    placeholder,
    help,
    read: (value) => [read(value)],
    join: (before, more) => [...before, ...more],
  };
}

/** The flags of every command that opens a door over HTTP. */
export const webFlags = {
  allowHost: namesFlag('--allow-host', {
    placeholder: 'NAME',
    help: 'another name that requests over HTTP may call this machine by; may be given again',
    read: hostIn,
  }),
  allowOrigin: namesFlag('--allow-origin', {
    placeholder: 'URL',
    help: 'pages that may make requests over HTTP; may be given again',
    read: originIn,
  }),
};

/** As the header `Host` has it, with a port or without. */
function hostIn(given: string): string {
  const host = isIPv6(given) ? `[${given}]` : given;
  if (!/^(?:[^\s/@:?#[\]*]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host))
    throw new UsageError(`--allow-host: ${given} is no name of a machine, such as agents.example`);
  return host;
}

/** As browsers send it: without a path, and without the usual port. */
function originIn(given: string): string {
  // What pages without an origin of their own send.
  if (given === 'null') return given;
  const url = URL.canParse(given) && !given.includes('*') ? new URL(given) : undefined;
  const isOrigin = url && url.host !== '' && url.username === '' && /^\/?$/.test(url.pathname);
  if (!isOrigin || url.search !== '' || url.hash !== '')
    throw new UsageError(`--allow-origin: ${given} is no origin of a page, such as https://agents.example`);
  return (url.origin === 'null' ? `${url.protocol}//${url.host}` : url.origin).toLowerCase();
}

/** The flags of every command that listens on a port of its own. */
export const addressFlags = {
  port: numberFlag({
    name: '--port',
    placeholder: 'N',
    help: 'the port; default: any free one',
    most: lastPort,
  }),
  host: textFlag('--host', 'H', 'the address to listen on; default: 127.0.0.1, this machine only'),
};

/** The port of the door over HTTP. */
export const webPort = numberFlag({
  name: '--http-port',
  placeholder: 'N',
  help: 'also opens a door over HTTP, for pages: WebSockets, events and the page that shows sessions; 0 is any free port',
  most: lastPort,
});

/** What the address of a door over HTTP is for `--http-host`. */
export const webHost = textFlag(
  '--http-host',
  'H',
  'the address of the door over HTTP; default: that of --host',
);

/** Where a door over HTTP is opened, and who may come in. */
export interface WebDoorOptions {
  readonly host?: string;
  readonly port?: number;
  readonly token: string;
  readonly tls?: TlsIdentity;
  /** Several tenants come by this door. */
  readonly tenants?: {
    readonly tokens: TokenCheck;
    route(own: Route): Route;
    socketRoute(own: SocketRoute['accept']): SocketRoute;
  };
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  /** More that it answers, by path. */
  readonly routes?: Readonly<Record<string, Route>>;
  warn(text: string): void;
}

/** Opens the door over HTTP: sessions by WebSocket at /rpc, their events at /events. Its libraries are loaded now. */
export async function openWebDoor(
  program: Pick<Program, 'events'>,
  serve: ServeChannel,
  { warn, routes, tenants, ...options }: WebDoorOptions,
): Promise<HttpDoor> {
  const { openHttpDoor } = await import('@groundcrew/http-door');
  const events: Route = { answer: (request) => program.events(request) };
  const accept: SocketRoute['accept'] = (socket, { isTrusted, bytes, identity }) => {
    const channel = webSocketChannel({ socket, bytes }, { ...channelOptions, maxUntrustedBytes });
    void serve(channel, identity === undefined ? { isTrusted } : { identity: identity as Identity });
  };
  return openHttpDoor({
    ...options,
    ...(tenants && { tokens: tenants.tokens }),
    routes: { ...routes, '/events': tenants ? tenants.route(events) : events },
    sockets: { '/rpc': tenants ? tenants.socketRoute(accept) : { accept } },
    cookiePath: '/enter',
    onFailure: (error) => warn(error instanceof Error ? error.message : String(error)),
  });
}
