import type { EventData } from '@groundcrew/protocol';
import type { Clock } from '../clock.js';
import type { EphemeralDraft } from '../log/session-log.js';
import type { RemoteConfig } from './config.js';

type Required = EventData<'mcp.oauth_required'>;

/** Why a server sent a request back. */
export type Challenge = Pick<
  Required,
  'reason' | 'wwwAuthenticateParams' | 'resourceMetadata' | 'httpResponse'
>;

/** What a client answered. */
export type AuthAnswer =
  | { readonly kind: 'token'; readonly accessToken: string }
  | { readonly kind: 'cancelled' };

/** Clients that log in at servers: asked by an event, answered by a method; the first answer counts. */
export class ClientAuth {
  private readonly pending = new Map<string, (answer: AuthAnswer) => void>();

  constructor(
    private readonly host: {
      readonly clock: Clock;
      emit(draft: EphemeralDraft): void;
      isWanted(eventType: string): boolean;
    },
  ) {}

  /** The token that some client brings; undefined when none is interested, or it declines. */
  async ask(serverName: string, config: RemoteConfig, challenge: Challenge, signal: AbortSignal) {
    const { clock, emit, isWanted } = this.host;
    if (!isWanted('mcp.oauth_required')) return undefined;
    const requestId = clock.newId();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(longestWait)]);
    const answered = new Promise<AuthAnswer>((resolve) => {
      this.pending.set(requestId, resolve);
      limit.addEventListener('abort', () => resolve({ kind: 'cancelled' }), { once: true });
    });
    const { oauthClientId: clientId, oauthPublicClient: publicClient, oauthGrantType } = config;
    const staticClientConfig = clientId !== undefined && {
      staticClientConfig: {
        clientId,
        ...(publicClient !== undefined && { publicClient }),
        ...(oauthGrantType === 'client_credentials' && { grantType: oauthGrantType }),
      },
    };
    emit({
      type: 'mcp.oauth_required',
      data: { requestId, serverName, serverUrl: config.url, ...challenge, ...staticClientConfig },
    });
    const answer = await answered;
    this.pending.delete(requestId);
    emit({ type: 'mcp.oauth_completed', data: { requestId, outcome: answer.kind } });
    return answer.kind === 'token' ? answer.accessToken : undefined;
  }

  /** False when nothing waits for this answer any more. */
  answer(requestId: string, answer: AuthAnswer): boolean {
    const resolve = this.pending.get(requestId);
    this.pending.delete(requestId);
    resolve?.(answer);
    return resolve !== undefined;
  }
}

/** How long users may take to log in. */
const longestWait = 600_000;
