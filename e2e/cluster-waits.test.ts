import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, providerOf, type RuntimeProcess, say, story, type WireClient } from '@groundcrew/testkit';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Nodes, openClusterWorld } from './cluster-world.js';

const world = await openClusterWorld();
afterAll(() => world?.close());

/** Those that wait for the end of a lease are a part of verify:full. */
const whole = test.skipIf(process.env.CLUSTER_TESTS !== 'full');

const look = callTools({ id: 'c1', name: 'look', arguments: {} });
const tools = [{ name: 'look', skipPermission: true }];

interface Listed {
  readonly sessions: { readonly sessionId: string; readonly waitingOn?: readonly object[] }[];
}

describe.skipIf(!world)('what nodes leave to one another', { timeout: 60_000 }, () => {
  if (!world) return;
  let nodes: Nodes;
  beforeEach(async () => {
    nodes = new Nodes({ store: await world.postgres.newSchema(), nats: world.nats.url });
  });
  afterEach(() => nodes.close());

  test('work that no live node can go on with says what each of them lacks, and goes on where all of it is', async () => {
    const model = world.api.script(look, say('seen'));
    const file = join(nodes.work.path, 'providers.json');
    writeFileSync(file, JSON.stringify({ house: providerOf(model).provider }));
    const able = { labels: ['volume:one'], environment: { GROUNDCREW_PROVIDERS: file } };
    const [first, plain, knowing] = await Promise.all([
      nodes.start(able),
      nodes.start({ labels: ['volume:one'] }),
      nodes.start({ environment: able.environment }),
    ]);
    const a = await nodes.connect(first as RuntimeProcess);
    const b = await nodes.connect(plain as RuntimeProcess);
    const settings = { model: 'scripted', providerRef: 'house', nodeLabels: ['volume:one'], tools };
    const ours = await a.create(settings);
    const theirs = await b.resume(ours.sessionId, {});
    await ours.send('Look');
    const { data } = await theirs.next('external_tool.requested');
    await a.close();
    await first?.signal('SIGTERM');

    const list = async () => (await b.call<Listed>('session.list', {})).sessions;
    await expect.poll(async () => (await list())[0]?.waitingOn, { timeout: 15_000 }).toBeDefined();
    const wait = {
      kind: 'node',
      since: expect.stringMatching(/^\d{4}-.*Z$/),
      message: expect.stringContaining('No live node can go on with this session ('),
      nodes: expect.arrayContaining([
        {
          node: expect.stringMatching(new RegExp(`:${plain?.pid}$`)),
          missing: [{ kind: 'provider', name: 'house' }],
        },
        {
          node: expect.stringMatching(new RegExp(`:${knowing?.pid}$`)),
          missing: [{ kind: 'label', name: 'volume:one' }],
        },
      ]),
    };
    expect((await list())[0]?.waitingOn).toEqual([wait]);
    const { sessionId } = ours;
    const { session } = await b.call<{ session: object }>('session.getMetadata', { sessionId });
    expect(session).toMatchObject({ waitingOn: [wait] });
    expect(await b.call('session.metadata.activity', { sessionId })).toEqual({
      abortable: false,
      hasActiveWork: true,
      waitingOn: [wait],
    });
    const { data: warning } = await theirs.next('session.warning');
    expect(warning).toEqual({ warningType: 'node', message: wait.message });
    const c = await nodes.connect(knowing as RuntimeProcess);
    expect(await c.failure('session.resume', { sessionId })).toMatchObject({
      message:
        'No live node has the labels that the session needs: volume:one, and knows the provider that the session names: "house"',
    });

    await nodes.start(able);
    expect(await theirs.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    await theirs.next('session.idle');
    expect(story(await theirs.stored()).at(-2)).toBe('assistant.message "seen"');
    expect((await list())[0]?.waitingOn).toBeUndefined();
  });

  /** A node whose environment names the model service, so that any of them can go on. */
  const startWith = (baseUrl: string) =>
    nodes.start({ environment: { GROUNDCREW_BASE_URL: baseUrl, GROUNDCREW_API_KEY: 'key-of-the-tests' } });

  const promptsOf = async (sessionId: string) => {
    const rows = await world.postgres.query<{ json: string }>(
      `SELECT r.json FROM ${schema()}.gc_record r JOIN ${schema()}.gc_session s ON s.number = r.session
       WHERE s.id = '${sessionId}' AND r.type = 'user.message' ORDER BY r.seq`,
    );
    return rows.map(({ json }) => (JSON.parse(json) as { data: { content: string } }).data.content);
  };
  const schema = () => new URL(nodes.store).searchParams.get('options')?.replace('-c search_path=', '') ?? '';
  const answers = (count: number) => Array.from({ length: count }, () => say('done'));

  test('a scheduled prompt comes once to a session that was closed, and to one whose node has left', async () => {
    const model = world.api.script(...answers(8));
    const processes = await Promise.all([1, 2, 3].map(() => startWith(model.baseUrl)));
    const clients = await Promise.all(processes.map((node) => nodes.connect(node)));
    const [a, b] = clients as [WireClient, WireClient];
    const closed = await a.create({ model: 'scripted' });
    const left = await a.create({ model: 'scripted' });
    for (const session of [closed, left]) {
      await session.turn('Hello');
      await session.call('session.schedule.addAt', { at: Date.now() + 1_500, prompt: 'Report' });
      await session.call('session.schedule.add', { interval: '1d', prompt: 'Daily' });
    }
    await closed.call('session.destroy');
    await a.close();
    await processes[0]?.signal('SIGTERM');
    for (const { sessionId } of [closed, left])
      await expect
        .poll(() => promptsOf(sessionId), { timeout: 20_000 })
        .toEqual(['Hello', '[Scheduled prompt #1]\nReport']);
    await expect.poll(() => model.requests.length, { timeout: 20_000 }).toBe(4);
    // All nodes have looked for orphans several times by now, and found none.
    const due = () =>
      world.postgres.query<{ id: string }>(
        `SELECT id FROM ${schema()}.gc_session WHERE due_at < extract(epoch FROM clock_timestamp()) * 1000`,
      );
    await expect.poll(due, { timeout: 20_000 }).toEqual([]);
    for (const { sessionId } of [closed, left]) {
      const theirs = await b.resume(sessionId, {});
      const { entries } = await theirs.call<{ entries: { id: number }[] }>('session.schedule.list');
      expect(entries.map(({ id }) => id)).toEqual([2]);
      expect(await promptsOf(sessionId)).toHaveLength(2);
    }
    expect(model.requests).toHaveLength(4);
  });

  whole('a scheduled prompt comes once to an idle session whose node was killed', async () => {
    const model = world.api.script(...answers(4));
    const processes = await Promise.all([1, 2, 3].map(() => startWith(model.baseUrl)));
    const [first] = processes;
    if (!first) throw new Error('No node is up');
    const a = await nodes.connect(first);
    const session = await a.create({ model: 'scripted' });
    const { sessionId } = session;
    await session.turn('Hello');
    await session.call('session.schedule.addAt', { at: Date.now() + 2_000, prompt: 'Report' });
    await first.signal('SIGKILL');
    await expect
      .poll(() => promptsOf(sessionId), { timeout: 20_000 })
      .toEqual(['Hello', '[Scheduled prompt #1]\nReport']);
    await expect.poll(() => model.requests.length, { timeout: 20_000 }).toBe(2);
  });
});
