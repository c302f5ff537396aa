import { CopilotClient, defineTool, RuntimeConnection } from '@github/copilot-sdk';
import { callTools, providerOf, say, story } from '@groundcrew/testkit';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { Nodes, openClusterWorld } from './cluster-world.js';

const world = await openClusterWorld();
afterAll(() => world?.close());

describe.skipIf(!world)('the official client at several nodes', { timeout: 60_000 }, () => {
  if (!world) return;
  let nodes: Nodes;
  const clients: CopilotClient[] = [];
  beforeEach(async () => {
    nodes = new Nodes({ store: await world.postgres.newSchema(), nats: world.nats.url });
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.forceStop()));
    await nodes.close();
  });

  /** It knows one address, and neither TLS nor redirects. */
  async function clientOf(node: Awaited<ReturnType<Nodes['start']>>): Promise<CopilotClient> {
    const client = new CopilotClient({
      connection: RuntimeConnection.forUri(`127.0.0.1:${await node.port()}`),
    });
    clients.push(client);
    await client.start();
    return client;
  }

  test('goes on by its connection to a node that drains: its tool and its permission are asked for from where the turn went', async () => {
    const [a, b] = await Promise.all([nodes.start(), nodes.start()]);
    const model = world.api.script(
      callTools({ id: 'c1', name: 'look', arguments: {} }),
      callTools({ id: 'c2', name: 'look', arguments: {} }),
      say('seen twice'),
      say('more'),
    );
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let permissions = 0;
    let looks = 0;
    const client = await clientOf(a);
    const session = await client.createSession({
      ...providerOf(model),
      tools: [
        defineTool('look', {
          parameters: z.object({}),
          handler: () => {
            looks += 1;
            return 'a tree';
          },
        }),
      ],
      onPermissionRequest: async () => {
        permissions += 1;
        if (permissions === 1) await held;
        return { kind: 'approve-once' };
      },
    });
    const seen: string[] = [];
    session.on(({ type, id }) => void seen.push(`${type} ${id}`));
    const answer = session.sendAndWait({ prompt: 'Look' }, 50_000);
    await expect.poll(() => permissions).toBe(1);
    const left = a.signal('SIGTERM');
    const other = await nodes.connect(b);
    const owner = async () =>
      (
        await world.postgres.query<{ owner_pid: number }>(
          `SELECT owner_pid FROM ${schemaIn(nodes.store)}.gc_session`,
        )
      )[0]?.owner_pid;
    await expect.poll(owner, { timeout: 15_000 }).toBe(b.pid);
    release();
    expect((await answer)?.data.content).toBe('seen twice');
    expect((await session.sendAndWait({ prompt: 'More' }))?.data.content).toBe('more');
    expect(looks).toBe(2);
    const messages = seen.filter((line) => /^(?:user|assistant)\.message /.test(line));
    expect(messages.length).toBe(new Set(messages).size);
    const watched = await other.resume(session.sessionId, {});
    expect(
      story(await watched.stored()).filter((line) => line.startsWith('tool.execution_complete')),
    ).toHaveLength(2);
    await client.forceStop();
    expect(await left).toMatchObject({ code: 0 });
  });

  test('hops to another node, where its session, its list and its events are the same', async () => {
    const [a, b] = await Promise.all([nodes.start(), nodes.start()]);
    const model = world.api.script(say('one'), say('two'));
    const here = await clientOf(a);
    const first = await here.createSession({ ...providerOf(model) });
    expect((await first.sendAndWait({ prompt: 'First' }))?.data.content).toBe('one');
    const there = await clientOf(b);
    const second = await there.resumeSession(first.sessionId, { ...providerOf(model) });
    expect((await second.sendAndWait({ prompt: 'Second' }))?.data.content).toBe('two');
    const ids = async (client: CopilotClient) =>
      (await client.listSessions()).map(({ sessionId }) => sessionId);
    expect(await ids(here)).toEqual(await ids(there));
    const events = async (session: typeof first) => (await session.getEvents()).map(({ id }) => id);
    expect(await events(first)).toEqual(await events(second));
  });
});

function schemaIn(store: string): string {
  return /search_path=(\w+)/.exec(decodeURIComponent(store))?.[1] ?? '';
}
