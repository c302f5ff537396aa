import type { Methods } from '@groundcrew/protocol';
import {
  defaultProviderName,
  missingSecret,
  selectionId,
  withProviderChanges,
  withRegistry,
} from '@groundcrew/runtime';
import { refuse } from '../failure.js';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';
import { warnOfOptions } from '../option-warnings.js';
import { giveTokens, providerFrom, registryFrom } from '../provider-settings.js';

type Names = 'session.provider.add' | 'session.provider.getEndpoint' | 'session.provider.update';

export const sessionProviderHandlers: Handlers<Pick<Methods, Names>> = {
  async 'session.provider.add'(params, context) {
    const session = findSession('session.provider.add', params.sessionId, context);
    const registry = registryFrom(params);
    const names = registry.providers.filter((each) => each.hasBearerTokenProvider).map(({ name }) => name);
    await context.runtime.change(session, (before) => withRegistry(before, registry));
    giveTokens(session, context.client.id, names);
    await warnOfOptions(session, 'session.provider.add', params);
    const added = new Set(registry.models.map(selectionId));
    const models = await context.environment.listModels({ session });
    return { models: models.filter(({ id }) => added.has(id)) };
  },
  async 'session.provider.getEndpoint'({ sessionId, modelId }, context) {
    const session = findSession('session.provider.getEndpoint', sessionId, context);
    const access = await context.runtime.models(session);
    const { model } = await session.tools.plan();
    const endpoint = await access.endpoint?.(modelId ?? model, context.signal);
    if (!endpoint)
      throw refuse('session.provider.getEndpoint', 'The model of the session is embedded: it has no address');
    return endpoint;
  },
  async 'session.provider.update'(params, context) {
    const { sessionId, provider } = params;
    const session = findSession('session.provider.update', sessionId, context);
    const changes = providerFrom(provider);
    const { fixed } = await session.state();
    const { model } = await session.tools.plan();
    await context.runtime.change(session, (before) => {
      const after = withProviderChanges(before, changes);
      const missing = missingSecret(fixed, after, model);
      if (missing !== undefined && changes.providerName === undefined)
        throw refuse('session.provider.update', missing);
      return after;
    });
    if (changes.hasBearerTokenProvider)
      giveTokens(session, context.client.id, [changes.providerName ?? defaultProviderName]);
    await warnOfOptions(session, 'session.provider.update', params);
    return { success: true };
  },
};
