import type { EventData, Methods } from '@groundcrew/protocol';
import { type Session, troubleWithEffort, withoutWireModel } from '@groundcrew/runtime';
import { findSession } from '../find.js';
import type { CallContext, Handlers } from '../handler.js';
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
    const session = findSession('session.model.list', sessionId, context);
    return { list: await context.surroundings.listModels({ session }) };
  },
  async 'session.model.setReasoningEffort'({ sessionId, reasoningEffort }, context) {
    const session = findSession('session.model.setReasoningEffort', sessionId, context);
    const { model } = await session.plan();
    await change(session, { newModel: model, reasoningEffort });
    await warn(session, context);
    return { reasoningEffort };
  },
  async 'session.model.switchTo'(params, context) {
    const { sessionId, modelId, reasoningEffort, contextTier } = params;
    const session = findSession('session.model.switchTo', sessionId, context);
    const modelCapabilities = capabilitiesOf(params);
    const isOther = modelId !== (await currentModel(session));
    if (modelCapabilities || isOther)
      await context.runtime.change(session, (before) => ({
        ...(isOther ? withoutWireModel(before) : before),
        ...(modelCapabilities && { modelCapabilities }),
      }));
    const tier = (['default', 'long_context'] as const).find((known) => known === contextTier);
    await change(session, {
      newModel: modelId,
      reasoningEffort: reasoningEffort ?? null,
      ...(tier && { contextTier: tier }),
    });
    await warn(session, context);
    return { status: 'applied', deferred: false, modelId, deprecationWarnings: [] };
  },
};

async function currentModel(session: Session): Promise<string | undefined> {
  const { model, provider } = session.currentSettings;
  return (await session.state()).model ?? model ?? provider?.modelId;
}

/** A model that cannot be told how hard to think is asked all the same, and people hear of it. */
async function warn(session: Session, { runtime }: CallContext): Promise<void> {
  const { model, reasoningEffort } = await session.state();
  if (model === undefined || reasoningEffort === undefined) return;
  const message = troubleWithEffort((await runtime.models(session)).info(model), reasoningEffort);
  if (message !== undefined)
    await session.record({ type: 'session.warning', data: { warningType: 'configuration', message } });
}

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
