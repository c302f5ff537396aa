import type { ModelInfo } from '@groundcrew/models';
import type { ModelAccess } from '../settings/session-settings.js';

/** What users should know of a model before it is called, and of the effort it is to be called with. */
export function modelWarnings(
  access: ModelAccess,
  { model, reasoningEffort }: { readonly model: string; readonly reasoningEffort: string | undefined },
): readonly string[] {
  const warnings = [modelWarning(access, model), warningAboutEffort(access.info(model), reasoningEffort)];
  return warnings.filter((each) => each !== undefined);
}

/** Warns that another model answers in the place of one that no service has, or that the service does not list it. */
export function modelWarning(access: ModelAccess, model: string): string | undefined {
  if (access.lists?.(model) === false)
    return `The service does not list the model ${model}: prompts fail if it does not know it. Choose one of models.list.`;
  if (!access.standsInFor?.(model)) return undefined;
  return `No service is configured for the model ${model}: ${access.defaultModel} answers in its place.`;
}

/** Why a model cannot be had that a client names for an agent; where the list was not read yet, it is read now. */
export async function modelProblem(access: ModelAccess, model: string): Promise<string | undefined> {
  const unserved = `No provider of this session serves the model '${model}'.`;
  if (access.serves?.(model) === false || access.lists?.(model) === false) return unserved;
  if (!access.isCopilot || model === 'auto' || access.info(model)) return undefined;
  try {
    const models = await access.provider.models();
    return models.some(({ id }) => id === model) ? undefined : unserved;
  } catch (error) {
    return `The model '${model}' cannot be looked up: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Why a model is called without the reasoning effort that was set; one of which nothing is known is sent it. */
export function warningAboutEffort(
  info: Pick<ModelInfo, 'id' | 'reasoningEfforts'> | undefined,
  effort: string | null | undefined,
): string | undefined {
  const efforts = info?.reasoningEfforts;
  if (!effort || !efforts || efforts.includes(effort)) return undefined;
  const known = efforts.length === 0 ? 'no reasoning effort' : `the efforts ${efforts.join(', ')}`;
  return `The model ${info.id} knows ${known}: it is asked without the effort "${effort}".`;
}
