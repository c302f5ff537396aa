import { ModelError, type ModelInfo, type ModelProvider } from '@groundcrew/models';
import {
  type ModelAccess,
  type ModelSeams,
  type NamedProvider,
  providerSettings,
  type RegistryModel,
  type SessionSettings,
} from '@groundcrew/runtime';
import { modelInfo, type OwnServiceSources, ownService } from './own-service.js';

/** The named services of a session beside the one it has anyway: each call goes to the service of its model. */
export function withRegistryModels(
  base: ModelAccess,
  { model: chosen, provider: single, providers = [], models = [] }: SessionSettings,
  sources: { readonly own: Omit<OwnServiceSources, 'getBearerToken'>; readonly seams: ModelSeams },
): ModelAccess {
  const named = new Map(providers.map((provider) => [provider.name, provider]));
  const served = new Map<string, ModelAccess>();
  for (const model of models) {
    const provider = named.get(model.provider);
    if (provider) served.set(providerSettings.selectionId(model), servedBy(provider, model, sources));
  }
  const maker = providers.find(({ name }) => chosen?.startsWith(`${name}/`));
  if (maker && chosen !== undefined && !served.has(chosen) && !single?.baseUrl)
    throw new ModelError(
      'configuration',
      `Model "${chosen}" is not available: the provider "${maker.name}" has ${listOf(models, maker)}.`,
    );
  const accessTo = (model: string) => served.get(model) ?? base;
  const provider: ModelProvider = {
    ...base.provider,
    stream: (request, signal) => accessTo(request.model).provider.stream(request, signal),
  };
  const [first] = served.keys();
  return {
    ...base,
    provider,
    // A model that is named wins over the default one.
    defaultModel: base.standsInFor && first !== undefined ? first : base.defaultModel,
    info: (model) => accessTo(model).info(model),
    endpoint: async (model, signal) => {
      const { endpoint } = accessTo(model);
      if (!endpoint) throw new Error(`The model ${model} is embedded: it has no address`);
      return endpoint(model, signal);
    },
    titles: (model) => (served.has(model) ? undefined : base.titles?.(model)),
    standsInFor: (model) => accessTo(model).standsInFor?.(model) ?? false,
  };
}

function listOf(models: readonly RegistryModel[], { name }: NamedProvider): string {
  const ids = models.filter(({ provider }) => provider === name).map(providerSettings.selectionId);
  return ids.length === 0 ? 'no models' : ids.join(', ');
}

/** The named models as clients may choose them. */
export function registryModels({ models = [] }: Pick<SessionSettings, 'models'>): readonly ModelInfo[] {
  return models.map(describedModel);
}

function servedBy(
  provider: NamedProvider,
  model: RegistryModel,
  { own, seams }: Parameters<typeof withRegistryModels>[2],
): ModelAccess {
  const config = { ...provider, wireModel: model.wireModel ?? model.id, ...limitsOf(model) };
  const getBearerToken = (signal: AbortSignal) => seams.getBearerToken(provider.name, signal);
  const access = ownService(config, { ...own, getBearerToken });
  return { ...access, info: () => describedModel(model) };
}

function describedModel(model: RegistryModel): ModelInfo {
  const { id, modelId = id, name, capabilities } = model;
  const info = modelInfo(providerSettings.selectionId(model), {
    ...limitsOf(model),
    modelId,
    modelCapabilities: capabilities,
  });
  return { ...info, name: name ?? info.name };
}

function limitsOf({ maxPromptTokens, maxContextWindowTokens, maxOutputTokens }: RegistryModel) {
  return { maxPromptTokens, maxContextWindowTokens, maxOutputTokens };
}
