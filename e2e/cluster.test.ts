import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, RuntimeConnection } from '@groundcrew/sdk';
import { callTools, providerOf, RuntimeProcess, say, story, type WireClient } from '@groundcrew/testkit';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Nodes, openClusterWorld } from './cluster-world.js';

const world = await openClusterWorld();
afterAll(() => world?.close());

/** Those that wait for the end of a lease are a part of verify:full. */
const whole = test.skipIf(process.env.CLUSTER_TESTS !== 'full');

const look = callTools({ id: 'c1', name: 'look', arguments: {} });
const tools = [{ name: 'look', skipPermission: true }];

describe.skipIf(!world)('several nodes on one PostgreSQL and one NATS', { timeout: 60_000 }, () => {
  if (!world) return;
  let nodes: Nodes;
  beforeEach(async () => {
    nodes = new Nodes({ store: await world.postgres.newSchema(), nats: world.nats.url });
  });
  afterEach(() => nodes.close());

  const start = async (count: number) => {
    const processes = await Promise.all(Array.from({ length: count }, () => nodes.start()));
    const clients = await Promise.all(processes.map((node) => nodes.connect(node)));
    return { processes, clients };
  };
  const durable = (client: WireClient, sessionId: string) =>
    client.events(sessionId).filter(({ ephemeral }) => !ephemeral);

  test('a session works at every node, and clients of all nodes receive the same events', async () => {
    const { clients } = await start(3);
    const [a, b, c] = clients as [WireClient, WireClient, WireClient];
    const model = world.api.script(say('one'), say('two'), say('three'));
    const ours = await a.create(providerOf(model));
    await ours.turn('First');
    const theirs = await b.resume(ours.sessionId, {});
    await theirs.turn('Second');
    await ours.next('session.idle');
    const third = await c.resume(ours.sessionId, {});
    await third.turn('Third');
    await theirs.next('session.idle');
    await ours.next('session.idle');
    const stored = await third.stored();
    expect(story(stored).filter((line) => /^(user|assistant\.message)/.test(line))).toEqual([
      'user.message "First" idle 0',
      'assistant.message "one"',
      'user.message "Second" idle 0',
      'assistant.message "two"',
      'user.message "Third" idle 0',
      'assistant.message "three"',
    ]);
    const ids = (client: WireClient) => durable(client, ours.sessionId).map(({ id }) => id);
    expect(ids(a)).toEqual(stored.map(({ id }) => id));
    for (const client of [b, c]) expect(stored.map(({ id }) => id).join()).toContain(ids(client).join());
    const lists = await Promise.all(
      clients.map((client) => client.call<{ sessions: { sessionId: string }[] }>('session.list', {})),
    );
    for (const { sessions } of lists)
      expect(sessions.map(({ sessionId }) => sessionId)).toEqual([ours.sessionId]);
  });

  test('a question asked at one node is answered by a client of another, once', async () => {
    const { clients } = await start(2);
    const [a, b] = clients as [WireClient, WireClient];
    const model = world.api.script(look, say('seen'));
    const ours = await a.create({ ...providerOf(model), tools });
    await ours.send('Look');
    const theirs = await b.resume(ours.sessionId, {});
    const { data } = await ours.next('external_tool.requested');
    const answers = await Promise.all([
      theirs.answerTool(data.requestId, { result: 'a tree' }),
      ours.answerTool(data.requestId, { result: 'a house' }),
    ]);
    expect(answers.map(({ success }) => success).sort()).toEqual([false, true]);
    await theirs.next('session.idle');
    expect(story(await theirs.stored()).at(-2)).toBe('assistant.message "seen"');
  });

  whole('when the owner is killed, a client of another node goes on there without a gap', async () => {
    const { processes, clients } = await start(2);
    const [a, b] = clients as [WireClient, WireClient];
    const model = world.api.script(look, say('seen'), say('more'));
    const ours = await a.create({ ...providerOf(model), tools });
    const theirs = await b.resume(ours.sessionId, { ...providerOf(model) });
    await theirs.send('Look');
    const { data } = await theirs.next('external_tool.requested');
    await processes[0]?.signal('SIGKILL');
    const answered = await theirs.answerTool(data.requestId, { result: 'a tree' });
    expect(answered).toEqual({ success: true });
    await theirs.next('session.idle');
    await theirs.turn('More');
    const stored = await theirs.stored();
    const received = durable(b, ours.sessionId).map(({ id }) => id);
    expect(stored.map(({ id }) => id).join()).toContain(received.join());
    expect(story(stored).at(-2)).toBe('assistant.message "more"');
  });

  whole('work that no client is attached to is taken over within the lease and a second', async () => {
    const model = world.api.script(look, say('done'));
    const environment = { GROUNDCREW_BASE_URL: model.baseUrl, GROUNDCREW_API_KEY: 'key-of-the-tests' };
    const first = await nodes.start({ environment });
    const second = await nodes.start({ environment });
    const a = await nodes.connect(first);
    const ours = await a.create({ model: 'scripted', tools });
    await ours.send('Look');
    const { data } = await ours.next('external_tool.requested');
    await first.signal('SIGKILL');
    const began = performance.now();
    const b = await nodes.connect(second);
    const owner = () =>
      world.postgres.query<{ owner_pid: number }>(
        `SELECT owner_pid FROM ${schemaOf(nodes)}.gc_session WHERE has_work`,
      );
    await expect.poll(async () => (await owner())[0]?.owner_pid, { timeout: 8_000 }).toBe(second.pid);
    expect(performance.now() - began).toBeLessThan(7_000);
    const theirs = await b.resume(ours.sessionId, { tools, continuePendingWork: true });
    expect(await theirs.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    await theirs.next('session.idle');
    expect(story(await theirs.stored()).at(-2)).toBe('assistant.message "done"');
  });

  whole('a session whose take-over takes long does not hold up the next one', async () => {
    const model = world.api.script(look, look);
    const environment = { GROUNDCREW_BASE_URL: model.baseUrl, GROUNDCREW_API_KEY: 'key-of-the-tests' };
    const [first, second, third] = [
      await nodes.start({ environment }),
      await nodes.start({ environment }),
      await nodes.start({ environment }),
    ];
    for (const [node, sessionId] of [[first, 'slow'] as const, [second, 'next'] as const]) {
      const ours = await (await nodes.connect(node)).create({ sessionId, model: 'scripted', tools });
      await ours.send('Look');
      await ours.next('external_tool.requested');
    }
    const table = `${schemaOf(nodes)}.gc_session`;
    const held = world.postgres
      .query(`WITH held AS MATERIALIZED (SELECT id FROM ${table} WHERE id = 'slow' FOR UPDATE)
        SELECT pg_sleep(60) FROM held`)
      .catch(() => undefined);
    await first.signal('SIGKILL');
    const waiting = () =>
      world.postgres.query(`SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'`);
    await expect.poll(async () => (await waiting()).length, { timeout: 8_000 }).toBe(2);
    await second.signal('SIGKILL');
    const owner = () =>
      world.postgres.query<{ owner_pid: number }>(`SELECT owner_pid FROM ${table} WHERE id = 'next'`);
    await expect.poll(async () => (await owner())[0]?.owner_pid, { timeout: 7_000 }).toBe(third.pid);
    await world.postgres.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()`,
    );
    await held;
  });

  test('clients of every node receive the lifecycle of sessions at another', async () => {
    const { clients } = await start(2);
    const [a, b] = clients as [WireClient, WireClient];
    const model = world.api.script(say('one'));
    const ours = await a.create(providerOf(model));
    await ours.turn('First');
    await a.call('session.delete', { sessionId: ours.sessionId });
    const lifecycle = () => b.order().filter((line) => line.startsWith('lifecycle'));
    await expect.poll(() => lifecycle().at(-1)).toBe('lifecycle session.deleted');
    expect(lifecycle()[0]).toBe('lifecycle session.created');
  });

  test('on SIGTERM a node finishes its turns and leaves, and clients of the SDK go on without a failed call', async () => {
    const processes = await Promise.all([nodes.start(), nodes.start()]);
    const ports = await Promise.all(processes.map((node) => node.port()));
    const model = world.api.script(...Array.from({ length: 40 }, (_, index) => say(`answer ${index}`)));
    const lost: unknown[] = [];
    const client = new Client({
      connection: RuntimeConnection.forUri(ports.join(',')),
      onConnectionLost: (each) => lost.push(each),
    });
    const session = await client.createSession(providerOf(model));
    const texts: string[] = [];
    const talk = async (count: number) => {
      for (let index = 0; index < count; index += 1)
        texts.push((await session.sendAndWait('Go on'))?.data.content ?? '');
    };
    await talk(3);
    const talking = talk(20);
    const [first] = processes;
    const ended = first?.signal('SIGTERM');
    await talking;
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(texts).toEqual(Array.from({ length: 23 }, (_, index) => `answer ${index}`));
    expect(lost).toEqual([]);
    const events = await session.getMessages();
    expect(events.filter(({ type }) => type === 'user.message')).toHaveLength(23);
    await client.stop();
  });

  test('a client that does not move on keeps its connection to a node that drains, and is forwarded', async () => {
    const { processes, clients } = await start(2);
    const [a] = clients as [WireClient, WireClient];
    const model = world.api.script(look, say('seen'), say('more'));
    const ours = await a.create({ ...providerOf(model), tools });
    await ours.send('Look');
    const { data } = await ours.next('external_tool.requested');
    processes[0]?.kill('SIGTERM');
    const owner = () =>
      world.postgres.query<{ owner_pid: number }>(`SELECT owner_pid FROM ${schemaOf(nodes)}.gc_session`);
    await expect.poll(async () => (await owner())[0]?.owner_pid, { timeout: 8_000 }).toBe(processes[1]?.pid);
    expect(await ours.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    await ours.next('session.idle');
    await ours.turn('More');
    expect(story(await ours.stored()).at(-2)).toBe('assistant.message "more"');
    await a.close();
    expect(await processes[0]?.exited).toEqual({ code: 0, signal: null });
  });

  whole(
    'a node that was stopped for longer than its lease writes nothing, and its clients go on at the new owner',
    async () => {
      const { processes, clients } = await start(2);
      const [a, b] = clients as [WireClient, WireClient];
      const model = world.api.script(look, say('seen'), say('more'));
      const ours = await a.create({ ...providerOf(model), tools });
      const theirs = await b.resume(ours.sessionId, providerOf(model));
      await ours.send('Look');
      const { data } = await theirs.next('external_tool.requested');
      await ours.next('external_tool.requested');
      await processes[0]?.signal('SIGSTOP');
      expect(await theirs.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
      await theirs.next('session.idle');
      await processes[0]?.signal('SIGCONT');
      await ours.next('session.idle');
      await ours.turn('More');
      await theirs.next('session.idle');
      const stored = (await theirs.stored()).map(({ id }) => id);
      expect(durable(a, ours.sessionId).map(({ id }) => id)).toEqual(stored);
      expect(durable(b, ours.sessionId).map(({ id }) => id)).toEqual(
        stored.slice(-durable(b, ours.sessionId).length),
      );
    },
  );

  test('a session that needs a label is made at a node that has it, and refused where none has', async () => {
    const [plain, labelled] = await Promise.all([nodes.start(), nodes.start({ labels: ['volume:one'] })]);
    const a = await nodes.connect(plain);
    const model = world.api.script(say('one'));
    const ours = await a.create({ ...providerOf(model), nodeLabels: ['volume:one'] });
    await ours.turn('First');
    const rows = await world.postgres.query<{ owner_pid: number }>(
      `SELECT owner_pid FROM ${schemaOf(nodes)}.gc_session`,
    );
    expect(rows).toEqual([{ owner_pid: labelled.pid }]);
    const refusal = await a.failure('session.create', { nodeLabels: ['volume:two'] });
    expect(refusal).toMatchObject({
      message: 'No live node has the labels that the session needs: volume:two',
      data: { code: 'node_unreachable', retryable: true },
    });
  });

  test('a session that names its provider goes on at every node that knows the name, and its key is in no log', async () => {
    const model = world.api.script(say('one'), say('two'));
    const file = join(nodes.work.path, 'providers.json');
    const { provider } = providerOf(model);
    writeFileSync(file, JSON.stringify({ house: provider }));
    const environment = { GROUNDCREW_PROVIDERS: file };
    const [first, second] = await Promise.all([nodes.start({ environment }), nodes.start({ environment })]);
    const a = await nodes.connect(first);
    const ours = await a.create({ model: 'scripted', providerRef: 'house' });
    await ours.turn('First');
    await ours.call('session.destroy');
    const b = await nodes.connect(second);
    const theirs = await b.resume(ours.sessionId, {});
    await theirs.turn('Second');
    expect(model.requests).toHaveLength(2);
    const rows = await world.postgres.query<{ json: string }>(
      `SELECT json FROM ${schemaOf(nodes)}.gc_record UNION ALL SELECT head FROM ${schemaOf(nodes)}.gc_session`,
    );
    expect(JSON.stringify(rows)).toContain('providerRef');
    expect(JSON.stringify(rows)).not.toContain(provider.apiKey);
    expect(await b.failure('session.create', { providerRef: 'other' })).toMatchObject({
      message: 'No live node knows the provider that the session names: "other"',
      data: { code: 'node_unreachable', retryable: true },
    });
  });

  test('a relay leads clients that know one port to a node that answers', async () => {
    const { clients, processes } = await start(1);
    const port = await processes[0]?.port();
    const relay = new RuntimeProcess({
      flags: ['relay', '--to', `tcp://127.0.0.1:1,tcp://127.0.0.1:${port}`],
      home: nodes.work.path,
    });
    nodes.processes.push(relay);
    const client = await nodes.connect(relay);
    const model = world.api.script(say('one'));
    const ours = await client.create(providerOf(model));
    await ours.turn('First');
    const { sessions } = await (clients[0] as WireClient).call<{ sessions: object[] }>('session.list', {});
    expect(sessions).toHaveLength(1);
  });

  function schemaOf(each: Nodes): string {
    return new URL(each.store).searchParams.get('options')?.replace('-c search_path=', '') ?? '';
  }
});
