import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type Address, readAddresses, withSchema } from '../src/address.js';
import { Connection } from '../src/connection.js';
import { migrate } from '../src/migrate.js';
import { migrationSteps } from '../src/schema.js';
import { openPostgresStore, type PostgresStore, type PostgresStoreOptions } from '../src/store.js';
import { headWith, ownerNamed, readAll, recordAt } from './data.js';
import { serverForTests } from './world.js';

const server = await serverForTests();
afterAll(() => server?.close());

describe.skipIf(!server)('stores in schemas of one database', () => {
  if (!server) return;
  const open: PostgresStore[] = [];
  const storeAt = (url: string, options: Partial<PostgresStoreOptions> = {}) => {
    const store = openPostgresStore({ url, ...options });
    open.push(store);
    return store;
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((store) => store.close()));
  });
  const create = (writer: string, changes = {}) => ({
    records: [recordAt(1, writer)],
    head: headWith(changes),
  });

  test('the same id is another session in each, and no call of one reaches the other', async () => {
    const url = await server.newDatabase();
    const [acme, beta] = [storeAt(withSchema(url, 'x:acme')), storeAt(withSchema(url, 'x:beta'))];
    await acme.claim({ sessionId: 's', owner: ownerNamed('a'), create: create('acme') });
    expect((await beta.list({ includeEmpty: true })).items).toEqual([]);
    expect(await beta.remove('s', ownerNamed('b'))).toBe(false);
    expect(await beta.cluster.placeOf('s')).toBeUndefined();
    await beta.claim({ sessionId: 's', owner: ownerNamed('b'), create: create('beta') });
    expect((await readAll(acme, 's')).map(({ json }) => json)).toEqual(['{"seq":1,"writer":"acme"}']);
    const textOf = ({ json }: { readonly json: string }) => json;
    expect(await beta.search({ words: 'acme', limit: 10, textOf })).toEqual([]);
    expect((await acme.search({ words: 'acme', limit: 10, textOf })).length).toBe(1);
    await beta.cluster.book.write('{}', 0);
    expect(await acme.cluster.book.read(0)).toBeUndefined();
    await beta.remove('s');
    expect((await acme.list({ includeEmpty: true })).items.map(({ sessionId }) => sessionId)).toEqual(['s']);
  });

  test('of many that want the last places at once, at two nodes, no more than there are get one', async () => {
    const url = await server.newSchema();
    const lease = { validity: 1_000, renewal: 250 };
    const nodes = [storeAt(url, { lease }), storeAt(url, { lease })];
    const ask = (index: number) => {
      const place = { kind: 'turn' as const, sessionId: `s${index}`, owner: ownerNamed(`n${index % 2}`) };
      return nodes[index % 2]?.cluster.quotas.take(place, 3);
    };
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => ask(index)));
    expect(answers.filter((each) => each?.isTaken).length).toBe(3);
    expect(answers.find((each) => !each?.isTaken)?.others).toBe(3);
    // A session that has its place already takes no second one.
    const held = answers.findIndex((each) => each?.isTaken);
    expect(await ask(held)).toEqual({ isTaken: true, others: 2 });
    // What a node that is gone had taken is free after its lease.
    await nodes[held % 2]?.close();
    await pause(1_200);
    expect((await ask(held % 2 === 0 ? 21 : 20))?.isTaken).toBe(true);
  });

  test('what each process has used adds up, however often it is said', async () => {
    const url = await server.newSchema();
    const [one, other] = [storeAt(url), storeAt(url)];
    const { day } = await one.cluster.quotas.used();
    for (const tokens of [5, 12, 12, 5])
      await one.cluster.quotas.use(ownerNamed('a'), { day, tokens, cost: tokens / 10 });
    await other.cluster.quotas.use(ownerNamed('b'), { day, tokens: 30, cost: 1 });
    expect(await other.cluster.quotas.used()).toEqual({ day, tokens: 42, cost: 2.2 });
  });

  test('work without a live node is found in its schema, whatever is wrong with another', async () => {
    const url = await server.newDatabase();
    const lease = { validity: 500, renewal: 100 };
    const own = storeAt(url);
    const owner = ownerNamed('lost');
    const node = { address: 'gc.a', labels: [], providers: [] };
    for (const name of ['acme', 'beta', 'gamma']) {
      const store = storeAt(withSchema(url, `x:${name}`), { lease });
      await store.cluster.announce(owner, () => ({ ...node, figures: {} as never }));
      const hasWork = name !== 'beta';
      await store.claim({ sessionId: 's', owner, create: create(name, { hasWork }) });
    }
    expect(await own.cluster.schemasWithOrphans('x:')).toEqual([]);
    await Promise.all(open.slice(1).map((store) => store.close()));
    const { Client } = await import('pg');
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('DROP TABLE "x:gamma".gc_session CASCADE');
    await client.end();
    await expect.poll(() => own.cluster.schemasWithOrphans('x:'), { timeout: 5_000 }).toEqual(['x:acme']);
  });

  test('two nodes that send what waits never have the same message at once', async () => {
    const url = await server.newSchema();
    const [one, other] = [storeAt(url).outbox, storeAt(url).outbox];
    const endpoint = 'https://ops.example/';
    const session = { home: '', sessionId: 's', seq: 0 };
    expect(await one.follow(session, { isNew: true })).toBe(0);
    const messages = Array.from({ length: 60 }, (_, index) => ({ id: `m${index}`, endpoint, body: '{}' }));
    expect(await one.put({ ...session, seq: 9 }, messages, 50)).toBe(10);
    expect(await other.put({ ...session, seq: 4 }, messages.slice(20), 50)).toBe(0);
    expect(await other.follow(session, { isNew: false })).toBe(9);
    const taken = await Promise.all(
      [one, other, one, other].map((outbox) => outbox.take({ endpoint, limit: 20, leaseMs: 400 })),
    );
    const ids = taken.flat().map(({ id }) => id);
    expect(ids.length).toBe(50);
    expect(new Set(ids).size).toBe(50);
    for (const message of taken.flat().slice(1)) await one.settle(message);
    const [left] = taken.flat();
    await expect
      .poll(() => other.take({ endpoint, limit: 20, leaseMs: 60_000 }), { timeout: 5_000 })
      .toEqual([{ ...left, tries: 0 }]);
    if (left) await other.postpone({ ...left, tries: 1 }, 60_000);
    expect(await one.dueIn(endpoint)).toBeGreaterThan(50_000);
    expect(await one.keepOnly([])).toBe(0);
  });

  test('a result that an event says twice takes room once, and tables of an earlier version learn it', async () => {
    const url = await server.newDatabase();
    const { Client } = await import('pg');
    const client = new Client({ connectionString: url });
    await client.connect();
    const connection = await Connection.open(readAddresses(url)[0] as Address, {
      limits: { connect: 5_000, answer: 5_000, lock: 5_000 },
    });
    await migrate(connection, migrationSteps.slice(0, 5));
    await connection.close();
    const store = storeAt(url);
    const owner = ownerNamed('a');
    const texts = [3_000, 20_000, 60_000].map((length) =>
      randomBytes(length).toString('base64').slice(0, length),
    );
    const records = texts.map((content, index) => ({
      ...recordAt(index + 1, 'a'),
      type: 'tool.execution_complete',
      json: JSON.stringify({ data: { result: { content, detailedContent: content } } }),
    }));
    await store.claim({ sessionId: 's', owner, create: { records, head: headWith({}) } });
    expect(await readAll(store, 's')).toEqual(records);
    const { rows } = await client.query(
      'SELECT (SELECT sum(pg_column_size(json)) FROM gc_record) + (SELECT sum(pg_column_size(json)) FROM gc_body) AS bytes',
    );
    const { rows: built } = await client.query(
      `SELECT 'lz4' = ANY(enumvals) AS "hasLz4" FROM pg_settings WHERE name = 'default_toast_compression'`,
    );
    // A server that was built without lz4 goes on with its own compression, which looks back less far.
    const most = built[0].hasLz4 ? 1.1 : 2.1;
    expect(Number(rows[0].bytes)).toBeLessThan(texts.join('').length * most);
    await client.end();
  });

  test('no step needs more than SQL: no procedures, functions, triggers, notifications or advisory locks', () => {
    for (const { sql } of migrationSteps)
      expect(sql).not.toMatch(
        /\$\$|\b(?:DO|FUNCTION|PROCEDURE|TRIGGER|LANGUAGE|NOTIFY|LISTEN|pg_advisory\w*)\b/i,
      );
  });
});
