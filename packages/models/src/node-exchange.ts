import type { Environment } from '@groundcrew/http-client';
import type { Exchange, TimeLimits } from './exchange.js';
import { asModelError } from './failure.js';

export interface NodeExchangeOptions {
  /** Where HTTP_PROXY, HTTPS_PROXY and NO_PROXY are looked up. */
  readonly environment: Environment;
  /** Asked for by the first call. */
  readonly limits?: () => Partial<TimeLimits>;
}

const defaultLimits: TimeLimits = { send: 60_000, firstByte: 600_000, idle: 300_000 };

/**
 * Calls over the network, through a proxy where the environment names one. Redirects are answers like others.
 * Node's HTTP is loaded by the first call: a runtime that only starts has no use for it.
 */
export function nodeExchange({ environment, limits }: NodeExchangeOptions): Exchange {
  let opened: Promise<Exchange> | undefined;
  let sockets: Promise<Exchange> | undefined;
  const open = async () => {
    const { httpExchange } = await import('@groundcrew/http-client');
    return httpExchange(environment, { ...defaultLimits, ...limits?.() });
  };
  const openSockets = async () => {
    const { webSocketExchange } = await import('./web-socket.js');
    return webSocketExchange(environment, { ...defaultLimits, ...limits?.() });
  };
  return async (request, signal) => {
    if (request.transport === 'websocket') {
      sockets ??= openSockets();
      return (await sockets)(request, signal).catch((error: unknown) => {
        throw asModelError(error) ?? error;
      });
    }
    opened ??= open();
    return (await opened)(request, signal).catch((error: unknown) => {
      throw asModelError(error) ?? error;
    });
  };
}
