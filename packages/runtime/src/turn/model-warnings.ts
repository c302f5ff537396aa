import type { ModelInfo } from '@groundcrew/models';
import type { ModelAccess } from '../settings/session-settings.js';

/** Warns that another model answers in the place of one that no service has. */
export function standInWarning(access: ModelAccess, model: string): string | undefined {
  if (!access.standsInFor?.(model)) return undefined;
  return `No service is configured for the model ${model}: ${access.defaultModel} answers in its place.`;
}

/** Why a model will not be told how hard to think, although it was to be; one of which nothing is known is told. */
export function troubleWithEffort(
  info: Pick<ModelInfo, 'id' | 'reasoningEfforts'> | undefined,
  effort: string | null | undefined,
): string | undefined {
  const efforts = info?.reasoningEfforts;
  if (!effort || !efforts || efforts.includes(effort)) return undefined;
  const known = efforts.length === 0 ? 'no reasoning effort' : `the efforts ${efforts.join(', ')}`;
  return `The model ${info.id} knows ${known}: it is asked without the effort "${effort}".`;
}
