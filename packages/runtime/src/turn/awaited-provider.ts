import { ModelError, type ModelProvider } from '@groundcrew/models';

/** Keys are not stored: a session with a service of its own waits for a client that names it again. */
export function awaitedProvider(reason: string): ModelProvider {
  return {
    id: 'none',
    models: async () => [],
    // biome-ignore lint/correctness/useYield: there is nothing to say before it fails
    async *stream() {
      throw new ModelError('configuration', reason);
    },
  };
}
