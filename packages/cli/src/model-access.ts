import {
  configuredProvider,
  copilotProvider,
  type Exchange,
  knownModel,
  ModelError,
  type ModelInfo,
  type ModelProvider,
  offlineModel,
  withKnown,
  withRetry,
} from '@groundcrew/models';
import type { ModelAccess, SessionSettings } from '@groundcrew/runtime';
import type { Environment } from './home.js';

/** Used with a service of the user's own when nobody names a model. */
const ownServiceModel = 'claude-sonnet-4';

export interface ModelSources {
  /** Shared, so that connections are. */
  readonly exchange: Exchange;
  readonly environment: Environment;
  readonly version: string;
  /** The GitHub token of the process, if it has one. */
  readonly token?: string;
}

/** Finds the model service of a session: its own provider, else the Copilot API where the environment names it. */
export class ModelDirectory {
  private readonly copilot = new Map<string, CopilotAccess>();
  private readonly offline = offlineAccess();

  constructor(private readonly sources: ModelSources) {}

  async open(settings: SessionSettings): Promise<ModelAccess> {
    if (settings.provider) return this.ownService(settings.provider);
    const copilot = this.copilotFor(settings.gitHubToken);
    if (!copilot) return this.offline;
    return copilot.open(settings.model);
  }

  /** The models clients may choose from; the first of the Copilot API leaves the choice to the service. */
  async list(gitHubToken?: string): Promise<readonly ModelInfo[]> {
    const copilot = this.copilotFor(gitHubToken);
    if (!copilot) return [offlineInfo];
    const models = await copilot.models();
    const [first] = models;
    return first ? [{ ...first, id: 'auto', name: 'Auto', raw: {} }, ...models] : [];
  }

  /** What a service of the user's own offers. */
  modelsOf(provider: NonNullable<SessionSettings['provider']>): Promise<readonly ModelInfo[]> {
    return configuredProvider(provider, this.sources).models();
  }

  /** The model that is always there. */
  get embedded(): ModelInfo {
    return offlineInfo;
  }

  private ownService(provider: NonNullable<SessionSettings['provider']>): ModelAccess {
    const { environment, version, exchange } = this.sources;
    const limits = {
      ...(provider.maxPromptTokens !== undefined && { maxPromptTokens: provider.maxPromptTokens }),
      ...(provider.maxOutputTokens !== undefined && { maxOutputTokens: provider.maxOutputTokens }),
    };
    return {
      provider: withRetry(configuredProvider(provider, { environment, version, exchange })),
      defaultModel: provider.modelId ?? ownServiceModel,
      info: (model) => {
        const known = knownModel(model)
          ? withKnown({ id: model, name: model })
          : { id: model, name: model, vision: true };
        return { ...known, ...limits };
      },
      isCopilot: false,
    };
  }

  private copilotFor(sessionToken: string | undefined): CopilotAccess | undefined {
    const { environment, version, exchange, token } = this.sources;
    const baseUrl = environment.COPILOT_API_URL;
    const shown = sessionToken ?? token;
    if (!baseUrl || !shown) return undefined;
    const known = this.copilot.get(shown);
    if (known) return known;
    const access = new CopilotAccess(
      withRetry(copilotProvider({ baseUrl, token: shown, version, environment, exchange })),
    );
    this.copilot.set(shown, access);
    return access;
  }
}

/** The Copilot API for one token; its list of models is asked for once, however many sessions want it. */
class CopilotAccess {
  private listing: Promise<readonly ModelInfo[]> | undefined;

  constructor(private readonly provider: ModelProvider) {}

  models(): Promise<readonly ModelInfo[]> {
    this.listing ??= this.provider.models().catch((error: unknown) => {
      this.listing = undefined;
      throw error;
    });
    return this.listing;
  }

  async open(model: string | undefined): Promise<ModelAccess> {
    const models = await this.models().catch((): readonly ModelInfo[] => []);
    if (
      model !== undefined &&
      model !== 'auto' &&
      models.length > 0 &&
      !models.some((each) => each.id === model)
    ) {
      throw new ModelError('configuration', `Model "${model}" is not available.`);
    }
    const byId = new Map(models.map((each) => [each.id, each]));
    return {
      provider: this.provider,
      defaultModel: models[0]?.id ?? ownServiceModel,
      info: (id) => byId.get(id),
      isCopilot: true,
    };
  }
}

/** What answers when nothing is configured: no key, no network, no weights. */
function offlineAccess(): ModelAccess {
  const provider = offlineModel();
  return {
    provider,
    defaultModel: offlineInfo.id,
    info: () => offlineInfo,
    isCopilot: false,
    standsInFor: (model) => model !== offlineInfo.id && model !== 'auto',
  };
}

const offlineInfo: ModelInfo = {
  id: 'offline',
  name: 'Offline model (embedded)',
  vision: false,
  contextWindow: 32_768,
};
