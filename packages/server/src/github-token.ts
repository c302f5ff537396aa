import type { Runtime, Session } from '@groundcrew/runtime';
import type { Client } from './client.js';
import { Refusal } from './failure.js';

/** A token with no more time than this left is renewed before the next prompt; a new one has more. */
const hourMs = 60 * 60 * 1000;

/** How long a client may take to find a token; it may have to ask users. */
const patience = 120_000;

/** While a turn runs, a token is renewed so long before its end. */
const lastCallMs = 10 * 60 * 1000;

/** The GitHub token that a client gives for one session, and how long it is good for. It is never stored. */
export class GitHubGrant {
  private expiresAt = 0;
  private timer: NodeJS.Timeout | undefined;
  private bound: { readonly session: Session; readonly runtime: Runtime } | undefined;

  constructor(
    private readonly client: Pick<Client, 'ask'>,
    private readonly params: {
      readonly registrationId: string;
      readonly host: string;
      readonly sessionId: string;
    },
  ) {}

  /** Asks for the first token. Throws Refusal. */
  initial(): Promise<string> {
    return this.acquire('initial');
  }

  /** The session that is given new tokens from now on. */
  bind(session: Session, runtime: Runtime): void {
    this.bound = { session, runtime };
    this.watch();
  }

  /** Before a prompt: a new token where the last one is about to end. Throws Refusal when that is over. */
  async renew(): Promise<void> {
    if (!this.bound || this.expiresAt - Date.now() > hourMs) return;
    const { session, runtime } = this.bound;
    try {
      const gitHubToken = await this.acquire('refresh');
      await runtime.change(session, (before) => ({ ...before, gitHubToken }));
      this.watch();
    } catch (error) {
      if (Date.now() >= this.expiresAt) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      const message = `The GitHub token of the session was not renewed, and ends soon: ${reason}`;
      await session.record({ type: 'session.warning', data: { warningType: 'authentication', message } });
    }
  }

  /** A turn that outlives the token gets the next one in time. */
  private watch(): void {
    this.close();
    const wait = Math.min(this.expiresAt - Date.now() - lastCallMs, longestTimer);
    this.timer = setTimeout(() => {
      // One that cannot be renewed ends the turn with what the service says.
      if (this.bound?.session.isRunning) void this.renew().catch(() => undefined);
    }, wait);
    this.timer.unref();
  }

  close(): void {
    clearTimeout(this.timer);
  }

  private async acquire(reason: 'initial' | 'refresh'): Promise<string> {
    const answer = await this.client
      .ask('gitHubToken.getToken', { ...this.params, reason }, AbortSignal.timeout(patience))
      .catch((error: unknown) => {
        throw new Refusal(
          `The client gave no GitHub token: ${error instanceof Error ? error.message : error}`,
        );
      });
    if (answer.kind !== 'token' || !answer.accessToken)
      throw new Refusal('The client gave no GitHub token: it was cancelled');
    const { accessToken, tokenType = 'bearer', expiresIn = 0 } = answer;
    if (tokenType.toLowerCase() !== 'bearer')
      throw new Refusal(`The client gave a GitHub token of the type '${tokenType}': only 'bearer' is known`);
    if (!(expiresIn * 1000 > hourMs))
      throw new Refusal(`The client gave a GitHub token for ${expiresIn} seconds: it lasts more than 3600`);
    this.expiresAt = Date.now() + expiresIn * 1000;
    return accessToken;
  }
}

/** What timers can wait at most. */
const longestTimer = 2 ** 31 - 1;
