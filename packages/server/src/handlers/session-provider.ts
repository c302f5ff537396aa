import type { Methods } from '@groundcrew/protocol';
import { providerSettings } from '@groundcrew/runtime';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';
import { giveTokens, providerFrom, registryFrom } from '../provider-settings.js';

type Names = 'session.provider.add' | 'session.provider.getEndpoint' | 'session.provider.update';

export const sessionProviderHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.provider.add'(params, context) {
    const { session } = context;
    const registry = registryFrom(params);
    const names = registry.providers.filter((each) => each.hasBearerTokenProvider).map(({ name }) => name);
    await context.runtime.change(session, (before) => providerSettings.withRegistry(before, registry));
    giveTokens(session, context.client.id, names);
    await session.tools.warn(context.optionWarnings());
    const added = new Set(registry.models.map(providerSettings.selectionId));
    const models = await context.environment.listModels({ session });
    return { models: models.filter(({ id }) => added.has(id)) };
  },
  async 'session.provider.getEndpoint'({ modelId }, context) {
    const { session } = context;
    const access = await context.runtime.models(session);
    const { model } = await session.tools.plan();
    const endpoint = await access.endpoint?.(modelId ?? model, context.signal);
    if (!endpoint) throw new Refusal('The model of the session is embedded: it has no address');
    return endpoint;
  },
  async 'session.provider.update'(params, context) {
    const { session } = context;
    const changes = providerFrom(params.provider);
    const { fixed } = await session.state();
    const { model } = await session.tools.plan();
    await context.runtime.change(session, (before) => {
      const after = providerSettings.withChanges(before, changes);
      const missing = providerSettings.missingSecret(fixed, after, model);
      if (missing !== undefined && changes.providerName === undefined) throw new Refusal(missing);
      return after;
    });
    if (changes.hasBearerTokenProvider)
      giveTokens(session, context.client.id, [changes.providerName ?? providerSettings.defaultName]);
    await session.tools.warn(context.optionWarnings());
    return { success: true };
  },
};
