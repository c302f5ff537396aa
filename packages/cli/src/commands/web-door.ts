import type { HttpDoor, Route, SocketRoute, TokenCheck } from '@groundcrew/http-door';
import { type TlsIdentity, webSocketChannel } from '@groundcrew/rpc';
import type { Identity } from '@groundcrew/server';
import type { Program } from '../compose.js';
import { channelOptions, maxUntrustedBytes, type ServeChannel } from '../doors/serve-channel.js';
import { lastPort } from '../flags/arguments.js';
import { type Flag, numberFlag, textFlag } from '../flags/flags.js';

/** A flag that may be given again and again. */
function namesFlag(name: string, placeholder: string, help: string): Flag<readonly string[]> {
  return {
    names: [name],
    placeholder,
    help,
    read: (value) => [value],
    join: (before, more) => [...before, ...more],
  };
}

/** The flags of every command that opens a door over HTTP. */
export const webFlags = {
  allowHost: namesFlag(
    '--allow-host',
    'NAME',
    'another name that requests over HTTP may call this machine by; may be given again',
  ),
  allowOrigin: namesFlag(
    '--allow-origin',
    'URL',
    'pages that may make requests over HTTP; may be given again',
  ),
};

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
