import { ModelError } from '@groundcrew/models';
import type { ModelSeams } from '../settings/session-settings.js';
import { type AskedClient, ClientGone } from './asked-client.js';

/** The clients of a session, as far as they hold tokens. */
interface TokenClients {
  /** Those that can be asked for the token of a model service, in the order to ask them. */
  tokenGivers(providerName: string): readonly AskedClient[];
}

/** How long a client may take to find a token; it may have to ask users. */
const patience = 120_000;

/** What the way to a session's model may ask of its clients. */
export function modelSeams(sessionId: string, clients: TokenClients): ModelSeams {
  const tokens = new ProviderTokens(sessionId, clients);
  return { sessionId, getBearerToken: (providerName, signal) => tokens.get(providerName, signal) };
}

/** Tokens of model services that clients hold: asked for before each call, and never kept. */
class ProviderTokens {
  /** Calls that begin at the same time need one question, not many. */
  private readonly asked = new Map<string, Promise<string>>();

  constructor(
    private readonly sessionId: string,
    private readonly clients: TokenClients,
  ) {}

  /** Throws a ModelError that names the provider. */
  async get(providerName: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    let question = this.asked.get(providerName);
    if (!question) {
      question = this.ask(providerName).finally(() => this.asked.delete(providerName));
      this.asked.set(providerName, question);
    }
    return unlessAborted(question, signal);
  }

  private async ask(providerName: string): Promise<string> {
    const { sessionId } = this;
    for (const client of this.clients.tokenGivers(providerName)) {
      const params = { sessionId, providerName };
      const answer = await client
        .ask('providerToken.getToken', params, AbortSignal.timeout(patience))
        .catch((error: unknown) => {
          if (error instanceof ClientGone) return undefined;
          throw failed(providerName, error);
        });
      if (answer?.token === '') throw failed(providerName, new Error('the token is empty'));
      if (answer) return answer.token;
    }
    throw new ModelError(
      'configuration',
      `No client is attached that gives tokens for the provider "${providerName}": resume the session with its bearer token provider.`,
    );
  }
}

function failed(providerName: string, error: unknown): ModelError {
  const reason = error instanceof Error ? error.message : String(error);
  return new ModelError(
    'configuration',
    `The client gave no token for the provider "${providerName}": ${reason}`,
    { cause: error },
  );
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
  });
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
