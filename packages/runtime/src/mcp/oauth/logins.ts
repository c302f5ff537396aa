import type { McpServerConfig, RemoteConfig } from '../config.js';
import { reasonOf } from '../failure-reasons.js';
import { guardedFetch } from './guarded-fetch.js';
import type { LoginRequest } from './login.js';
import type { TokenBook } from './token-book.js';

/** The server to log in at, as it is now. */
interface LoginServer {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly isRunning: boolean;
  readonly challenge:
    | { readonly scope?: string | undefined; readonly resourceMetadataUrl?: string | undefined }
    | undefined;
}

/** What the user, or the client for him, says of a log-in. */
export interface LoginOptions
  extends Pick<
    LoginRequest,
    'clientId' | 'clientSecret' | 'clientName' | 'message' | 'isMachine' | 'redirectUri'
  > {
  /** Log in although there are tokens that serve. */
  readonly isForced?: boolean | undefined;
}

/** A log-in that was begun. */
export interface BegunLogin {
  /** What the user opens in a browser; absent where nothing is left to do for him. */
  readonly authorizationUrl?: string;
  /** Names it to `complete`, where the app receives the browser. */
  readonly authorizationId?: string;
  /** Resolves when it is over: with why it failed, or with undefined. */
  readonly over: Promise<string | undefined>;
}

/** The program's own log-ins at the servers of a session; one at a time for each. */
export class ServerLogins {
  private readonly running = new Map<string, AbortController>();
  /** Those whose browser comes back to the app, by their ids. */
  private readonly atHost = new Map<
    string,
    { readonly over: Promise<string | undefined>; arrived(callbackUrl: string): void }
  >();

  constructor(
    private readonly parts: {
      tokens(): TokenBook;
      finished(serverName: string, accessToken: string): Promise<void>;
      failed(serverName: string, reason: string): void;
    },
  ) {}

  /** Rejects, in words, when the log-in cannot be begun. */
  async start(server: LoginServer, wish: LoginOptions): Promise<BegunLogin> {
    const { name, config } = server;
    if (config.type !== 'http' && config.type !== 'sse')
      throw new Error(`MCP server '${name}' is not a remote server: there is nothing to log in at`);
    const book = this.parts.tokens();
    const serves = server.isRunning && book.read(config.url)?.tokens !== undefined;
    if (serves && !wish.isForced) return { over: Promise.resolve(undefined) };
    this.running.get(name)?.abort();
    const life = new AbortController();
    this.running.set(name, life);
    try {
      const { startLogin } = await import('./login.js');
      const { authorizationUrl, atHost, done } = await startLogin(
        requestOf(config, server, { ...wish, book }),
        life.signal,
      );
      const over = done.then(
        () => this.finish(server, config),
        (error: unknown) => this.fail(server, error, life.signal),
      );
      void over.finally(() => this.running.get(name) === life && this.running.delete(name));
      const authorizationId = atHost?.authorizationId;
      if (atHost) {
        this.atHost.set(atHost.authorizationId, { over, arrived: atHost.arrived });
        void over.finally(() => this.atHost.delete(atHost.authorizationId));
      }
      return {
        over,
        ...(authorizationUrl !== undefined && { authorizationUrl }),
        ...(authorizationId !== undefined && { authorizationId }),
      };
    } catch (error) {
      this.running.delete(name);
      throw new Error(
        `MCP server '${name}': the log-in could not begin: ${reasonOf(error, secretsOf(wish))}`,
      );
    }
  }

  /** The browser came back to the app. Resolves when the tokens are kept; rejects, in words, when there are none. */
  async complete(authorizationId: string, callbackUrl: string): Promise<void> {
    const login = this.atHost.get(authorizationId);
    if (!login) throw new Error('No log-in waits under this id: it is over, or was never begun');
    login.arrived(callbackUrl);
    const failure = await login.over;
    if (failure !== undefined) throw new Error(failure);
  }

  close(): void {
    for (const life of this.running.values()) life.abort();
    this.running.clear();
  }

  private async finish({ name }: LoginServer, { url }: RemoteConfig): Promise<undefined> {
    const token = this.parts.tokens().read(url)?.tokens?.access_token;
    if (token !== undefined) await this.parts.finished(name, token);
  }

  private fail({ name }: LoginServer, error: unknown, signal: AbortSignal): string {
    const reason = `the log-in failed: ${reasonOf(error)}`;
    if (!signal.aborted) this.parts.failed(name, reason);
    return reason;
  }
}

function requestOf(
  config: RemoteConfig,
  { challenge }: LoginServer,
  wish: LoginOptions & { readonly book: TokenBook },
): LoginRequest {
  const { isForced: _, ...rest } = wish;
  return {
    ...rest,
    serverUrl: config.url,
    fetch: guardedFetch(config.url),
    clientId: wish.clientId ?? config.oauthClientId,
    isMachine: wish.isMachine ?? config.oauthGrantType === 'client_credentials',
    redirectPort: config.redirectPort,
    scope: challenge?.scope,
    resourceMetadataUrl: challenge?.resourceMetadataUrl,
  };
}

function secretsOf({ clientSecret }: LoginOptions): readonly string[] {
  return clientSecret === undefined ? [] : [clientSecret];
}
