import {
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { authorisedFetch, type TokenSource } from './authorised-fetch.js';
import { boundedResponse } from './bounded-response.js';
import type { RemoteConfig } from './config.js';
import { isDeepValue } from './json-depth.js';
import { deepestMessage, Intake, tooDeep } from './message-limits.js';
import type { Fetch } from './oauth/guarded-fetch.js';

/** A transport to a server that runs already; `terminate` takes leave of it, as far as it listens. */
export type RemoteTransport = Transport & {
  terminate(): Promise<void>;
  /** The server says that it does not know the session that it gave. */
  isSessionLost(error: unknown): boolean;
  /** Why the server was left, where it did not end by itself. */
  readonly fault: string | undefined;
};

/** Speaks with the address that the user wrote; a redirect that leads to another origin fails. */
export function remoteTransport(config: RemoteConfig, tokens: TokenSource): RemoteTransport {
  const { type, url, headers } = config;
  const watch = new Watch();
  const options = {
    fetch: watch.fetch(authorisedFetch(config, tokens)),
    requestInit: { headers: { ...headers } },
    redirectPolicy: 'same-origin' as const,
  };
  if (type === 'sse')
    return watch.over(new SSEClientTransport(new URL(url), options), {
      terminate: async () => undefined,
      isSessionLost: () => false,
    });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    ...options,
    reconnectionOptions,
    reconnectionScheduler,
  });
  const terminate = async () => {
    const asked = transport.terminateSession().catch(() => undefined);
    await Promise.race([asked, new Promise((done) => setTimeout(done, farewellMilliseconds).unref())]);
  };
  const isSessionLost = (error: unknown) =>
    error instanceof SdkHttpError && error.status === 404 && transport.sessionId !== undefined;
  return watch.over(transport, { terminate, isSessionLost });
}

/** A stream that breaks is opened again, with the session's id, for as long as the session needs the server. */
const reconnectionOptions = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: Number.POSITIVE_INFINITY,
};

/** A server may say when to come back, but neither at once, again and again, nor never. */
const reconnectionScheduler = (reconnect: () => void, delay: number): (() => void) => {
  const timer = setTimeout(reconnect, Math.min(Math.max(delay, 250), 30_000)).unref();
  return () => clearTimeout(timer);
};

/** Holds what a server sends to the bounds of messages, and leaves one that exceeds them. */
class Watch {
  fault: string | undefined;
  private readonly intake = new Intake();
  private close: () => void = () => undefined;

  /** Requests whose answers are bounded. */
  fetch(plain: Fetch): Fetch {
    return async (url, init) => {
      const response = await plain(url, init);
      const isStream = (init?.method ?? 'GET') === 'GET';
      const hasSession = new Headers(init?.headers).has('mcp-session-id');
      if (response.status === 404 && isStream && hasSession) this.leave('it has forgotten the session');
      return boundedResponse(response, (reason) => this.leave(reason));
    };
  }

  /** The transport, with what goes in and out of it counted. */
  over<T extends Transport>(
    transport: T,
    more: Pick<RemoteTransport, 'terminate' | 'isSessionLost'>,
  ): RemoteTransport {
    this.close = () => void transport.close().catch(() => undefined);
    const send = transport.send.bind(transport);
    let take: Transport['onmessage'];
    const bounded: NonNullable<Transport['onmessage']> = (message, extra) => {
      const fault = isDeepValue(message, deepestMessage) ? tooDeep : this.intake.faultOf(message);
      if (fault === undefined) take?.(message, extra);
      else this.leave(fault);
    };
    const watched = Object.assign(transport, more, {
      send: (...[message, options]: Parameters<Transport['send']>) => {
        this.intake.sent(message);
        if (!('method' in message && 'id' in message)) return send(message, options);
        const { id } = message;
        const onRequestStreamEnd = () => {
          options?.onRequestStreamEnd?.();
          // Without this the call would wait for an answer that has nowhere to come from.
          if (this.intake.isOpen(id)) bounded({ jsonrpc: '2.0', id, error: broken });
        };
        return send(message, { ...options, onRequestStreamEnd });
      },
    });
    return Object.defineProperties(watched, {
      onmessage: {
        get: () => take && bounded,
        set: (given: Transport['onmessage']) => {
          take = given;
        },
      },
      fault: { get: () => this.fault },
    }) as unknown as RemoteTransport; // what was defined here is not in the type of the library's
  }

  private leave(reason: string): void {
    if (this.fault !== undefined) return;
    this.fault = reason;
    this.close();
  }
}

/** The server wants to know who asks. */
export function isUnauthorized(error: unknown): boolean {
  if (error instanceof UnauthorizedError) return true;
  return error instanceof SdkHttpError && error.status === 401;
}

const broken = { code: -32000, message: 'it broke the connection before it answered' };
const farewellMilliseconds = 500;
