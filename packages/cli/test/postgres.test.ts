import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { connectTcp } from '@groundcrew/rpc';
import type { LogRecord, SessionStore } from '@groundcrew/store';
import { openPostgresStore } from '@groundcrew/store-postgres';
import { openDatabase, openSqliteStore } from '@groundcrew/store-sqlite';
import { callTools, findPostgres, openPostgres, say, WireClient } from '@groundcrew/testkit';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { cliWorld } from './program.js';

const source = findPostgres(process.env);
if (typeof source === 'string') process.stdout.write(`PostgreSQL tests are skipped: ${source}\n`);
const server = typeof source === 'string' ? undefined : await openPostgres(source);
afterAll(() => server?.close());

const world = cliWorld();

test('a store that is none is refused in words, without what was given', async () => {
  const given = 'mysql://user:hidden-word@host/database';
  const expected = 'needs sqlite, or an address such as postgres://user:password@host:5432/database\n';
  expect(await world.run(['sessions', 'ls', '--store', given])).toEqual({
    code: 2,
    stdout: '',
    stderr: `groundcrew: --store ${expected}`,
  });
  const environment = { GROUNDCREW_STORE: given };
  expect((await world.run(['sessions', 'ls'], { environment })).stderr).toBe(
    `groundcrew: GROUNDCREW_STORE ${expected}`,
  );
  const path = world.configure({ store: given });
  expect((await world.run(['sessions', 'ls'])).stderr).toBe(`groundcrew: ${path}: store ${expected}`);
});

test('a password with a raw slash does not come out as the name of a database', async () => {
  const { code, stderr } = await world.run([
    'sessions',
    'ls',
    '--store',
    'postgres://user:12/hidden@host/base',
  ]);
  expect([code, stderr]).toEqual([2, expect.not.stringContaining('hidden')]);
});

describe.skipIf(!server)('with a server', () => {
  if (!server) return;
  let url: string;
  beforeEach(async () => {
    url = await server.newSchema();
  });

  /** Two sessions of one turn each. */
  const talk = async (more: Readonly<Record<string, string>>) => {
    const { baseUrl } = world.script(say('one'), say('two'), say('three'));
    const environment = { GROUNDCREW_BASE_URL: baseUrl, GROUNDCREW_MODEL: 'scripted', ...more };
    for (const id of ['red', 'blue']) await world.run(['-p', 'Hello', '--session-id', id], { environment });
  };

  test.each(['option', 'environment', 'settings'])('sessions go to PostgreSQL by %s', async (way) => {
    const { baseUrl } = world.script(say('one'));
    if (way === 'settings') world.configure({ store: url });
    const environment = {
      GROUNDCREW_BASE_URL: baseUrl,
      GROUNDCREW_MODEL: 'scripted',
      ...(way === 'environment' && { GROUNDCREW_STORE: url }),
    };
    const flags = way === 'option' ? ['--store', url] : [];
    const said = await world.run(['-p', 'Hello', '--session-id', 'red', ...flags], { environment });
    expect(said).toMatchObject({ code: 0, stdout: 'one\n' });
    const listed = await world.run(['sessions', 'ls', ...flags], { environment });
    expect(listed.stdout).toMatch(/^red {2}.* {2}Hello\n$/);
    expect(readdirSync(world.homePath).filter((name) => name.endsWith('.db'))).toEqual([]);
  });

  test('a wrong password is said without it, and what the server thinks of it', async () => {
    const wrong = new URL(url);
    wrong.password = 'hidden-word';
    const { code, stdout, stderr } = await world.run(['sessions', 'ls', '--store', wrong.href]);
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      `groundcrew: The session store postgres://127.0.0.1:${server.port}/postgres cannot be used (password authentication failed for user "postgres"). Run \`groundcrew doctor\`.\n`,
    ]);
  });

  test('sessions are copied to PostgreSQL and back, compared, and copied once', async () => {
    await talk({});
    const there = ['migrate', '--from', 'sqlite', '--to', 'postgres', '--store', url];
    const first = await world.run(there);
    expect(first).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^2 copied, 0 already there, 0 left out; \d+ records compared, and the same\.\n$/,
      ),
      stderr: expect.stringMatching(/1 of 2: blue copied\n2 of 2: red copied\n$/),
    });
    expect((await world.run(there)).stdout).toMatch(/^0 copied, 2 already there, 0 left out; \d+ records/);
    const shown = await world.run(['sessions', 'show', 'red', '--json']);
    expect((await world.run(['sessions', 'show', 'red', '--json', '--store', url])).stdout).toBe(
      shown.stdout,
    );
    world.newHome();
    const back = await world.run(['migrate', '--from', 'postgres', '--to', 'sqlite', '--store', url]);
    expect(back.stdout).toBe(first.stdout);
    expect((await world.run(['sessions', 'show', 'red', '--json'])).stdout).toBe(shown.stdout);
  });

  test('a session that has gone on differently in the other store is left out and named', async () => {
    await talk({});
    await talk({ GROUNDCREW_STORE: url });
    const { code, stdout, stderr } = await world.run([
      'migrate',
      ...['--from', 'sqlite', '--to', 'postgres', '--store', url],
    ]);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/^0 copied, 0 already there, 2 left out; 0 records/),
    ]);
    expect(stderr).toContain('red left out: it has other records in the store it would be copied to\n');
  });

  const whole = test.skipIf(process.env.POSTGRES_TESTS !== 'full');
  whole(
    'a migration that is killed again and again, in sessions and between them, comes to the same, there and back',
    async () => {
      const sizes = {
        ...Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`s${index}`, index])),
        s5: 3_000,
      };
      const home = openHome();
      await fill(home, sizes);
      const expected = await contentsOf(home);
      await home.close();
      const kill = async (flags: readonly string[], isThere: (stderr: string) => Promise<boolean>) => {
        const program = world.start(flags);
        await expect.poll(() => isThere(program.stderr), { interval: 5, timeout: 20_000 }).toBe(true);
        program.child.kill('SIGKILL');
        await program.ended;
      };
      const there = ['migrate', '--from', 'sqlite', '--to', 'postgres', '--store', url];
      const schema = new URL(url).searchParams.get('options')?.replace('-c search_path=', '');
      const countOf = (text: string) => async () => {
        const rows = await server.query<{ count: number }>(
          `SELECT count(*)::int AS count FROM ${schema}.${text}`,
        );
        return rows[0]?.count ?? 0;
      };
      const records = countOf(
        `gc_record r JOIN ${schema}.gc_session s ON s.number = r.session WHERE s.id = 's5'`,
      );
      await kill(there, async (stderr) => stderr.includes('2 of 12'));
      await kill(there, async () => (await records().catch(() => 0)) > 0);
      // Half a session is in no list.
      const listed = await world.run(['sessions', 'ls', '--store', url]);
      if ((await records()) < 3_000) expect(listed.stdout).not.toMatch(/^s5 /m);
      await kill(there, async (stderr) => /: s5 (?:copied|already there)\n/.test(stderr));
      const last = await world.run(there);
      expect([last.code, last.stdout]).toEqual([
        0,
        expect.stringMatching(
          /^\d+ copied, \d+ already there, 0 left out; 3061 records compared, and the same\.\n$/,
        ),
      ]);
      const shared = openPostgresStore({ url });
      expect(await contentsOf(shared)).toEqual(expected);
      await shared.close();
      world.newHome();
      const back = ['migrate', '--from', 'postgres', '--to', 'sqlite', '--store', url];
      await kill(back, async (stderr) => /: s4 (?:copied|already there)\n/.test(stderr));
      await kill(back, async (stderr) => /: s8 (?:copied|already there)\n/.test(stderr));
      expect((await world.run(back)).code).toBe(0);
      const again = openHome();
      expect(await contentsOf(again)).toEqual(expected);
      await again.close();
    },
    60_000,
  );

  test('a damaged session is left out and named, and the others are copied', async () => {
    const home = openHome();
    await fill(home, { red: 3, blue: 3, green: 3 });
    await home.close();
    const database = openDatabase(join(world.homePath, 'groundcrew.db'));
    database.exec(
      "UPDATE record SET json = json || ' ' WHERE seq = 2 AND session = (SELECT number FROM session WHERE id = 'green')",
    );
    database.close();
    const { code, stdout, stderr } = await world.run([
      'migrate',
      ...['--from', 'sqlite', '--to', 'postgres', '--store', url],
    ]);
    expect([code, stdout]).toEqual([
      1,
      '2 copied, 0 already there, 1 left out; 6 records compared, and the same.\n',
    ]);
    expect(stderr).toMatch(/2 of 3: green left out: .* is damaged \(record 2 is not what was written\)/);
    const { stdout: listed } = await world.run(['sessions', 'ls', '--store', url]);
    expect(listed.match(/^\w+/gm)?.sort()).toEqual(['blue', 'red']);
  });

  test('while a runtime works on the source, what it works in is left out, and what it has open goes on and is copied again', async () => {
    const ask = callTools({ id: 'c1', name: 'bash', arguments: { command: 'echo hi', description: 'x' } });
    const { baseUrl } = world.script(say('one'), ask, say('two'));
    const environment = {
      GROUNDCREW_BASE_URL: baseUrl,
      GROUNDCREW_MODEL: 'scripted',
      GROUNDCREW_TOKEN: 'the-token',
    };
    const served = world.start(['serve', '--port', '0'], { environment });
    await served.says('listening on port');
    const { port } = /port (?<port>\d+)/.exec(served.stdout)?.groups ?? {};
    const client = new WireClient(await connectTcp({ port: Number(port) }));
    await client.call('connect', { token: 'the-token' });
    const idle = await client.create({ sessionId: 'idle' });
    await idle.turn('First');
    const busy = await client.create({ sessionId: 'busy', requestPermission: true });
    await busy.send('Work');
    const { data } = await busy.next('permission.requested');
    const there = ['migrate', '--from', 'sqlite', '--to', 'postgres', '--store', url];
    const { code, stdout, stderr } = await world.run(there);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^1 copied, 0 already there, 1 left out; /)]);
    expect(stderr).toContain(`busy left out: Session busy is in use by process ${served.child.pid} `);
    await busy.call('session.permissions.handlePendingPermissionRequest', {
      requestId: data.requestId,
      result: { kind: 'reject' },
    });
    await busy.next('session.idle');
    await idle.call('session.name.set', { name: 'Later' });
    await client.connection.close();
    served.child.kill('SIGTERM');
    await served.ended;
    expect((await world.run(there)).stdout).toMatch(/^2 copied, 0 already there, 0 left out; /);
  }, 30_000);

  test('the doctor counts sessions, finds a record that was changed, and says what a crash would lose', async () => {
    await talk({ GROUNDCREW_STORE: url });
    const sound = await world.run(['doctor', '--store', url]);
    expect(sound.stdout).toMatch(/\/postgres: 2 sessions, \d+ records, version 7\n/);
    expect(sound.stdout).toContain('note: No standby follows the primary: its disk is the only copy.\n');
    if (!process.env.PG_URL) {
      expect(sound.stdout).toContain('has fsync off: a crash of its machine loses what was acknowledged');
    }
    const schema = new URL(url).searchParams.get('options')?.replace('-c search_path=', '');
    await server.query(`UPDATE ${schema}.gc_record SET json = json || ' ' WHERE seq = 3`);
    const damaged = await world.run(['doctor', '--check', '--store', url]);
    expect(damaged.code).toBe(1);
    expect(damaged.stdout).toContain('problem: Session red can be read up to record 2: ');
    const file = join(world.homePath, 'copy');
    const backup = await world.run(['backup', file], { environment: { GROUNDCREW_STORE: url } });
    expect(backup).toEqual({
      code: 1,
      stdout: '',
      stderr: 'groundcrew: The sessions are in PostgreSQL: back it up with pg_dump or pg_basebackup\n',
    });
  });
});

type ClosableStore = SessionStore & { close(): Promise<void> };

function openHome(): ClosableStore {
  return openSqliteStore({
    file: join(world.homePath, 'groundcrew.db'),
    runDirectory: join(world.homePath, 'run'),
  });
}

/** Sessions with so many records. */
async function fill(store: SessionStore, sizes: Readonly<Record<string, number>>): Promise<void> {
  const time = '2025-01-01T00:00:00.000Z';
  const counts = { userTurns: 1, eventCount: 0, snapshotSeq: 0 };
  const head = { createdAt: time, modifiedAt: time, hasWork: false, ...counts, context: { cwd: '/' } };
  for (const [sessionId, size] of Object.entries(sizes)) {
    const records = Array.from({ length: size }, (_, index) => ({
      seq: index + 1,
      isPublic: true,
      type: 'test',
      json: JSON.stringify({ sessionId, index, body: 'x'.repeat(index % 97) }),
    }));
    const owner = { runtimeId: 'filler', pid: 1, host: 'elsewhere' };
    const create = { records, head: { ...head, name: sessionId } };
    const { epoch } = await store.claim({ sessionId, owner, create });
    await store.release({ sessionId, epoch });
  }
}

async function contentsOf(store: SessionStore) {
  const { items } = await store.list({ includeEmpty: true });
  const sessions = items.map(async ({ sessionId, head, seq }) => {
    const records: LogRecord[] = [];
    for await (const batch of store.read(sessionId)) records.push(...batch);
    return { sessionId, head, seq, records };
  });
  return (await Promise.all(sessions)).sort((one, other) => one.sessionId.localeCompare(other.sessionId));
}
