import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreWorld } from '@groundcrew/testkit';
import { openSqliteStore, type SqliteStore } from '../../src/store.js';
import type { SqliteMode } from '../../src/store-file.js';

/** A home of its own for each test, shared by the stores that the test opens. */
export function sqliteWorld(mode: SqliteMode): StoreWorld {
  const home = mkdtempSync(join(tmpdir(), 'groundcrew-store-'));
  const stores = new Map<string, SqliteStore>();
  return {
    open: ({ runtimeId }) => {
      const store = openSqliteStore({
        file: join(home, 'sessions.db'),
        runDirectory: join(home, 'run'),
        mode,
      });
      stores.set(runtimeId, store);
      return store;
    },
    kill: async ({ runtimeId }) => stores.get(runtimeId)?.close(),
    close: async () => {
      await Promise.all([...stores.values()].map((store) => store.close()));
      rmSync(home, { recursive: true });
    },
  };
}
