import type { EventData } from '@groundcrew/protocol';
import type { Clock } from '../clock.js';
import type { EphemeralDraft } from '../log/session-log.js';
import type { RemoteConfig } from './config.js';

type Reason = EventData<'mcp.headers_refresh_required'>['reason'];
type Headers = Readonly<Record<string, string>>;

/** What a client answered. */
export type HeadersAnswer =
  | { readonly kind: 'headers'; readonly headers: Headers }
  | { readonly kind: 'none' };

const longestWait = 30_000;

/** Clients that give the headers of servers and renew them: asked by an event, answered by a method. They are kept in memory only. */
export class ClientHeaders {
  private readonly pending = new Map<string, (answer: HeadersAnswer) => void>();

  constructor(
    private readonly host: {
      readonly clock: Clock;
      emit(draft: EphemeralDraft): void;
      isWanted(eventType: string): boolean;
    },
  ) {}

  /** The headers of one connection, as they are at each request. */
  of(serverName: string, config: RemoteConfig, signal: AbortSignal): ServerHeaders {
    const { headersRefreshMilliseconds: ttl } = config;
    let known: Headers = {};
    let asked: number | undefined;
    const renew = async (reason: Reason) => {
      asked = Date.now();
      const headers = await this.ask(serverName, config, reason, signal);
      if (headers) known = headers;
      return headers !== undefined;
    };
    const isWanted = () => ttl !== undefined && this.host.isWanted('mcp.headers_refresh_required');
    return {
      current: async () => {
        if (isWanted() && asked === undefined) await renew('startup');
        else if (isWanted() && ttl !== undefined && Date.now() - (asked ?? 0) > ttl)
          await renew('ttl-expired');
        return known;
      },
      refused: async () => isWanted() && (await renew('auth-failed')),
    };
  }

  /** False when nothing waits for this answer any more. */
  answer(requestId: string, answer: HeadersAnswer): boolean {
    const resolve = this.pending.get(requestId);
    this.pending.delete(requestId);
    resolve?.(answer);
    return resolve !== undefined;
  }

  private async ask(serverName: string, { url }: RemoteConfig, reason: Reason, signal: AbortSignal) {
    const { clock, emit } = this.host;
    const requestId = clock.newId();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(longestWait)]);
    const answered = new Promise<HeadersAnswer | undefined>((resolve) => {
      this.pending.set(requestId, resolve);
      limit.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    emit({ type: 'mcp.headers_refresh_required', data: { requestId, serverName, serverUrl: url, reason } });
    const answer = await answered;
    this.pending.delete(requestId);
    emit({ type: 'mcp.headers_refresh_completed', data: { requestId, outcome: answer?.kind ?? 'timeout' } });
    return answer?.kind === 'headers' ? answer.headers : undefined;
  }
}

/** What clients give a connection to send along. */
export interface ServerHeaders {
  current(): Promise<Headers>;
  /** The server refused a request; true when there are other headers now. */
  refused(): Promise<boolean>;
}
