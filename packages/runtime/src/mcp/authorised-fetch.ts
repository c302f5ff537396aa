import { refusalReason, wantedLogin } from './challenge.js';
import type { Challenge } from './client-auth.js';
import type { ServerHeaders } from './client-headers.js';
import type { RemoteConfig } from './config.js';
import { type Fetch, guardedFetch } from './oauth/guarded-fetch.js';

type Reason = Challenge['reason'];

/** Where the tokens of one server come from. */
export interface TokenSource {
  /** One that is kept from a log-in, if there is one. */
  kept(): Promise<string | undefined>;
  /** One in the place of a kept one that was refused. */
  renewed(refused: string): Promise<string | undefined>;
  /** One that a client brings, or a log-in that it begins; undefined when there is none to be had. */
  ask(challenge: Challenge): Promise<string | undefined>;
  /** Headers that clients give. */
  readonly headers: ServerHeaders;
}

/** Requests of one server, with the token that there is for it; what the server sends back for want of one is sent again. */
export function authorisedFetch(config: RemoteConfig, source: TokenSource): Fetch {
  const hasOwnHeader = Object.keys(config.headers).some((name) => name.toLowerCase() === 'authorization');
  /** The last token of a client, or of a log-in that a client began. */
  let given: string | undefined;
  const send = async (url: string | URL, init: RequestInit | undefined, token: string | undefined) => {
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(await source.headers.current())) headers.set(name, value);
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    return fetch(url, { ...init, headers });
  };
  return async (url, init) => {
    let token = given ?? (hasOwnHeader ? undefined : await source.kept());
    let response = await send(url, init, token);
    if (response.status === 401 && token !== undefined && given === undefined) {
      const fresh = await source.renewed(token);
      if (fresh !== undefined) {
        token = fresh;
        await response.body?.cancel();
        response = await send(url, init, token);
      }
    }
    if (response.status === 401 && (await source.headers.refused())) {
      await response.body?.cancel();
      response = await send(url, init, token);
    }
    let reason: Reason | undefined = refusalReason(response, token);
    while (reason) {
      const answer: string | undefined = await source.ask(await challengeOf(response, reason, config));
      if (answer === undefined && reason !== 'refresh') return response;
      if (answer !== undefined) {
        token = answer;
        // One of a log-in is kept, and can be renewed; one of a client is known here only.
        given = (await source.kept()) === answer ? undefined : answer;
        response = await send(url, init, token);
      }
      // A token that could not be refreshed, or was refused when it was, is asked for anew, once.
      const next = refusalReason(response, token);
      const isLast: boolean =
        reason === 'reauth' || reason === 'initial' || (next === reason && reason === 'upscope');
      reason = !next || isLast ? undefined : nextReason(reason, next);
    }
    return response;
  };
}

function nextReason(before: Reason, next: Reason): Reason {
  return before === 'refresh' && next === 'refresh' ? 'reauth' : next;
}

async function challengeOf(response: Response, reason: Reason, config: RemoteConfig): Promise<Challenge> {
  const wwwAuthenticateParams = wantedLogin(response);
  const resourceMetadataUrl = wwwAuthenticateParams?.resourceMetadataUrl;
  await response.body?.cancel();
  const metadata = resourceMetadataUrl && (await metadataAt(resourceMetadataUrl, config.url));
  return {
    reason,
    ...(wwwAuthenticateParams && { wwwAuthenticateParams }),
    ...(metadata && { resourceMetadata: metadata }),
  };
}

/** The metadata of a server's authorisation; undefined where its address is not allowed or does not answer. */
async function metadataAt(address: string, serverUrl: string): Promise<string | undefined> {
  try {
    const response = await guardedFetch(serverUrl)(address);
    const text = await response.text();
    return response.ok && text.length <= mostMetadata ? text : undefined;
  } catch {
    // Clients that log in may find it themselves.
    return undefined;
  }
}

const mostMetadata = 64 * 1024;
