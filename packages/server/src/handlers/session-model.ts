import type { EventData, Methods } from '@groundcrew/protocol';
import { modelWarnings, type Session } from '@groundcrew/runtime';
import { Refusal } from '../failure.js';
import type { CallContext, SessionHandlers } from '../handler.js';
import { capabilitiesOf, styleFrom } from '../settings.js';

type Names =
  | 'session.model.getCurrent'
  | 'session.model.list'
  | 'session.model.setAllowedModels'
  | 'session.model.setReasoningEffort'
  | 'session.model.switchTo';

export const sessionModelHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.model.getCurrent'(_params, { session }) {
    const state = await session.state();
    const modelId = state.model ?? session.currentSettings.model;
    return {
      ...(modelId !== undefined && { modelId }),
      ...(state.reasoningEffort !== undefined && { reasoningEffort: state.reasoningEffort }),
    };
  },
  async 'session.model.list'(_params, { session, environment }) {
    const list = await environment.listModels({ session });
    const { allowedModels } = (await session.state()).fixed;
    return { list: allowedModels ? list.filter(({ id }) => allowedModels.includes(id)) : list };
  },
  async 'session.model.setAllowedModels'({ allowedModels }, context) {
    const { session } = context;
    const names = allowedModels ? usableModels(allowedModels, session) : null;
    await session.record({ note: 'settings.fixed', data: { allowedModels: names } });
    const modelId = await currentModel(session, context);
    if (!names) return { modelId };
    const fallbackModel = names.find((name) => session.tools.planner.isServed(name)) ?? '';
    const isLeft = modelId !== 'auto' && !names.includes(modelId);
    if (isLeft) await change(session, { newModel: fallbackModel, cause: 'allowed_models' });
    const applied = { allowedModels: names, effectiveAllowedModels: [...names], fallbackModel };
    return { ...applied, modelId: isLeft ? fallbackModel : modelId };
  },
  async 'session.model.setReasoningEffort'({ reasoningEffort }, context) {
    const { session } = context;
    const { nextModel } = await session.state();
    const model = nextModel?.newModel ?? (await currentModel(session, context));
    await change(session, { newModel: model, reasoningEffort });
    await warn(session, { model, reasoningEffort }, context);
    return { reasoningEffort };
  },
  async 'session.model.switchTo'(params, context) {
    const { modelId, reasoningEffort, contextTier } = params;
    const { session } = context;
    if (modelId === '') throw new Refusal('modelId: a model has a name');
    const reason = session.tools.planner.refusalOf(modelId, await session.state());
    if (reason !== undefined) throw new Refusal(reason);
    const modelCapabilities = capabilitiesOf(params);
    const previous = await currentModel(session, context);
    const style = styleFrom(params, session.currentSettings);
    await context.runtime.change(session, (before) => ({
      // By the name that a provider gives its model, only the model is called that the session has now.
      model: previous,
      ...before,
      ...(modelCapabilities && { modelCapabilities }),
      ...(style && { style }),
    }));
    const tier = (['default', 'long_context'] as const).find((known) => known === contextTier);
    const effort = { reasoningEffort: reasoningEffort || null, ...(tier && { contextTier: tier }) };
    const deferred = await change(session, { newModel: modelId, ...effort });
    await warn(session, { model: modelId, reasoningEffort }, context);
    await session.tools.warn(context.optionWarnings());
    if (!deferred) return { status: 'applied', deferred, modelId, deprecationWarnings: [] };
    const message = `Model changed from ${previous} to ${modelId}, from the next message on`;
    return { status: 'applied', deferred, modelId: previous, message, deprecationWarnings: [] };
  },
};

const mostAllowed = 1000;

/** The names without blanks and repetitions; a list that leaves the session no model is refused. */
function usableModels(given: readonly string[], session: Session): string[] {
  const names = [...new Set(given.map((name) => name.trim()))];
  if (names.length === 0 || names.includes(''))
    throw new Refusal("'allowedModels' names models by their ids, one at least; null allows every model.");
  if (names.length > mostAllowed)
    throw new Refusal(`'allowedModels' has ${names.length} names, at most ${mostAllowed} are taken`);
  if (!names.some((name) => session.tools.planner.isServed(name)))
    throw new Refusal(`The services of the session have none of these models: ${names.join(', ')}`);
  return names;
}

async function currentModel(session: Session, { runtime }: CallContext): Promise<string> {
  const chosen = (await session.state()).model ?? session.currentSettings.model;
  return chosen ?? (await runtime.models(session)).defaultModel;
}

interface Choice {
  readonly model: string;
  readonly reasoningEffort: string | undefined;
}

/** A model that no service has, or that takes no reasoning effort, is asked for all the same, with a warning. */
async function warn(
  session: Session,
  { model, reasoningEffort }: Choice,
  { runtime }: CallContext,
): Promise<void> {
  const access = await runtime.models(session);
  for (const message of modelWarnings(access, { model, reasoningEffort }))
    await session.record({ type: 'session.warning', data: { warningType: 'configuration', message } });
}

/** True when a turn runs: then the change is announced, and counts, when that is over. */
async function change(session: Session, data: EventData<'session.model_change'>): Promise<boolean> {
  const state = await session.state();
  const previousModel = state.model ?? session.currentSettings.model;
  const change: EventData<'session.model_change'> = {
    ...data,
    source: 'sdk',
    ...(previousModel !== undefined && { previousModel }),
    ...(state.reasoningEffort !== undefined && { previousReasoningEffort: state.reasoningEffort }),
  };
  const isDeferred = session.isRunning;
  await session.record(
    isDeferred ? { note: 'model.chosen', data: change } : { type: 'session.model_change', data: change },
  );
  return isDeferred;
}
