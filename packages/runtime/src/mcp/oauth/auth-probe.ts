import { refusalReason, wantedLogin } from '../challenge.js';
import type { Challenge } from '../client-auth.js';
import type { RemoteConfig } from '../config.js';
import { reasonOf } from '../failure-reasons.js';

type HttpResponse = NonNullable<Challenge['httpResponse']>;

/** How a server takes a request with the token that is kept for it, or with none. */
export type AuthProbe =
  | { readonly status: 'no-auth-required' | 'authenticated'; readonly httpResponse: HttpResponse }
  | {
      readonly status: 'needs-auth';
      readonly httpResponse: HttpResponse;
      readonly reason: 'initial' | 'refresh' | 'upscope';
      readonly wwwAuthenticateParams?: NonNullable<Challenge['wwwAuthenticateParams']>;
    }
  | { readonly status: 'failed'; readonly error: string; readonly httpResponse?: HttpResponse };

/**
 * Asks a server once, beside the connection that there may be: no log-in begins, no client is asked, no status changes. A
 * redirect is not followed, so the token goes to the address that the user wrote only.
 */
export async function probeAuth(
  config: RemoteConfig,
  kept: string | undefined,
  signal: AbortSignal,
): Promise<AuthProbe> {
  const hasOwnHeader = Object.keys(config.headers).some((name) => name.toLowerCase() === 'authorization');
  const token = hasOwnHeader ? undefined : kept;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(longestProbe)]);
  try {
    const response = await fetch(config.url, {
      ...requestTo(config, token),
      redirect: 'manual',
      signal: limit,
    });
    const httpResponse = await shown(response);
    await endSession(config, { response, token, signal: limit });
    const reason = refusalReason(response, token);
    if (reason) {
      const wwwAuthenticateParams = wantedLogin(response);
      return {
        status: 'needs-auth',
        httpResponse,
        reason,
        ...(wwwAuthenticateParams && { wwwAuthenticateParams }),
      };
    }
    if (!response.ok)
      return { status: 'failed', error: `it answered with HTTP status ${response.status}`, httpResponse };
    return { status: token === undefined ? 'no-auth-required' : 'authenticated', httpResponse };
  } catch (error) {
    return { status: 'failed', error: reasonOf(error, token === undefined ? [] : [token]) };
  }
}

const longestProbe = 15_000;
const mostBody = 64 * 1024;
const farewell = 500;

function requestTo({ type, headers }: RemoteConfig, token: string | undefined): RequestInit {
  const authorization = token !== undefined && { authorization: `Bearer ${token}` };
  if (type === 'sse')
    return { method: 'GET', headers: { ...headers, accept: 'text/event-stream', ...authorization } };
  const greeting = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'groundcrew', version: '1' },
    },
  };
  return {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...authorization,
    },
    body: JSON.stringify(greeting),
  };
}

/** What the server answered, without what names a session of it. The body is shown where it says why it refused. */
async function shown(response: Response): Promise<HttpResponse> {
  const headers = [...response.headers]
    .filter(([name]) => name !== 'set-cookie' && name !== 'mcp-session-id')
    .map(([name, value]) => ({ name, value }));
  const { status: statusCode } = response;
  if (response.ok) {
    await response.body?.cancel();
    return { headers, statusCode };
  }
  const body = await bodyOf(response);
  return { headers, statusCode, ...(body !== undefined && { body }) };
}

/** Undefined where it is longer than a reason would be, or no text. */
async function bodyOf(response: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > mostBody) return undefined;
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    // No text.
    return undefined;
  }
}

/** A greeting opens a session at many servers: it is ended, as far as they listen. */
async function endSession(
  { url, headers }: RemoteConfig,
  asked: { readonly response: Response; readonly token: string | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const { response, token, signal } = asked;
  const sessionId = response.headers.get('mcp-session-id');
  if (sessionId === null) return;
  const ended = await fetch(url, {
    method: 'DELETE',
    headers: {
      ...headers,
      'mcp-session-id': sessionId,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(farewell)]),
  }).catch(() => undefined);
  await ended?.body?.cancel();
}
