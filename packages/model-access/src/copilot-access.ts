import {
  type CopilotConfig,
  copilotApiOf,
  copilotEndpoint,
  copilotProvider,
  forOneKey,
  ModelError,
  type ModelInfo,
  type ModelProvider,
  type RetryOptions,
  withCachedModels,
  withRetry,
} from '@groundcrew/models';
import { offlineInfo } from '@groundcrew/offline-model';
import type { ModelAccess, SessionSettings } from '@groundcrew/runtime';
import { ownServiceModel } from './own-service.js';

/** The Copilot API for one token. */
export class CopilotAccess {
  private readonly provider: ModelProvider;
  private overSockets: ModelProvider | undefined;
  private listed: ReadonlyMap<string, ModelInfo> = new Map();

  constructor(
    private readonly config: Omit<CopilotConfig, 'apiOf'>,
    private readonly retry: RetryOptions,
  ) {
    this.provider = withCachedModels(this.provided({ webSockets: false }));
  }

  async models(): Promise<readonly ModelInfo[]> {
    const models = await this.provider.models();
    this.listed = new Map(models.map((each) => [each.id, each]));
    return models;
  }

  async open(
    { webSocketResponses }: Pick<SessionSettings, 'webSocketResponses'>,
    sessionId: string,
  ): Promise<ModelAccess> {
    const models = await this.models().catch((): readonly ModelInfo[] => []);
    const { COPILOT_CLI_DISABLE_WEBSOCKET_RESPONSES: isDisabled } = this.config.environment;
    const webSockets = webSocketResponses ?? !isDisabled;
    return this.access({ defaultModel: models[0]?.id ?? ownServiceModel, webSockets, sessionId });
  }

  private access(chosen: Chosen): ModelAccess {
    const { config, retry } = this;
    const { defaultModel, webSockets, sessionId } = chosen;
    if (webSockets) this.overSockets ??= this.provided({ webSockets });
    return {
      provider: webSockets && this.overSockets ? this.overSockets : this.provider,
      defaultModel,
      info: (id) => this.listed.get(id),
      otherModel: (id) => otherOf(this.listed, id),
      isCopilot: true,
      copilot: { baseUrl: config.baseUrl, token: config.token },
      // Without a list every model passes: the service itself refuses those it does not have.
      lists: (id) => this.listed.size === 0 || id === 'auto' || this.listed.has(id),
      serves: (id) => id !== offlineInfo.id,
      endpoint: async () => copilotEndpoint({ ...config, origin: outside(sessionId) }),
      withChanges: ({ apiKey, bearerToken, headers, hasBearerTokenProvider }) => {
        if (hasBearerTokenProvider)
          throw new ModelError('configuration', 'The Copilot API takes a token, not one who gives them');
        const token = bearerToken ?? apiKey ?? config.token;
        const other = new CopilotAccess({ ...config, token, ...(headers && { headers }) }, retry);
        other.listed = this.listed;
        return other.access(chosen);
      },
    };
  }

  private provided(options: { readonly webSockets: boolean }): ModelProvider {
    const apiOf = (model: string) => copilotApiOf(this.listed.get(model), options);
    const provider = withRetry(copilotProvider({ ...this.config, apiOf }), forOneKey(this.retry));
    return options.webSockets ? { ...provider, models: (signal) => this.provider.models(signal) } : provider;
  }
}

interface Chosen {
  readonly defaultModel: string;
  readonly webSockets: boolean;
  readonly sessionId: string;
}

/** The first of the service's models that is another one; its own choice where it says so, or lists no other. */
function otherOf(listed: ReadonlyMap<string, unknown>, model: string): string {
  const other = listed.has('auto') ? undefined : [...listed.keys()].find((id) => id !== model);
  return other ?? 'auto';
}

/** A call that a client makes on behalf of a session. */
function outside(sessionId: string) {
  return {
    sessionId,
    interactionId: crypto.randomUUID(),
    initiator: 'user' as const,
    interactionType: 'conversation-user',
  };
}
