import { findPostgres, openPostgres, type PostgresServer, type StoreWorld } from '@groundcrew/testkit';
import { openPostgresStore, type PostgresStore, type PostgresStoreOptions } from '../src/store.js';

/** A server for the tests of a file; undefined, with a line that says why, where none is quickly to be had. */
export async function serverForTests(): Promise<PostgresServer | undefined> {
  const source = findPostgres(process.env);
  if (typeof source !== 'string') return openPostgres(source);
  process.stdout.write(`PostgreSQL tests are skipped: ${source}\n`);
  return undefined;
}

/** Tables of its own for each test, shared by the stores that the test opens. */
export async function postgresWorld(
  server: PostgresServer,
  options: Partial<PostgresStoreOptions> = {},
): Promise<StoreWorld> {
  const url = await server.newSchema();
  const stores = new Map<string, PostgresStore>();
  return {
    open: ({ runtimeId }) => {
      const store = openPostgresStore({ url, ...options });
      stores.set(runtimeId, store);
      return store;
    },
    kill: async ({ runtimeId }) => stores.get(runtimeId)?.close(),
    close: async () => {
      await Promise.all([...stores.values()].map((store) => store.close()));
    },
  };
}
