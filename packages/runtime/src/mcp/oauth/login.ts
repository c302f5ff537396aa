import { randomBytes } from 'node:crypto';
import {
  auth,
  computeScopeUnion,
  exchangeAuthorization,
  IssuerMismatchError,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
} from '@modelcontextprotocol/client';
import { type ClientCredentialsLogin, clientCredentialsLogin, failureCode } from './client-credentials.js';
import { hostRedirect } from './host-redirect.js';
import { listenForRedirect } from './loopback.js';
import type { Callback, Redirect } from './redirect.js';
import { type Credentials, type KeptClient, resourceOf, withEnding } from './token-book.js';

/** How the program logs in at a server; one that is not registered there yet registers itself. */
export interface LoginRequest extends ClientCredentialsLogin {
  readonly isMachine?: boolean | undefined;
  readonly clientName?: string | undefined;
  /** What the browser shows at the end. */
  readonly message?: string | undefined;
  readonly redirectPort?: number | undefined;
  /** An address of the app around the program, which receives the browser in its place. */
  readonly redirectUri?: string | undefined;
}

/** A log-in under way. */
export interface Login {
  /** What the user opens in a browser; absent where none is needed. */
  readonly authorizationUrl?: string;
  /** What the app hands over comes here, where it receives the browser. Throws when it does not belong to this log-in. */
  readonly atHost?: { readonly authorizationId: string; arrived(callbackUrl: string): void };
  /** Resolves when the tokens are kept; rejects with why not, in words without secrets. */
  readonly done: Promise<void>;
}

const longestLogin = 600_000;

/** Begins to log in; rejects when the server or its authorisation server cannot be worked with. */
export async function startLogin(request: LoginRequest, signal: AbortSignal): Promise<Login> {
  return request.isMachine ? { done: clientCredentialsLogin(request) } : userLogin(request, signal);
}

async function userLogin(request: LoginRequest, signal: AbortSignal): Promise<Login> {
  const { book, serverUrl } = request;
  const kept = book.read(serverUrl);
  const state = randomBytes(32).toString('base64url');
  const atHost = request.redirectUri === undefined ? undefined : hostRedirect(request.redirectUri, state);
  const redirect: Redirect =
    atHost ??
    (await listenForRedirect({
      state,
      port: request.redirectPort ?? kept?.client?.redirectPort,
      message: request.message ?? 'You are logged in. You may close this page.',
    }));
  try {
    const flow = new Flow(request, kept, { redirect, state });
    const scope = computeScopeUnion(kept?.tokens?.scope, request.scope);
    const options = {
      serverUrl,
      fetchFn: request.fetch,
      forceReauthorization: true,
      ...(scope !== undefined && scope !== '' && { scope }),
      ...(request.resourceMetadataUrl !== undefined && {
        resourceMetadataUrl: new URL(request.resourceMetadataUrl),
      }),
    };
    await auth(flow.provider(), options).catch((error: unknown) => {
      if (!isOwnIssuer(error, serverUrl)) throw error;
      return auth(flow.provider(), { ...options, skipIssuerMetadataValidation: true });
    });
    const authorizationUrl = flow.checkedAddress();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(longestLogin)]);
    const done = redirect
      .callback(limit)
      .then((callback) => flow.exchange(callback))
      .finally(() => redirect.close());
    // The caller may show the address first and wait later.
    done.catch(() => undefined);
    return {
      authorizationUrl,
      done,
      ...(atHost && { atHost: { authorizationId: state, arrived: atHost.arrived } }),
    };
  } catch (error) {
    redirect.close();
    throw error;
  }
}

/**
 * Servers of the revision of March 2025 log users in themselves. Some publish metadata at their root that names one of their own
 * paths as issuer. That is safe: the server, the page and the issuer are of one origin.
 */
function isOwnIssuer(error: unknown, serverUrl: string): boolean {
  if (!(error instanceof IssuerMismatchError) || error.kind !== 'metadata') return false;
  const { origin } = new URL(serverUrl);
  return [error.expected, error.received].every(
    (issuer) => issuer !== undefined && originOf(issuer) === origin,
  );
}

function originOf(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).origin : undefined;
}

/** What one log-in of a user keeps between its first and its second half. */
class Flow {
  private verifier = '';
  private address: URL | undefined;
  private discovery: OAuthDiscoveryState | undefined;
  private client: KeptClient | undefined;

  constructor(
    private readonly request: LoginRequest,
    kept: Credentials | undefined,
    private readonly way: { readonly redirect: Redirect; readonly state: string },
  ) {
    const { clientId, clientSecret } = request;
    if (clientId !== undefined)
      this.client = {
        client_id: clientId,
        ...(clientSecret !== undefined && { client_secret: clientSecret }),
      };
    // One that was registered with another address would be refused.
    else if (kept?.client && comesBackTo(kept.client, way.redirect)) this.client = kept.client;
  }

  provider(): OAuthClientProvider {
    const { url, port } = this.way.redirect;
    const isRegistered = this.request.clientId !== undefined;
    return {
      redirectUrl: url,
      clientMetadata: {
        client_name: this.request.clientName ?? 'Groundcrew',
        redirect_uris: [url],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: this.request.clientSecret === undefined ? 'none' : 'client_secret_post',
      },
      state: () => this.way.state,
      clientInformation: () => this.client,
      ...(!isRegistered && {
        saveClientInformation: ({ client_id, client_secret, issuer }) => {
          this.client = {
            client_id,
            ...(port === undefined ? { redirectUri: url } : { redirectPort: port }),
            ...(client_secret !== undefined && { client_secret }),
            ...(issuer !== undefined && { issuer }),
          };
        },
      }),
      tokens: () => undefined,
      saveTokens: () => undefined,
      redirectToAuthorization: (address) => {
        this.address = address;
      },
      saveCodeVerifier: (verifier) => {
        this.verifier = verifier;
      },
      codeVerifier: () => this.verifier,
      discoveryState: () => this.discovery,
      saveDiscoveryState: (discovery) => {
        this.discovery = discovery;
      },
    };
  }

  /** An address that a browser may be sent to: metadata of a server could name anything. */
  checkedAddress(): string {
    const { address } = this;
    if (!address) throw new Error('its authorisation server has no page to log in at');
    const isOwnHost = address.hostname === new URL(this.request.serverUrl).hostname;
    if (address.protocol === 'https:' || (address.protocol === 'http:' && isOwnHost)) return address.href;
    throw new Error(
      `its authorisation server names a page at ${address.protocol}//${address.host}, not at https`,
    );
  }

  async exchange({ code, issuer }: Callback): Promise<void> {
    const { request, client, discovery } = this;
    if (!client || !discovery) throw new Error('its authorisation server is not known');
    const { authorizationServerMetadata: metadata, authorizationServerUrl } = discovery;
    const tokens = await exchangeAuthorization(authorizationServerUrl, {
      ...(metadata && { metadata }),
      clientInformation: client,
      authorizationCode: code,
      ...(issuer !== undefined && { iss: issuer }),
      codeVerifier: this.verifier,
      redirectUri: this.way.redirect.url,
      ...resourceOf(discovery),
      fetchFn: request.fetch,
    }).catch((error: unknown) => {
      throw new Error(`its authorisation server gave no token: ${failureCode(error)}`);
    });
    // A server that names no scope has granted what was asked for.
    const scope = tokens.scope ?? this.address?.searchParams.get('scope') ?? undefined;
    request.book.write({
      serverUrl: request.serverUrl,
      tokens: { ...withEnding(tokens), ...(scope !== undefined && { scope }) },
      client,
      discovery,
    });
  }
}

/** The program was registered with this way back. */
function comesBackTo({ redirectPort, redirectUri }: KeptClient, { url, port }: Redirect): boolean {
  return port === undefined ? redirectUri === url : redirectPort === port;
}
