import type { EventData, Methods } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';
import { capabilitiesOf } from '../settings.js';

type Names =
  | 'session.model.getCurrent'
  | 'session.model.list'
  | 'session.model.setReasoningEffort'
  | 'session.model.switchTo';

export const sessionModelHandlers: Handlers<Pick<Methods, Names>> = {
  async 'session.model.getCurrent'({ sessionId }, context) {
    const session = findSession('session.model.getCurrent', sessionId, context);
    const state = await session.state();
    const modelId = state.model ?? session.currentSettings.model;
    return {
      ...(modelId !== undefined && { modelId }),
      ...(state.reasoningEffort !== undefined && { reasoningEffort: state.reasoningEffort }),
    };
  },
  async 'session.model.list'({ sessionId }, context) {
    findSession('session.model.list', sessionId, context);
    return { list: await context.surroundings.listModels({}) };
  },
  async 'session.model.setReasoningEffort'({ sessionId, reasoningEffort }, context) {
    const session = findSession('session.model.setReasoningEffort', sessionId, context);
    const { model } = await session.plan();
    await change(session, { newModel: model, reasoningEffort });
    return { reasoningEffort };
  },
  async 'session.model.switchTo'(params, context) {
    const { sessionId, modelId, reasoningEffort, contextTier } = params;
    const session = findSession('session.model.switchTo', sessionId, context);
    const modelCapabilities = capabilitiesOf(params);
    if (modelCapabilities)
      await context.runtime.reconfigure(session, { ...session.currentSettings, modelCapabilities });
    const tier = (['default', 'long_context'] as const).find((known) => known === contextTier);
    await change(session, {
      newModel: modelId,
      reasoningEffort: reasoningEffort ?? null,
      ...(tier && { contextTier: tier }),
    });
    return { status: 'applied', deferred: false, modelId, deprecationWarnings: [] };
  },
};

async function change(session: Session, data: EventData<'session.model_change'>): Promise<void> {
  const state = await session.state();
  const previousModel = state.model ?? session.currentSettings.model;
  await session.record({
    type: 'session.model_change',
    data: {
      ...data,
      source: 'sdk',
      ...(previousModel !== undefined && { previousModel }),
      ...(state.reasoningEffort !== undefined && { previousReasoningEffort: state.reasoningEffort }),
    },
  });
}
