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
export type RemoteTransport = Transport & { terminate(): Promise<void> };

/** Speaks with the address that the user wrote; a redirect that leads to another origin fails. */
export function remoteTransport(config: RemoteConfig, tokens: TokenSource): RemoteTransport {
  const { type, url, headers } = config;
  const options = {
    fetch: authorisedFetch(config, tokens),
    requestInit: { headers: { ...headers } },
    redirectPolicy: 'same-origin' as const,
  };
  if (type === 'sse')
    return Object.assign(new SSEClientTransport(new URL(url), options), { terminate: async () => undefined });
  const transport = new StreamableHTTPClientTransport(new URL(url), options);
  const terminate = async () => {
    const asked = transport.terminateSession().catch(() => undefined);
    await Promise.race([asked, new Promise((done) => setTimeout(done, farewellMilliseconds).unref())]);
  };
  return Object.assign(transport, { terminate });
}

/** The server wants to know who asks. */
export function isUnauthorized(error: unknown): boolean {
  if (error instanceof UnauthorizedError) return true;
  return error instanceof SdkHttpError && error.status === 401;
}

const farewellMilliseconds = 500;
