import type { ModelProvider } from '@groundcrew/models';
import type { ModelAccess } from './session-settings.js';

/** The same way to models, with something put before its provider; so it is with all that changes make of it. */
export function withProvider(
  access: ModelAccess,
  before: (own: ModelProvider) => ModelProvider,
): ModelAccess {
  const { withChanges } = access;
  return Object.create(access, {
    provider: { get: () => before(access.provider), enumerable: true },
    ...(withChanges && {
      withChanges: {
        value: (...args: Parameters<typeof withChanges>) =>
          withProvider(withChanges.apply(access, args), before),
        enumerable: true,
      },
    }),
  }) as ModelAccess; // the same, but for what is put over it here
}
