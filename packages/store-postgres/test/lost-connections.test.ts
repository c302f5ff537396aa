import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openPostgresStore, type PostgresStore } from '../src/store.js';
import { headWith, ownerNamed, readAll, recordAt } from './data.js';
import { type Cut, SeveringProxy } from './severing-proxy.js';
import { serverForTests } from './world.js';

const server = await serverForTests();
afterAll(() => server?.close());

const owner = ownerNamed('ada');
const head = headWith();

describe.skipIf(!server)('connections that are lost', () => {
  if (!server) return;
  let url: string;
  let proxy: SeveringProxy;
  let store: PostgresStore;
  beforeEach(async () => {
    url = await server.newSchema();
    proxy = await SeveringProxy.open(server.port, 'gc-');
    store = openPostgresStore({ url: proxy.through(url), lease: { validity: 60_000, renewal: 30_000 } });
  });
  afterEach(async () => {
    await store.close();
    await proxy.close();
  });

  const claim = (sessionId: string) => store.claim({ sessionId, owner, create: { records: [], head } });
  const append = (epoch: number, seq: number) =>
    store.append({ sessionId: 's', epoch, expectedSeq: seq, records: [recordAt(seq + 1)], head });

  test.each<Cut>(['before', 'after', 'during'])(
    'an append whose connection is cut %s its commit is acknowledged, and is in the log once',
    async (cut) => {
      const { epoch } = await claim('s');
      await append(epoch, 0);
      proxy.plan(cut);
      await append(epoch, 1);
      await append(epoch, 2);
      expect(proxy.severed).toBe(1);
      expect(await readAll(store, 's')).toEqual([recordAt(1), recordAt(2), recordAt(3)]);
    },
  );

  test.each(['asked', 'answered'] as const)(
    'appends whose connections are cut after any number of bytes %s are acknowledged, and in the log once',
    async (side) => {
      const { epoch } = await claim('s');
      await append(epoch, 0);
      const places = Array.from({ length: 24 }, (_, index) => index * (side === 'asked' ? 26 : 2));
      for (const [index, place] of places.entries()) {
        proxy.plan(side === 'asked' ? { asked: place } : { answered: place });
        await append(epoch, index + 1);
      }
      expect(proxy.severed).toBe(places.length);
      expect(await readAll(store, 's')).toEqual([0, ...places].map((_, index) => recordAt(index + 1)));
    },
    20_000,
  );

  test('an append whose connection is cut again and again, while it is looked up too, is in the log once', async () => {
    const { epoch } = await claim('s');
    proxy.plan('after', 'before', 'during', 'after', 'during', 'before');
    await Promise.all([append(epoch, 0), append(epoch, 1), append(epoch, 2)]);
    expect(proxy.severed).toBeGreaterThanOrEqual(5);
    expect(await readAll(store, 's')).toEqual([recordAt(1), recordAt(2), recordAt(3)]);
  });

  test.each<Cut>(['before', 'after', 'during'])(
    'a head that is written without records is written once when its connection is cut %s the commit',
    async (cut) => {
      const { epoch } = await claim('s');
      const write = (name: string) =>
        store.append({ sessionId: 's', epoch, expectedSeq: 0, records: [], head: headWith({ name }) });
      proxy.plan(cut);
      await write('first');
      await write('second');
      expect((await store.list()).items.map((item) => item.head.name)).toEqual(['second']);
    },
  );

  test.each<Cut>(['before', 'after', 'during'])(
    'a session whose making is cut %s the commit is made once, and is its maker’s',
    async (cut) => {
      await claim('other');
      proxy.plan(cut);
      const made = await store.claim({
        sessionId: 's',
        owner,
        create: { records: [recordAt(1)], head },
      });
      expect(made).toEqual({ epoch: expect.any(Number), seq: 1, head, isNew: true });
      await append(made.epoch, 1);
      expect(await readAll(store, 's')).toEqual([recordAt(1), recordAt(2)]);
    },
  );

  test.each<Cut>(['before', 'after', 'during'])(
    'a removal that is cut %s the commit removes once',
    async (cut) => {
      await claim('s');
      proxy.plan(cut);
      expect(await store.remove('s')).toBe(true);
      expect(await store.remove('s')).toBe(false);
    },
  );

  test('an append that was written before another claim took the session is acknowledged all the same', async () => {
    const { epoch } = await claim('s');
    proxy.plan('after');
    const direct = openPostgresStore({ url });
    const appended = append(epoch, 0);
    await expect.poll(() => proxy.severed).toBe(1);
    await direct.claim({ sessionId: 's', owner: ownerNamed('bob') });
    await appended;
    await expect(append(epoch, 1)).rejects.toMatchObject({ kind: 'stale_owner' });
    expect(await readAll(direct, 's')).toEqual([recordAt(1)]);
    await direct.close();
  });

  test.skipIf(process.env.PG_URL)(
    'an append whose backend is ended in the middle of its COMMIT is acknowledged, and is in the log once',
    async () => {
      const { epoch } = await claim('s');
      let seq = 0;
      let isOver = false;
      // Commits wait for a standby that never comes, as soon as the server has noticed.
      await server.query(`ALTER SYSTEM SET synchronous_standby_names = 'missing'`);
      await server.query('SELECT pg_reload_conf()');
      const flood = (async () => {
        for (; !isOver; seq += 1) await append(epoch, seq);
      })();
      const ended = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
      await expect.poll(() => server.query(ended), { timeout: 10_000 }).not.toHaveLength(0);
      isOver = true;
      await server.query('ALTER SYSTEM RESET synchronous_standby_names');
      await server.query('SELECT pg_reload_conf()');
      await flood;
      expect(await readAll(store, 's')).toEqual(
        Array.from({ length: seq }, (_, index) => recordAt(index + 1)),
      );
    },
    30_000,
  );

  test('a server that stays away makes calls fail as busy, in time, and works again when it is back', async () => {
    const impatient = openPostgresStore({ url: proxy.through(url), patience: 300 });
    const { epoch } = await impatient.claim({ sessionId: 's', owner, create: { records: [], head } });
    const write = (seq: number) =>
      impatient.append({ sessionId: 's', epoch, expectedSeq: seq, records: [recordAt(seq + 1)], head });
    await write(0);
    proxy.down();
    const began = performance.now();
    await expect(impatient.list()).rejects.toMatchObject({ kind: 'busy' });
    await expect(write(1)).rejects.toMatchObject({
      kind: 'busy',
      message: expect.stringMatching(/cannot be reached now \(.*\); nothing was written\. Try again\.$/),
    });
    expect(performance.now() - began).toBeLessThan(5_000);
    proxy.up();
    await write(1);
    expect(await readAll(impatient, 's')).toEqual([recordAt(1), recordAt(2)]);
    await impatient.close();
  });

  test('a server that falls silent is left for the next address, after one wait for all its connections', async () => {
    const both = `${proxy.through(url)},${url}`;
    const patient = openPostgresStore({ url: both, patience: 6_000, limits: { answer: 1_200 } });
    const sessions = ['a', 'b', 'c', 'd', 'e', 'f'];
    const create = { records: [], head };
    const claims = await Promise.all(
      sessions.map((sessionId) => patient.claim({ sessionId, owner, create })),
    );
    await Promise.all(sessions.map(() => patient.list()));
    proxy.freeze();
    const records = [recordAt(1)];
    const write = (sessionId: string, index: number) =>
      patient.append({ sessionId, epoch: claims[index]?.epoch ?? 0, expectedSeq: 0, records, head });
    const began = performance.now();
    await Promise.all([...sessions.map(write), patient.list()]);
    expect(performance.now() - began).toBeLessThan(4_000);
    expect(await Promise.all(sessions.map((sessionId) => readAll(patient, sessionId)))).toEqual(
      sessions.map(() => records),
    );
    await patient.close();
  });

  test('the primary is found behind servers that hang, refuse, or do not know the password', async () => {
    proxy.freeze();
    const wrong = new URL(url);
    wrong.password = 'another-word';
    const refusing = new URL(url);
    refusing.port = '1';
    const others = [proxy.through(url), refusing.href, wrong.href];
    const found = openPostgresStore({ url: [...others, url].join(',') });
    const began = performance.now();
    expect(await found.list()).toEqual({ items: [] });
    expect(performance.now() - began).toBeLessThan(4_000);
    await found.close();
    const lost = openPostgresStore({ url: others.join(','), patience: 300 });
    await expect(lost.list()).rejects.toMatchObject({
      kind: 'busy',
      message: expect.stringMatching(/ECONNREFUSED.*password authentication failed.*did not answer in time/),
    });
    await lost.close();
    const refused = openPostgresStore({ url: [wrong.href, wrong.href].join(',') });
    await expect(refused.list()).rejects.toMatchObject({
      kind: 'io',
      message: expect.stringContaining('password authentication failed'),
    });
    await refused.close();
  });

  test('an append whose fate cannot be learnt is reported so, and its session has to be opened again', async () => {
    const impatient = openPostgresStore({ url: proxy.through(url), patience: 400 });
    const { epoch } = await impatient.claim({ sessionId: 's', owner, create: { records: [], head } });
    const write = (at: number, seq: number) =>
      impatient.append({ sessionId: 's', epoch: at, expectedSeq: seq, records: [recordAt(seq + 1)], head });
    proxy.plan('last');
    await expect(write(epoch, 0)).rejects.toMatchObject({
      kind: 'io',
      message: expect.stringContaining('is not known'),
    });
    proxy.up();
    await expect(write(epoch, 0)).rejects.toMatchObject({ kind: 'stale_owner' });
    const again = await impatient.claim({ sessionId: 's', owner });
    expect(again.seq).toBe(1);
    await write(again.epoch, 1);
    expect(await readAll(impatient, 's')).toEqual([recordAt(1), recordAt(2)]);
    await impatient.close();
  });

  test('a node that loses one of its connections takes over what another leaves, without the pause after an outage', async () => {
    const announcement = { address: 'gc.x', labels: [], providers: [], figures: {} as never };
    const direct = openPostgresStore({ url });
    const bob = ownerNamed('bob');
    await direct.cluster.announce(bob, () => announcement);
    const create = { records: [], head: headWith({ hasWork: true }) };
    await direct.claim({ sessionId: 's', owner: bob, create });
    await store.cluster.announce(owner, () => announcement);
    await Promise.all([store.list(), store.list(), store.list()]);
    proxy.severOldest();
    await direct.close();
    const look = async () => {
      await store.cluster.nodes();
      return (await store.cluster.orphans({ limit: 9, since: 0 })).map(({ sessionId }) => sessionId);
    };
    await expect.poll(look, { timeout: 5_000 }).toEqual(['s']);
    expect(proxy.severed).toBe(1);
    await store.claim({ sessionId: 's', owner });
  });

  test('more than may wait is refused as busy, in its turn, and what waited is written', async () => {
    const narrow = openPostgresStore({ url: proxy.through(url), queueBytes: 100_000 });
    const { epoch } = await narrow.claim({ sessionId: 's', owner, create: { records: [], head } });
    const body = (seq: number) => ({ ...recordAt(seq), json: JSON.stringify('x'.repeat(40_000)) });
    const settled: string[] = [];
    await Promise.all(
      [0, 1, 2, 3].map((seq) =>
        narrow.append({ sessionId: 's', epoch, expectedSeq: seq, records: [body(seq + 1)], head }).then(
          () => settled.push(`${seq} written`),
          (error: { readonly kind: string }) => settled.push(`${seq} ${error.kind}`),
        ),
      ),
    );
    expect(settled).toEqual(['0 written', '1 written', '2 busy', '3 busy']);
    expect((await readAll(narrow, 's')).length).toBe(2);
    await narrow.close();
  });
});
