import { storeContract } from '@groundcrew/testkit';
import { idleStore } from '../../src/idle-store.js';
import type { SqliteStore } from '../../src/store.js';
import { sqliteWorld } from './world.js';

/** One that closes at every pause. */
storeContract('a store that is closed when idle', () => {
  const world = sqliteWorld('group');
  const opened = new Map<string, ReturnType<typeof idleStore>>();
  return {
    open: (owner) => {
      const open = () => world.open(owner) as SqliteStore; // the embedded world opens no other
      const store = idleStore({ open, idleMilliseconds: 0 });
      opened.set(owner.runtimeId, store);
      return store;
    },
    kill: async ({ runtimeId }) => opened.get(runtimeId)?.close(),
    close: async () => {
      await Promise.all([...opened.values()].map((store) => store.close()));
      await world.close();
    },
  };
});
