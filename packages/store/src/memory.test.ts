import { storeContract } from '@groundcrew/testkit';
import { memoryStore } from './memory.js';

storeContract('the memory store', () => {
  const dead = new Set<string>();
  const store = memoryStore({ isAlive: ({ runtimeId }) => !dead.has(runtimeId) });
  return {
    open: () => store,
    kill: async ({ runtimeId }) => {
      dead.add(runtimeId);
    },
    close: async () => undefined,
  };
});
