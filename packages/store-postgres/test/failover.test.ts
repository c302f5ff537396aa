import { findPostgres, openPostgres, type PostgresServer, PostgresStandby } from '@groundcrew/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inspectServers } from '../src/doctor.js';
import { openPostgresStore, type PostgresStore } from '../src/store.js';
import { headWith, ownerNamed, readAll, recordAt } from './data.js';

const source = findPostgres(process.env);
const binaries = typeof source === 'string' ? undefined : source.binaries;
const isFull = process.env.POSTGRES_TESTS === 'full';

const owner = ownerNamed('ada');
const head = headWith();

describe.skipIf(binaries === undefined || !isFull)('a primary and its standby', () => {
  if (binaries === undefined) return;
  let primary: PostgresServer;
  let standby: PostgresStandby;
  const stores: PostgresStore[] = [];
  beforeEach(async () => {
    primary = await openPostgres({ binaries });
    standby = await PostgresStandby.open(primary, { binaries, isSynchronous: false });
  }, 30_000);
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
    await Promise.all([primary.close(), standby.close()]);
  });

  const open = (url: string) => {
    const store = openPostgresStore({ url });
    stores.push(store);
    return store;
  };
  const claim = (store: PostgresStore) =>
    store.claim({ sessionId: 's', owner, create: { records: [], head } });
  const append = (store: PostgresStore, epoch: number, seq: number) =>
    store.append({ sessionId: 's', epoch, expectedSeq: seq, records: [recordAt(seq + 1)], head });
  const textsOf = async (url: string) =>
    (await inspectServers(url)).findings.map(({ type, message }) => `${type}: ${message}`);

  test('is found behind the standby; what was acknowledged is there when the standby has been promoted, and work goes on', async () => {
    await standby.makeSynchronous();
    const store = open(`${standby.url},${primary.url}`);
    const { epoch } = await claim(store);
    for (const seq of [0, 1, 2]) await append(store, epoch, seq);
    await primary.kill();
    const pending = append(store, epoch, 3);
    const began = performance.now();
    await standby.promote();
    await pending;
    expect(performance.now() - began).toBeLessThan(5_000);
    await append(store, epoch, 4);
    expect(await readAll(store, 's')).toEqual([1, 2, 3, 4, 5].map((seq) => recordAt(seq)));
    // The old primary comes back, and does not know that it is none any more.
    await primary.start();
    expect(await textsOf(`${standby.url},${primary.url}`)).toContainEqual(
      expect.stringMatching(/^problem: 2 servers say that they are the primary/),
    );
  }, 60_000);

  test('that is asynchronous: the doctor warns, and after a failover that lost a write the writer is refused, not believed', async () => {
    const both = `${primary.url},${standby.url}`;
    const store = open(both);
    const { epoch } = await claim(store);
    await append(store, epoch, 0);
    expect(await textsOf(both)).toEqual([
      expect.stringMatching(/^note: .* is a standby\.$/),
      expect.stringMatching(/^problem: .* has fsync off/),
      expect.stringMatching(
        /^warning: All standbys are asynchronous \(.*\): a failover to one of them loses/,
      ),
    ]);
    const follows = async () =>
      (await primary.query('SELECT 1 FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()'))
        .length > 0;
    await expect.poll(follows).toBe(true);
    await standby.stopFollowing();
    await append(store, epoch, 1);
    await primary.kill();
    await standby.promote();
    await expect(append(store, epoch, 2)).rejects.toMatchObject({ kind: 'seq_conflict' });
    const again = await store.claim({ sessionId: 's', owner });
    expect([again.seq, again.epoch > epoch]).toEqual([1, true]);
    await append(store, again.epoch, 1);
    expect(await readAll(store, 's')).toEqual([recordAt(1), recordAt(2)]);
  }, 60_000);
});
