import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findPostgres, openPostgres, say } from '@groundcrew/testkit';
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
