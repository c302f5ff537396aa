import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from '../tools/addresses.js';
import type { Challenge } from './client-auth.js';
import type { RemoteConfig } from './config.js';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;
type Reason = Challenge['reason'];

/** Asks for a token; undefined when there is none to be had. */
export type AskToken = (challenge: Challenge) => Promise<string | undefined>;

const mostMetadata = 64 * 1024;
const metadataMilliseconds = 10_000;

/** Requests of one server, with the token that a client brought; what the server sends back for want of one is sent again. */
export function authorisedFetch(config: RemoteConfig, askToken: AskToken): Fetch {
  let token: string | undefined;
  const send: Fetch = (url, init) => {
    const headers = new Headers(init?.headers);
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    return fetch(url, { ...init, headers });
  };
  return async (url, init) => {
    let response = await send(url, init);
    let reason = reasonFor(response, token);
    while (reason) {
      const given: string | undefined = await askToken(await challengeOf(response, reason, config));
      if (given === undefined && reason !== 'refresh') return response;
      if (given !== undefined) {
        token = given;
        response = await send(url, init);
      }
      // A token that could not be refreshed, or was refused when it was, is asked for anew, once.
      const next = reasonFor(response, token);
      const isLast =
        reason === 'reauth' || reason === 'initial' || (next && next === reason && reason === 'upscope');
      reason = !next || isLast ? undefined : nextReason(reason, next);
    }
    return response;
  };
}

function nextReason(before: Reason, next: Reason): Reason {
  return before === 'refresh' && next === 'refresh' ? 'reauth' : next;
}

function reasonFor(response: Response, token: string | undefined): Reason | undefined {
  if (response.status === 401) return token === undefined ? 'initial' : 'refresh';
  const isShort = /error="?insufficient_scope/.test(response.headers.get('www-authenticate') ?? '');
  return response.status === 403 && isShort ? 'upscope' : undefined;
}

async function challengeOf(response: Response, reason: Reason, config: RemoteConfig): Promise<Challenge> {
  const header = response.headers.get('www-authenticate') ?? '';
  const value = (name: string) => new RegExp(`${name}="?([^",]+)"?`).exec(header)?.[1];
  const resourceMetadataUrl = value('resource_metadata');
  const scope = value('scope');
  const error = value('error');
  await response.body?.cancel();
  const metadata = resourceMetadataUrl && (await metadataAt(resourceMetadataUrl, config.url));
  return {
    reason,
    ...(header !== '' && {
      wwwAuthenticateParams: {
        ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
        ...(scope !== undefined && { scope }),
        ...(error !== undefined && { error }),
      },
    }),
    ...(metadata && { resourceMetadata: metadata }),
  };
}

/** What a server says of who may log in there; nothing where its address is not allowed or does not answer. */
async function metadataAt(address: string, serverUrl: string): Promise<string | undefined> {
  try {
    const url = new URL(address);
    // The user wrote the server's host; any other that it names must be public.
    if (url.hostname !== new URL(serverUrl).hostname && !(await isPublicHost(url))) return undefined;
    const signal = AbortSignal.timeout(metadataMilliseconds);
    const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
    const text = await response.text();
    return response.ok && text.length <= mostMetadata ? text : undefined;
  } catch {
    // Clients that log in may find it themselves.
    return undefined;
  }
}

async function isPublicHost({ hostname, protocol }: URL): Promise<boolean> {
  if (protocol !== 'https:' && protocol !== 'http:') return false;
  const host = hostname.replace(/^\[|\]$/g, '');
  const found = isIP(host) ? [{ address: host }] : await lookup(host, { all: true });
  return found.length > 0 && found.every(({ address }) => isPublicAddress(address));
}
