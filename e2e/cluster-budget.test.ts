import { hold, type RuntimeProcess } from '@groundcrew/testkit';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Nodes, openClusterWorld } from './cluster-world.js';

const world = await openClusterWorld();
afterAll(() => world?.close());

/** It waits for the end of leases, and is a part of verify:full. */
const whole = test.skipIf(process.env.CLUSTER_TESTS !== 'full');

describe.skipIf(!world)('budgets over several nodes', { timeout: 120_000 }, () => {
  if (!world) return;
  let nodes: Nodes;
  beforeEach(async () => {
    nodes = new Nodes({ store: await world.postgres.newSchema(), nats: world.nats.url });
  });
  afterEach(() => nodes.close());

  whole(
    'whichever nodes are killed in a call, no more calls are made than the session may make',
    async () => {
      const sessionLimits = { maxCalls: 2 };
      const calls = Array.from({ length: 8 }, () => hold().reply);
      const model = world.api.script(...calls);
      const environment = { GROUNDCREW_BASE_URL: model.baseUrl, GROUNDCREW_API_KEY: 'key-of-the-tests' };
      const alive = new Set<RuntimeProcess>([
        await nodes.start({ environment }),
        await nodes.start({ environment }),
      ]);
      const [first] = alive;
      if (!first) return;
      const client = await nodes.connect(first);
      const session = await client.create({ model: 'scripted', sessionLimits });
      await session.send('Work');
      const ask = async () => {
        const text = `SELECT s.owner_pid AS pid, s.head FROM ${schemaOf(nodes)}.gc_session s`;
        return (await world.postgres.query<{ pid: number; head: string }>(text))[0];
      };
      // Each owner is killed in the middle of its call, until some node asks users instead of the model.
      let isAsking = false;
      for (let made = 1; made <= 4 && !isAsking; made += 1) {
        await expect
          .poll(async () => model.requests.length >= made || (await asksUsers()), { timeout: 20_000 })
          .toBe(true);
        isAsking = model.requests.length < made;
        if (isAsking) break;
        const { pid } = (await ask()) ?? {};
        const owner = [...alive].find((node) => node.pid === pid);
        if (!owner) throw new Error(`No node has the pid ${pid}`);
        alive.delete(owner);
        await owner.signal('SIGKILL');
        alive.add(await nodes.start({ environment }));
      }
      expect(isAsking).toBe(true);
      expect(model.requests.length).toBeLessThanOrEqual(sessionLimits.maxCalls);

      async function asksUsers(): Promise<boolean> {
        const text = `SELECT count(*)::int AS n FROM ${schemaOf(nodes)}.gc_record WHERE type = 'limits.asked'`;
        return ((await world?.postgres.query<{ n: number }>(text))?.[0]?.n ?? 0) > 0;
      }
    },
  );
});

function schemaOf({ store }: Nodes): string {
  return new URL(store).searchParams.get('options')?.replace('-c search_path=', '') ?? '';
}
