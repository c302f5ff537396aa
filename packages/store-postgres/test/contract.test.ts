import { storeContract } from '@groundcrew/testkit';
import { afterAll, describe } from 'vitest';
import { withSchema } from '../src/address.js';
import { postgresWorld, serverForTests } from './world.js';

const server = await serverForTests();
afterAll(() => server?.close(), 60_000);

describe.skipIf(!server)('on PostgreSQL', () => {
  if (!server) return;
  storeContract('the shared store', () => postgresWorld(server));
  storeContract('the shared store in a schema that its address names', async () =>
    postgresWorld(server, { url: withSchema(await server.newDatabase(), 'x:acme') }),
  );
  if (process.env.POSTGRES_TESTS === 'full')
    storeContract('the shared store with one connection', () =>
      postgresWorld(server, { connections: { writers: 1, readers: 1 } }),
    );
});
