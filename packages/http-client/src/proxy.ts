import { HttpError } from './errors.js';
import { proxyAuthorization } from './proxy-authorization.js';
import type { TunnelAgent } from './tunnel.js';

/** The variables of a process, given by the code that starts it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a request really goes, and what changes on its way there. */
export interface Route {
  readonly target: URL;
  /** What is asked for there. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The next hop is a proxy that is asked for the whole address. */
  readonly isForwarded: boolean;
  /** The next hop speaks TLS. */
  readonly secure: boolean;
  /** Connections to the target are opened through it. */
  readonly tunnel?: TunnelAgent;
}

/** Finds the way to an address: plain requests are handed to the proxy, encrypted ones go through a tunnel. */
export function routes(environment: Environment): (url: URL) => Promise<Route> {
  let tunnel: TunnelAgent | undefined;
  return async (url) => {
    const proxy = proxyFor(url, environment);
    const secure = url.protocol === 'https:';
    const direct = { target: url, path: url.pathname + url.search, headers: {}, isForwarded: false, secure };
    if (!proxy) return direct;
    if (secure) {
      tunnel ??= new (await import('./tunnel.js')).TunnelAgent(proxy);
      return { tunnel, ...direct };
    }
    return {
      target: new URL(proxy.origin),
      path: url.href,
      headers: { host: url.host, ...proxyAuthorization(proxy) },
      isForwarded: true,
      secure: proxy.protocol === 'https:',
    };
  };
}

/** The proxy the environment names for an address; lower case wins over upper case. */
export function proxyFor(url: URL, environment: Environment): URL | undefined {
  const variable = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const value = lookUp(environment, variable);
  if (value === undefined || bypasses(url, lookUp(environment, 'no_proxy') ?? '')) return undefined;
  return parseProxy(value, variable.toUpperCase());
}

function lookUp(environment: Environment, variable: string): string | undefined {
  return environment[variable]?.trim() || environment[variable.toUpperCase()]?.trim() || undefined;
}

/** NO_PROXY holds names, which cover their subdomains, with or without a leading dot or a port; `*` covers all. */
function bypasses(url: URL, noProxy: string): boolean {
  const host = url.hostname.toLowerCase();
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === '') return false;
      if (entry === '*') return true;
      const [, name = '', entryPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (entryPort !== undefined && entryPort !== port) return false;
      const suffix = name.replace(/^\*?\./, '');
      return host === suffix || host.endsWith(`.${suffix}`);
    });
}

function parseProxy(value: string, variable: string): URL {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const proxy = URL.canParse(text) ? new URL(text) : undefined;
  if (!proxy) throw new HttpError('configuration', `${variable} is not the address of a proxy`);
  if (proxy.protocol === 'http:' || proxy.protocol === 'https:') return proxy;
  const protocol = proxy.protocol.slice(0, -1);
  throw new HttpError(
    'configuration',
    `${variable} names a ${protocol} proxy; this version speaks to http and https proxies`,
  );
}
