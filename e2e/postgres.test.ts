import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  callTools,
  findPostgres,
  liveRuntime,
  openPostgres,
  PostgresStandby,
  providerOf,
  type RuntimeProcess,
  say,
  story,
  temporaryDirectory,
} from '@groundcrew/testkit';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';

const source = findPostgres(process.env);
if (typeof source === 'string') process.stdout.write(`PostgreSQL tests are skipped: ${source}\n`);
const server = typeof source === 'string' ? undefined : await openPostgres(source);
const homes = [temporaryDirectory(), temporaryDirectory()] as const;
afterAll(async () => {
  for (const home of homes) home.remove();
  await server?.close();
});

const runtime = liveRuntime();
const look = callTools({ id: 'c1', name: 'look', arguments: {} });
const tools = [{ name: 'look', skipPermission: true }];

const binaries = typeof source === 'string' ? undefined : source.binaries;
const isFull = process.env.POSTGRES_TESTS === 'full';

test.skipIf(binaries === undefined || !isFull)(
  'after a failover that lost the last turn, clients are notified, and their session goes on from what is stored',
  async () => {
    const primary = await openPostgres({ binaries: binaries ?? '' });
    const standby = await PostgresStandby.open(primary, { binaries: binaries ?? '', isSynchronous: false });
    try {
      const model = runtime.script(say('one'), say('two'), say('three'), say('four'));
      const process = runtime.spawn({
        flags: ['--stdio'],
        home: homes[0].path,
        environment: { GROUNDCREW_STORE: `${primary.url},${standby.url}` },
      });
      const client = await runtime.connect(process, { hasGaps: true });
      const session = await client.create(providerOf(model));
      await session.turn('First');
      const isLevel = async () =>
        (await primary.query('SELECT 1 FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()'))
          .length > 0;
      await expect.poll(isLevel).toBe(true);
      await standby.stopFollowing();
      await session.turn('Second');
      await primary.kill();
      await standby.promote();
      const events = await session.turn('Third');
      expect(events.filter(({ type }) => type === 'session.warning').map(({ data }) => data)).toEqual([
        {
          warningType: 'store_lost',
          message: expect.stringMatching(
            /^A failover of the store has lost the last \d+ records of this session/,
          ),
        },
      ]);
      expect(model.requests.at(-1)?.body.messages.map(({ role }) => role)).toEqual([
        'system',
        'user',
        'assistant',
        'user',
      ]);
      const told = story(await session.stored()).filter((line) => /^(?:user|assistant)\.message/.test(line));
      expect(told).toEqual([
        'user.message "First" idle 0',
        'assistant.message "one"',
        'user.message "Third" idle 0',
        'assistant.message "three"',
      ]);
    } finally {
      await Promise.all([primary.close(), standby.close()]);
    }
  },
  60_000,
);

describe.skipIf(!server)('sessions in PostgreSQL', () => {
  if (!server) return;
  let url: string;
  beforeEach(async () => {
    url = await server.newSchema();
  });

  /** A process with a home of its own, on the database that all share. */
  const node = async (index: 0 | 1, options: { readonly hasGaps?: boolean } = {}) => {
    const process: RuntimeProcess = runtime.spawn({
      flags: ['--stdio'],
      home: homes[index].path,
      environment: { GROUNDCREW_STORE: url },
    });
    return { process, client: await runtime.connect(process, options) };
  };

  test('a session that one node has left goes on at another, which lists it and has its history', async () => {
    const model = runtime.script(say('one'), say('two'));
    const first = await node(0);
    const ours = await first.client.create(providerOf(model));
    await ours.turn('First');
    await ours.call('session.destroy');
    const second = await node(1);
    const { sessions } = await second.client.call<{ sessions: { sessionId: string }[] }>('session.list', {});
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([ours.sessionId]);
    const theirs = await second.client.resume(ours.sessionId, providerOf(model));
    await theirs.turn('Second');
    expect(model.requests[1]?.body.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ]);
    expect(homes.map(({ path }) => existsSync(join(path, 'groundcrew.db')))).toEqual([false, false]);
  });

  test('a session with work at one node is refused by name at another, and goes on there when its process is killed', async () => {
    const model = runtime.script(look, say('seen'));
    const first = await node(0, { hasGaps: true });
    const ours = await first.client.create({ ...providerOf(model), tools });
    await ours.send('Look');
    const { data } = await ours.next('external_tool.requested');
    const second = await node(1);
    expect(await second.client.failure('session.resume', { sessionId: ours.sessionId })).toMatchObject({
      message: expect.stringContaining(`is in use by process ${first.process.pid} on `),
      data: { code: 'session_in_use', retryable: true },
    });
    await first.process.signal('SIGKILL');
    await first.process.exited;
    const theirs = await second.client.resume(ours.sessionId, {
      ...providerOf(model),
      tools,
      continuePendingWork: true,
    });
    expect(await theirs.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    await theirs.next('session.idle');
    expect(story(await theirs.stored()).at(-2)).toBe('assistant.message "seen"');
  });

  test('a session that is deleted is gone for every node, with its rows and its directory', async () => {
    const model = runtime.script(say('one'));
    const first = await node(0);
    const ours = await first.client.create(providerOf(model));
    await ours.turn('First');
    const directory = join(homes[0].path, 'session-state', ours.sessionId);
    expect(existsSync(directory)).toBe(true);
    await ours.call('session.delete');
    expect(existsSync(directory)).toBe(false);
    const second = await node(1);
    expect(await second.client.failure('session.resume', { sessionId: ours.sessionId })).toMatchObject({
      data: { code: 'session_not_found' },
    });
    const schema = new URL(url).searchParams.get('options')?.replace('-c search_path=', '');
    const rows = await server.query(`SELECT session FROM ${schema}.gc_record`);
    expect(rows).toEqual([]);
  });

  test('commands of sessions do not see the address of the store', async () => {
    const print = { command: 'echo "[$GROUNDCREW_STORE]"', description: 'Prints it' };
    const model = runtime.script(callTools({ id: 'c1', name: 'bash', arguments: print }), say('done'));
    const first = await node(0);
    const ours = await first.client.create(providerOf(model));
    await ours.call('session.permissions.setMode', { mode: 'allow-all' });
    const events = await ours.turn('Print it');
    const result = events.find(({ type }) => type === 'tool.execution_complete');
    expect(JSON.stringify(result)).toContain('[]');
  });
});
