import {
  checkResourceAllowed,
  computeScopeUnion,
  discoverOAuthServerInfo,
  fetchToken,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client';
import type { Fetch } from './guarded-fetch.js';
import { type Credentials, type KeptClient, resourceOf, type TokenBook, withEnding } from './token-book.js';

/** How the program logs in at a server by itself. */
export interface ClientCredentialsLogin {
  readonly serverUrl: string;
  readonly book: TokenBook;
  readonly fetch: Fetch;
  /** What the server's last refusal said. */
  readonly scope?: string | undefined;
  readonly resourceMetadataUrl?: string | undefined;
  /** The program as it is registered already. */
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
}

/** The program's own log-in: by its secret, no user takes part. */
export async function clientCredentialsLogin(request: ClientCredentialsLogin): Promise<void> {
  const { serverUrl, clientId, clientSecret, resourceMetadataUrl, fetch: fetchFn } = request;
  if (clientId === undefined || clientSecret === undefined)
    throw new Error('client_credentials need a client id and a client secret');
  const discovery = await discoverOAuthServerInfo(serverUrl, {
    fetchFn,
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl: new URL(resourceMetadataUrl) }),
  });
  const { resource: configuredResource } = resourceOf(discovery);
  const isItsOwn =
    configuredResource === undefined ||
    checkResourceAllowed({ requestedResource: serverUrl, configuredResource });
  if (!isItsOwn) throw new Error('its metadata is that of another resource');
  const client: KeptClient = { client_id: clientId, client_secret: clientSecret, isMachine: true };
  const scope = computeScopeUnion(request.book.read(serverUrl)?.tokens?.scope, request.scope);
  const tokens = await clientCredentialsToken({ client, discovery }, { fetch: fetchFn, scope });
  request.book.write({
    serverUrl,
    tokens: { ...withEnding(tokens), ...(scope && !tokens.scope && { scope }) },
    client,
    discovery,
  });
}

/** A token for the program itself; throws without saying what was sent. */
export async function clientCredentialsToken(
  { client, discovery }: Required<Pick<Credentials, 'client' | 'discovery'>>,
  { fetch: fetchFn, scope }: { readonly fetch: Fetch; readonly scope?: string | undefined },
) {
  const { authorizationServerMetadata: metadata, authorizationServerUrl, resourceMetadata } = discovery;
  const asked = scope || resourceMetadata?.scopes_supported?.join(' ');
  const provider: OAuthClientProvider = {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [], grant_types: ['client_credentials'] },
    clientInformation: () => client,
    tokens: () => undefined,
    saveTokens: () => undefined,
    redirectToAuthorization: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
    prepareTokenRequest: (wanted) =>
      new URLSearchParams({ grant_type: 'client_credentials', ...(wanted && { scope: wanted }) }),
  };
  return fetchToken(provider, authorizationServerUrl, {
    ...(metadata && { metadata }),
    ...resourceOf(discovery),
    ...(asked && { scope: asked }),
    fetchFn,
  }).catch((error: unknown) => {
    throw new Error(`its authorisation server gave no token: ${failureCode(error)}`);
  });
}

/** What kind of failure it was: the text of an authorisation server may repeat codes and secrets. */
export function failureCode(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason';
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && /^[\w.-]{1,60}$/.test(code) ? code : error.name;
}
