import type { WireClient } from '@groundcrew/testkit';
import { callTools, hold, RuntimeProcess, refuse, type ScriptedReply, say, story } from '@groundcrew/testkit';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TenantNodes } from './cluster-tenants-world.js';
import { openClusterWorld } from './cluster-world.js';
import { noSandbox } from './sandbox-world.js';

const world = noSandbox === undefined ? await openClusterWorld() : undefined;
if (noSandbox !== undefined) console.warn(`skipped, tenants of several nodes: ${noSandbox}`);
afterAll(() => world?.close());

/** Those that wait for the end of a lease are a part of verify:full. */
const whole = test.skipIf(process.env.CLUSTER_TESTS !== 'full');
const secret = 'the word that only acme knows';
describe.skipIf(!world)('tenants of several nodes', { timeout: 90_000 }, () => {
  if (!world) return;
  let nodes: TenantNodes;
  let store: string;
  let model: ReturnType<typeof world.api.script>;
  beforeEach(async () => {
    store = await world.postgres.newDatabase();
  });
  afterEach(() => nodes.close());
  const open = async (count: number, ...replies: ScriptedReply[]) => {
    model = world.api.script(...replies);
    nodes = new TenantNodes(store, world.nats.url, model.baseUrl);
    return Promise.all(Array.from({ length: count }, () => nodes.start()));
  };
  const lifecycleOf = (client: WireClient) => client.order().filter((line) => line.startsWith('lifecycle'));

  test('a session of a tenant works at every node, and no other tenant finds anything of it at any', async () => {
    const [a, b] = await open(2, say(`I keep it: ${secret}`), say('Again'));
    const [mia, mia2] = await Promise.all([nodes.client(a, 'mia'), nodes.client(b, 'mia')]);
    const [bob, bob2] = await Promise.all([nodes.client(a, 'bob'), nodes.client(b, 'bob')]);
    const ours = await mia.create({ sessionId: 'of-acme' });
    await ours.turn(`Remember ${secret}`);
    const theirs = await mia2.resume('of-acme', {});
    await theirs.turn('And again');
    await ours.next('session.idle');
    expect(story(await theirs.stored()).filter((line) => line.startsWith('assistant.message '))).toEqual([
      `assistant.message "I keep it: ${secret}"`,
      'assistant.message "Again"',
    ]);
    for (const client of [mia, mia2])
      expect(JSON.stringify(await client.call('sessions.search', { query: 'word' }))).toContain('of-acme');
    for (const client of [bob, bob2]) {
      expect(await client.call('session.list', {})).toEqual({ sessions: [] });
      expect(JSON.stringify(await client.call('sessions.search', { query: 'word' }))).not.toContain(
        'of-acme',
      );
      const unknown = await client.failure('session.resume', { sessionId: 'of-none' });
      const refused = await client.failure('session.resume', { sessionId: 'of-acme' });
      expect(JSON.stringify(refused).replaceAll('of-acme', 'of-none')).toBe(JSON.stringify(unknown));
    }
    // The same id is another session there, at both nodes.
    await bob.create({ sessionId: 'of-acme' });
    const other = await bob2.resume('of-acme', {});
    expect(JSON.stringify(await other.call('session.getMessages'))).not.toContain(secret);
    expect(bob2.frames.filter((frame) => JSON.stringify(frame).includes(secret))).toEqual([]);
    expect(lifecycleOf(mia2)[0]).toBe('lifecycle session.created');
    await bob.call('session.delete', { sessionId: 'of-acme' });
    await expect.poll(() => lifecycleOf(bob2).at(-1)).toBe('lifecycle session.deleted');
    expect(lifecycleOf(mia2)).not.toContain('lifecycle session.deleted');
    expect((await theirs.stored()).length).toBeGreaterThan(5);
  });

  test('an observer at one node receives what happens at another, and answers nothing; each node audits', async () => {
    const look = callTools({ id: 'c1', name: 'look', arguments: {} });
    const [a, b] = await open(2, look, say('seen'));
    const [mia, olga] = await Promise.all([nodes.client(a, 'mia'), nodes.client(b, 'olga')]);
    const ours = await mia.create({ tools: [{ name: 'look', skipPermission: true }] });
    const watched = await olga.resume(ours.sessionId, {});
    await ours.send('Look');
    const { data } = await watched.next('external_tool.requested');
    const refused = await watched.failure('session.tools.handlePendingToolCall', {
      requestId: data.requestId,
      result: 'a tree',
    });
    expect(refused).toMatchObject({ data: { code: 'forbidden' } });
    expect(await ours.answerTool(data.requestId, { result: 'a house' })).toEqual({ success: true });
    await watched.next('session.idle');
    expect(nodes.audit(1)).toContainEqual(
      expect.objectContaining({ event: 'denied', tenant: 'acme', subject: 'olga', role: 'observer' }),
    );
    expect(nodes.audit(0)).toContainEqual(
      expect.objectContaining({ event: 'approval', tenant: 'acme', subject: 'mia' }),
    );
  });

  test('sessions, turns at once and tokens of a day are counted over all nodes', async () => {
    const hanging = hold();
    const [a, b] = await open(2, hanging.reply, say('Enough'));
    const code = { data: { code: 'quota_exceeded', retryable: true } };
    const [sam, sam2] = await Promise.all([nodes.client(a, 'sam'), nodes.client(b, 'sam')]);
    const made = await Promise.allSettled(
      [sam, sam2, sam, sam2, sam, sam2].map((client) => client.call('session.create', {})),
    );
    expect(made.filter(({ status }) => status === 'fulfilled').length).toBe(2);
    expect(await sam.failure('session.create')).toMatchObject(code);
    const [nan, nan2] = await Promise.all([nodes.client(a, 'nan'), nodes.client(b, 'nan')]);
    const [one, two] = [await nan.create(), await nan2.create()];
    await one.send('Hang');
    expect(await two.failure('session.send', { prompt: 'Too' })).toMatchObject({
      ...code,
      message:
        'Request session.send failed with message: The tenant has 1 turns at work, and may have 1 at once.',
    });
    hanging.release();
    await one.next('session.idle');
    const [tom, tom2] = await Promise.all([nodes.client(a, 'tom'), nodes.client(b, 'tom')]);
    await (await tom.create()).turn('Spend');
    const over = await (await tom2.create()).failure('session.send', { prompt: 'More' });
    expect(over).toMatchObject(code);
    expect(over.message).toMatch(/The tenant has used \d+ tokens today, and may use 5 a day \(UTC\)\.$/);
  });

  test('a 429 that a runtime of one tenant gets at one node holds the calls of others with the same key', async () => {
    const [a, b] = await open(2, refuse(429, 'slow down', { 'retry-after': '2' }), say('one'), say('two'));
    const [mia, bob] = await Promise.all([nodes.client(a, 'mia'), nodes.client(b, 'bob')]);
    const ours = await mia.create();
    const theirs = await bob.create();
    await ours.send('First');
    await ours.next('session.info');
    const began = performance.now();
    await theirs.turn('Second');
    expect(performance.now() - began).toBeGreaterThan(1_000);
    await ours.next('session.idle');
  });

  test('on SIGTERM a node leaves the sessions of its tenants to another, where they go on', async () => {
    const look = callTools({ id: 'c1', name: 'look', arguments: {} });
    const [a, b] = await open(2, look, say('seen'));
    const [mia, mia2] = await Promise.all([nodes.client(a, 'mia'), nodes.client(b, 'mia')]);
    const tools = [{ name: 'look', skipPermission: true }];
    const ours = await mia.create({ tools });
    const theirs = await mia2.resume(ours.sessionId, {});
    await ours.send('Look');
    const { data } = await theirs.next('external_tool.requested');
    const left = a?.signal('SIGTERM');
    await mia.connection.close();
    expect(await left).toMatchObject({ code: 0 });
    expect(await theirs.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    await theirs.next('session.idle');
    const stored = await theirs.stored();
    expect(story(stored)).toContain('assistant.message "seen"');
    expect(story(stored).filter((line) => line.startsWith('external_tool.requested')).length).toBe(1);
  });

  test('a server of tenants does not start on a database or a NATS that their commands could open', async () => {
    await open(0);
    const { username, password } = new URL(store);
    const plain = store.replace(`${username}:${password}@`, `${username}@`);
    const closed = world.nats.url.replace('nats://', 'nats://token-of-the-tests@');
    const started = async (words: readonly string[]) => {
      const flags = ['serve', '--listen', '127.0.0.1:0', '--auth', nodes.authFile, ...words];
      const server = new RuntimeProcess({ flags, home: nodes.homeOf(9), workingDirectory: nodes.work });
      return { ...(await server.exited), stderr: server.stderr };
    };
    expect(await started(['--store', plain, '--nats', closed])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('it must demand a password'),
    });
    expect(await started(['--store', store, '--nats', world.nats.url])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('it must demand a user or a token'),
    });
  });

  whole(
    'work of a tenant whose node is killed is taken over by a node that had no runtime of it',
    async () => {
      const hanging = hold();
      const [a, b] = await open(2, hanging.reply, say('done elsewhere'));
      const mia = await nodes.client(a, 'mia');
      const ours = await mia.create();
      await ours.send('Work');
      await model.asked(1);
      await a?.signal('SIGKILL');
      const began = performance.now();
      const hasWork = async () => {
        const { Client } = await import('pg');
        const client = new Client({ connectionString: store });
        await client.connect();
        const text = 'SELECT has_work FROM "groundcrew:acme".gc_session WHERE id = $1';
        const { rows } = await client.query<{ has_work: boolean }>(text, [ours.sessionId]);
        await client.end();
        return rows[0]?.has_work;
      };
      await expect.poll(hasWork, { timeout: 15_000 }).toBe(false);
      expect(performance.now() - began).toBeLessThan(12_000);
      const mia2 = await nodes.client(b, 'mia');
      const theirs = await mia2.resume(ours.sessionId, {});
      expect(story(await theirs.stored())).toContain('assistant.message "done elsewhere"');
      hanging.release();
    },
  );
});
