import {
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { authorisedFetch, type TokenSource } from './authorised-fetch.js';
import type { RemoteConfig } from './config.js';

/** A transport to a server that runs already; `terminate` takes leave of it, as far as it listens. */
export type RemoteTransport = Transport & {
  terminate(): Promise<void>;
  /** The server says that it does not know the session that it gave. */
  isSessionLost(error: unknown): boolean;
};

/** Speaks with the address that the user wrote; a redirect that leads to another origin fails. */
export function remoteTransport(config: RemoteConfig, tokens: TokenSource): RemoteTransport {
  const { type, url, headers } = config;
  const options = {
    fetch: authorisedFetch(config, tokens),
    requestInit: { headers: { ...headers } },
    redirectPolicy: 'same-origin' as const,
  };
  if (type === 'sse')
    return Object.assign(new SSEClientTransport(new URL(url), options), {
      terminate: async () => undefined,
      isSessionLost: () => false,
    });
  const transport = new StreamableHTTPClientTransport(new URL(url), options);
  const terminate = async () => {
    const asked = transport.terminateSession().catch(() => undefined);
    await Promise.race([asked, new Promise((done) => setTimeout(done, farewellMilliseconds).unref())]);
  };
  const isSessionLost = (error: unknown) =>
    error instanceof SdkHttpError && error.status === 404 && transport.sessionId !== undefined;
  return Object.assign(transport, { terminate, isSessionLost });
}

/** The server wants to know who asks. */
export function isUnauthorized(error: unknown): boolean {
  if (error instanceof UnauthorizedError) return true;
  return error instanceof SdkHttpError && error.status === 401;
}

const farewellMilliseconds = 500;
