import { refreshAuthorization } from '@modelcontextprotocol/client';
import { clientCredentialsToken } from './client-credentials.js';
import type { Fetch } from './guarded-fetch.js';
import { type Credentials, type KeptTokens, resourceOf, type TokenBook, withEnding } from './token-book.js';

/** How long before its end at which a token is renewed, lest it end on its way. */
const marginMilliseconds = 30_000;

/** The access token that was kept for a server, renewed when it is about to end; undefined when there is none that could serve. */
export async function keptToken(
  book: TokenBook,
  serverUrl: string,
  fetch: Fetch,
): Promise<string | undefined> {
  const tokens = book.read(serverUrl)?.tokens;
  if (!tokens) return undefined;
  const isEnding = tokens.expiresAt !== undefined && tokens.expiresAt - marginMilliseconds < Date.now();
  if (!isEnding) return tokens.access_token;
  return (
    (await renewedToken(book, serverUrl, { refused: tokens.access_token, fetch })) ?? tokens.access_token
  );
}

/** A token instead of one that was refused; undefined when the user has to log in again. */
export function renewedToken(
  book: TokenBook,
  serverUrl: string,
  { refused, fetch }: { readonly refused: string | undefined; readonly fetch: Fetch },
): Promise<string | undefined> {
  return book.alone(serverUrl, async () => {
    const kept = book.read(serverUrl);
    // Another session, or another process, was quicker: a refresh token may be used once only.
    if (kept?.tokens && kept.tokens.access_token !== refused) return kept.tokens.access_token;
    const tokens = kept && (await refreshed(kept, fetch));
    if (!kept || !tokens) return undefined;
    book.write({ ...kept, tokens });
    return tokens.access_token;
  });
}

async function refreshed(
  { tokens, client, discovery }: Credentials,
  fetchFn: Fetch,
): Promise<KeptTokens | undefined> {
  if (!tokens || !client || !discovery) return undefined;
  const { issuer, scope } = tokens;
  const stays = { ...(issuer !== undefined && { issuer }), ...(scope !== undefined && { scope }) };
  const { authorizationServerMetadata: metadata, authorizationServerUrl } = discovery;
  try {
    if (client.isMachine)
      return {
        ...stays,
        ...withEnding(await clientCredentialsToken({ client, discovery }, { fetch: fetchFn, scope })),
      };
    if (!tokens.refresh_token) return undefined;
    const fresh = await refreshAuthorization(authorizationServerUrl, {
      ...(metadata && { metadata }),
      clientInformation: client,
      refreshToken: tokens.refresh_token,
      ...resourceOf(discovery),
      fetchFn,
    });
    return { ...stays, ...withEnding(fresh) };
  } catch {
    // What an authorisation server answers may repeat what it was sent: it goes nowhere. The user is asked to log in again.
    return undefined;
  }
}
