import type { Channel } from '@groundcrew/rpc';
import { GroundcrewError } from './errors.js';

/** How a client reaches its runtime. Made by the functions of the same name. */
export type RuntimeConnection =
  | StdioRuntimeConnection
  | TcpRuntimeConnection
  | UriRuntimeConnection
  | InProcessRuntimeConnection
  | ChannelRuntimeConnection;

/** A runtime that the client starts as a process of its own. */
export interface ChildProcessRuntimeConnection {
  /**
   * The program to start; a JavaScript file is run by the Node that runs the app.
   * Without it, `GROUNDCREW_PATH`, else the installed package `groundcrew`.
   */
  readonly path?: string;
  /** More arguments, before the SDK's own. */
  readonly args?: readonly string[];
}

/** Starts a runtime and talks on its stdin and stdout. */
export interface StdioRuntimeConnection extends ChildProcessRuntimeConnection {
  readonly kind: 'stdio';
}

/** Starts a runtime that listens on a loopback port, for other clients too. */
export interface TcpRuntimeConnection extends ChildProcessRuntimeConnection {
  readonly kind: 'tcp';
  /** 0, the default, is any free port; `client.runtimePort` is the one in use. */
  readonly port?: number;
  /** What every connection must show; a random one unless given. */
  readonly connectionToken?: string;
}

/** A runtime that runs already. */
export interface UriRuntimeConnection {
  readonly kind: 'uri';
  /** `8080`, `host:8080` or `http://host:8080`; several nodes are separated by commas, and tried in turn. */
  readonly url: string;
  /** What the runtime asks its clients for, if it does. */
  readonly connectionToken?: string;
}

/** A runtime inside this process: no child, no socket. Needs the package `groundcrew`. */
export interface InProcessRuntimeConnection {
  readonly kind: 'inprocess';
}

/** A runtime at the other end of a channel that the app opens itself. */
export interface ChannelRuntimeConnection {
  readonly kind: 'channel';
  /** Called once for each connection; the client closes the channel. */
  readonly open: () => Channel | Promise<Channel>;
  readonly connectionToken?: string;
}

/** Makes a RuntimeConnection. */
export const RuntimeConnection = {
  /** Starts a runtime and talks on its stdin and stdout; the default. */
  forStdio(options: Omit<StdioRuntimeConnection, 'kind'> = {}): StdioRuntimeConnection {
    return { kind: 'stdio', ...options };
  },
  /** Starts a runtime that listens on a loopback port, and connects to it. */
  forTcp(options: Omit<TcpRuntimeConnection, 'kind'> = {}): TcpRuntimeConnection {
    return { kind: 'tcp', ...options };
  },
  /** Connects to a runtime that runs already: `8080`, `host:8080`, `http://host:8080`, or several nodes `a:8080,b:8080`. */
  forUri(url: string, options: Omit<UriRuntimeConnection, 'kind' | 'url'> = {}): UriRuntimeConnection {
    return { kind: 'uri', url, ...options };
  },
  /** Runs the runtime inside this process. */
  forInProcess(): InProcessRuntimeConnection {
    return { kind: 'inprocess' };
  },
  /** Uses a channel that the app opens: a tunnel, a worker, a test. */
  forChannel(
    open: () => Channel | Promise<Channel>,
    options: Omit<ChannelRuntimeConnection, 'kind' | 'open'> = {},
  ): ChannelRuntimeConnection {
    return { kind: 'channel', open, ...options };
  },
} as const;

/** Where a uri leads. Throws for what names no port. */
export function addressOf(url: string): { readonly host: string; readonly port: number } {
  const address = parse(url.trim());
  if (address) return address;
  throw new GroundcrewError(
    'invalid_option',
    `Cannot connect to ${JSON.stringify(url)}: expected 8080, host:8080 or http://host:8080`,
  );
}

function parse(url: string): { readonly host: string; readonly port: number } | undefined {
  if (/^\d+$/.test(url)) return withPort('127.0.0.1', url);
  const [, host, port] = /^(?:http:\/\/)?(\[[0-9a-f:.]+\]|[^:/?#@\s[\]]+):(\d+)\/?$/i.exec(url) ?? [];
  if (host === undefined || port === undefined) return undefined;
  return withPort(host.replace(/^\[|\]$/g, ''), port);
}

function withPort(host: string, text: string): { readonly host: string; readonly port: number } | undefined {
  const port = Number(text);
  return port >= 1 && port <= 65_535 ? { host, port } : undefined;
}
