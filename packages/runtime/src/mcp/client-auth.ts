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

interface Pending {
  readonly serverName: string;
  resolve(answer: AuthAnswer): void;
}

/** Clients that log in at servers: asked by an event, answered by a method; the first answer counts. */
export class ClientAuth {
  private readonly pending = new Map<string, Pending>();

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
      this.pending.set(requestId, { serverName, resolve });
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
    const asked = this.pending.get(requestId);
    this.pending.delete(requestId);
    asked?.resolve(answer);
    return asked !== undefined;
  }

  /** A log-in has brought a token for a server; false when no request of it waits for one. */
  answerServer(serverName: string, accessToken: string): boolean {
    const waiting = [...this.pending].filter(([, asked]) => asked.serverName === serverName);
    for (const [requestId] of waiting) this.answer(requestId, { kind: 'token', accessToken });
    return waiting.length > 0;
  }
}

/** How long users may take to log in. */
const longestWait = 600_000;
