import type { SessionState } from '../log/state.js';
import type { ModelAccess } from '../settings/session-settings.js';

/** Whether a session may call a model; 'auto' is a choice among those that it may call. */
export function isAllowedModel({ fixed }: Pick<SessionState, 'fixed'>, model: string): boolean {
  const { allowedModels } = fixed;
  return !allowedModels || model === automatic || allowedModels.includes(model);
}

/** Leaves the choice of the model to the service. */
export const automatic = 'auto';

/** The model itself, or where the session may not call it, the first that it may. */
export function allowedModel(
  { fixed }: Pick<SessionState, 'fixed'>,
  model: string,
  isServed: (model: string) => boolean,
): string {
  const { allowedModels } = fixed;
  if (!allowedModels || allowedModels.includes(model)) return model;
  return allowedModels.find(isServed) ?? allowedModels[0] ?? model;
}

/** Another model of the same service that the session may call, if there is one. */
export function otherAllowedModel(
  state: Pick<SessionState, 'fixed'>,
  access: Pick<ModelAccess, 'otherModel'>,
  model: string,
): string | undefined {
  const other = access.otherModel?.(model);
  return other !== undefined && other !== model && isAllowedModel(state, other) ? other : undefined;
}

/** Why a client does not get a model that it wants. */
export function disallowedModel(state: Pick<SessionState, 'fixed'>, model: string): string | undefined {
  if (isAllowedModel(state, model)) return undefined;
  const allowed = state.fixed.allowedModels?.join(', ');
  return `The session may not call the model ${model}, only: ${allowed}.`;
}
