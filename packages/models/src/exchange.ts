import type { Environment } from './proxy.js';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; what came several times is joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** May be iterated once. Leaving early gives the connection up. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** How a call gets to its service and back; a client that makes the calls itself stands here too. */
export type Exchange = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>;

/** Milliseconds each step of a call may take. */
export interface TimeLimits {
  /** To connect and to hand the whole request over. */
  readonly send: number;
  /** From then to the first byte of the answer; a model that does not stream thinks all this time. */
  readonly firstByte: number;
  /** Between two reads of the answer. */
  readonly idle: number;
}

export interface NodeExchangeOptions {
  /** Where HTTP_PROXY, HTTPS_PROXY and NO_PROXY are looked up. */
  readonly environment: Environment;
  readonly limits?: Partial<TimeLimits>;
}

const defaultLimits: TimeLimits = { send: 60_000, firstByte: 600_000, idle: 300_000 };

/**
 * Calls over the network, through a proxy where the environment names one. Redirects are answers like others.
 * Node's HTTP is loaded by the first call: a runtime that only starts has no use for it.
 */
export function nodeExchange({ environment, limits }: NodeExchangeOptions): Exchange {
  let opened: Promise<Exchange> | undefined;
  return async (request, signal) => {
    opened ??= import('./http.js').then(({ httpExchange }) =>
      httpExchange(environment, { ...defaultLimits, ...limits }),
    );
    return (await opened)(request, signal);
  };
}
