import {
  type CopilotConfig,
  copilotApiOf,
  copilotEndpoint,
  copilotProvider,
  ModelError,
  type ModelInfo,
  type ModelProvider,
  type RetryOptions,
  withCachedModels,
  withRetry,
} from '@groundcrew/models';
import type { ModelAccess } from '@groundcrew/runtime';
import { ownServiceModel } from './own-service.js';

/** The Copilot API for one token. */
export class CopilotAccess {
  private readonly provider: ModelProvider;
  private listed: ReadonlyMap<string, ModelInfo> = new Map();

  constructor(
    private readonly config: Omit<CopilotConfig, 'apiOf'>,
    private readonly retry: RetryOptions,
  ) {
    const apiOf = (model: string) => copilotApiOf(this.listed.get(model));
    this.provider = withCachedModels(withRetry(copilotProvider({ ...config, apiOf }), retry));
  }

  async models(): Promise<readonly ModelInfo[]> {
    const models = await this.provider.models();
    this.listed = new Map(models.map((each) => [each.id, each]));
    return models;
  }

  /** Throws ModelError for a model that the service does not list. */
  async open(model: string | undefined, sessionId: string): Promise<ModelAccess> {
    const models = await this.models().catch((): readonly ModelInfo[] => []);
    const isNamed = model !== undefined && model !== 'auto';
    if (isNamed && models.length > 0 && !models.some((each) => each.id === model))
      throw new ModelError('configuration', `Model "${model}" is not available.`);
    return this.access(models[0]?.id ?? ownServiceModel, sessionId);
  }

  private access(defaultModel: string, sessionId: string): ModelAccess {
    const { config, retry } = this;
    return {
      provider: this.provider,
      defaultModel,
      info: (id) => this.listed.get(id),
      isCopilot: true,
      endpoint: async () => copilotEndpoint({ ...config, origin: outside(sessionId) }),
      withChanges: ({ apiKey, bearerToken, headers, hasBearerTokenProvider }) => {
        if (hasBearerTokenProvider)
          throw new ModelError('configuration', 'The Copilot API takes a token, not one who gives them');
        const token = bearerToken ?? apiKey ?? config.token;
        const other = new CopilotAccess({ ...config, token, ...(headers && { headers }) }, retry);
        other.listed = this.listed;
        return other.access(defaultModel, sessionId);
      },
    };
  }
}

/** A call that somebody else makes on behalf of a session. */
function outside(sessionId: string) {
  return {
    sessionId,
    interactionId: crypto.randomUUID(),
    initiator: 'user' as const,
    interactionType: 'conversation-user',
  };
}
