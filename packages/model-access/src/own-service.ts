import type { Environment } from '@groundcrew/models';
import {
  configuredProvider,
  type Exchange,
  endpointOf,
  forOneKey,
  type GetBearerToken,
  knownModel,
  type ModelInfo,
  type ModelProvider,
  type ProviderConfig,
  type RetryOptions,
  withKnown,
  withRetry,
} from '@groundcrew/models';
import { offlineInfo } from '@groundcrew/offline-model';
import { type ModelAccess, type ProviderSettings, providerSettings } from '@groundcrew/runtime';

/** Used with a service of the user's own when no model is named. */
export const ownServiceModel = 'claude-sonnet-4';

/** What services of the user's own are called with. */
export interface OwnServiceSources {
  readonly exchange: Exchange;
  readonly environment: Environment;
  /** The variables that headers may name, where they are not the operator's; those of the environment without it. */
  readonly headerVariables?: Environment;
  /** The variables that a client's headers may name. */
  readonly clientVariables: Environment;
  readonly version: string;
  readonly retry: RetryOptions;
  /** Asks the client for a token, for services that say that it gives them. */
  readonly getBearerToken?: GetBearerToken;
  /** The model that `wireModel` and `modelId` are names of; any model without it. */
  readonly named?: string | undefined;
}

/** A service of the user's own as sessions use it. Throws ModelError for one that cannot be called. */
export function ownService(
  config: ProviderSettings & ProviderConfig,
  sources: OwnServiceSources,
): ModelAccess {
  const { environment, headerVariables, version, exchange, getBearerToken, named } = sources;
  const variables = headerVariables ? { headerVariables } : {};
  const { wireModel, modelId, ...unnamed } = config;
  const statedOf = (model: string): ProviderConfig & ProviderSettings =>
    named === undefined || model === named ? config : unnamed;
  const infos = new Map<string, ModelInfo>();
  const asked = config.hasBearerTokenProvider && getBearerToken ? { getBearerToken } : {};
  return {
    provider: withRetry(
      withNames(
        configuredProvider(unnamed, { environment, ...variables, version, exchange, ...asked }),
        statedOf,
      ),
      'getBearerToken' in asked ? sources.retry : forOneKey(sources.retry),
    ),
    defaultModel: modelId ?? ownServiceModel,
    info: (model) => {
      const known = infos.get(model);
      if (known) return known;
      const stated = statedOf(model);
      const info = { ...modelInfo(model, stated), ...documentsOf(stated, stated.modelId ?? model) };
      infos.set(model, info);
      return info;
    },
    isCopilot: false,
    serves: (model) => model !== offlineInfo.id,
    endpoint: (_model, signal) => endpointOf(config, { environment, ...variables, ...asked }, signal),
    withChanges: (changes, seams) => {
      const token = (signal: AbortSignal) => seams.getBearerToken(providerSettings.defaultName, signal);
      const changed = { ...config, ...changes, baseUrl: config.baseUrl };
      const isHeadersOfClient = changes.headers !== undefined;
      const { clientVariables } = sources;
      return ownService(changed, {
        ...sources,
        getBearerToken: token,
        ...(isHeadersOfClient && { headerVariables: clientVariables }),
      });
    },
  };
}

type Names = Pick<ProviderConfig, 'wireModel' | 'modelId'>;

/** The service, called by the names it has for its models. */
function withNames(provider: ModelProvider, namesOf: (model: string) => Names): ModelProvider {
  return {
    ...provider,
    stream(request, signal) {
      const { wireModel, modelId } = namesOf(request.model);
      return provider.stream({ ...request, model: wireModel ?? modelId ?? request.model }, signal);
    },
  };
}

/** Both vendors read PDFs with the models that see; what else speaks their wires may not. */
function documentsOf({ type, wireApi }: ProviderConfig, model: string): Pick<ModelInfo, 'documents'> {
  const known = knownModel(model);
  const isClaude = type === 'anthropic' && /claude/i.test(model);
  const isOpenai = wireApi === 'responses' && /^(?:gpt|o\d)/i.test(model);
  return known?.vision && (isClaude || isOpenai) ? { documents: ['application/pdf'] } : {};
}

/** Describes a model: fields that the client gave go before those of the catalog. */
export function modelInfo(
  model: string,
  stated: Pick<
    ProviderSettings,
    'modelId' | 'maxPromptTokens' | 'maxContextWindowTokens' | 'maxOutputTokens' | 'modelCapabilities'
  >,
): ModelInfo {
  const family = stated.modelId ?? model;
  const known = knownModel(family)
    ? withKnown({ id: family, name: model })
    : { id: family, name: model, vision: true };
  return {
    ...providerSettings.withCapabilities(known, stated.modelCapabilities),
    id: model,
    ...(stated.maxPromptTokens !== undefined && { maxPromptTokens: stated.maxPromptTokens }),
    ...(stated.maxContextWindowTokens !== undefined && { contextWindow: stated.maxContextWindowTokens }),
    ...(stated.maxOutputTokens !== undefined && { maxOutputTokens: stated.maxOutputTokens }),
  };
}
