import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LogRecord, type Owner, type SessionHead, StoreError } from '@groundcrew/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadDriver, type SqliteDatabase } from './driver.js';
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from './store.js';

const ada: Owner = { runtimeId: 'runtime-ada', pid: 101, host: 'alpha' };
const bob: Owner = { runtimeId: 'runtime-bob', pid: 202, host: 'beta' };
const head: SessionHead = {
  createdAt: '2025-01-01T00:00:00.000Z',
  modifiedAt: '2025-01-01T00:00:00.000Z',
  hasWork: false,
  userTurns: 1,
  eventCount: 0,
  snapshotSeq: 0,
  context: { cwd: '/work' },
};

let home: string;
let file: string;
let stores: SqliteStore[];

beforeEach(() => {
  home = join(mkdtempSync(join(tmpdir(), 'groundcrew-store-')), 'home');
  file = join(home, 'sessions.db');
  stores = [];
});
afterEach(async () => {
  for (const store of stores) await store.close();
  rmSync(join(home, '..'), { recursive: true });
});

test('opening, listing and reading make nothing on the disk', async () => {
  const store = open();
  store.warmUp();
  expect(await store.list()).toEqual({ items: [] });
  expect(await readAll(store, 's')).toEqual([]);
  expect(existsSync(home)).toBe(false);
});

test('files and directories are for their owner only', async () => {
  await create(open(), 's');
  const modes = [home, join(home, 'run'), file, `${file}-wal`, join(home, 'run', 'runtime-ada.lock')];
  expect(modes.map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual([
    '700',
    '700',
    '600',
    '600',
    '600',
  ]);
});

test('a closed store is whole in its one file, holds no lock and refuses further work', async () => {
  const store = open();
  await create(store, 's');
  await store.close();
  const copy = join(home, 'copy.db');
  copyFileSync(file, copy);
  expect((await open({ file: copy }).list()).items.map(({ sessionId }) => sessionId)).toEqual(['s']);
  expect(readdirSync(join(home, 'run'))).toEqual([]);
  await expect(store.list()).rejects.toMatchObject({ kind: 'io' });
});

test.each([
  { mode: 'group', commits: 1 },
  { mode: 'strict', commits: 50 },
] as const)(
  'fifty sessions that append in one tick take $commits commits in $mode mode',
  async ({ mode, commits }) => {
    const store = open({ mode });
    const ids = Array.from({ length: 50 }, (_, index) => `s${index}`);
    const claims = await Promise.all(ids.map((id) => create(store, id)));
    const before = store.stats();
    await Promise.all(
      ids.map((sessionId, index) =>
        store.append({
          sessionId,
          epoch: claims[index]?.epoch ?? 0,
          expectedSeq: 0,
          records: records(0, 1),
          head,
        }),
      ),
    );
    const after = store.stats();
    expect([after.commits - before.commits, after.records - before.records]).toEqual([commits, 50]);
  },
);

test('a commit is bounded, and one larger append goes alone', async () => {
  const store = open();
  const { epoch } = await create(store, 's');
  const before = store.stats().commits;
  const append = (expectedSeq: number, count: number) =>
    store.append({ sessionId: 's', epoch, expectedSeq, records: records(expectedSeq, count), head });
  await Promise.all([append(0, 300), append(300, 212), append(512, 1), append(513, 600), append(1113, 1)]);
  expect(store.stats().commits - before).toBe(4);
  expect(await readAll(store, 's')).toEqual(records(0, 1114));
});

test('a lock that stays is reported as busy with the name of who may hold it, and work goes on after', async () => {
  const rival = open();
  await create(rival, 'r', bob);
  const store = open({ busyLimit: 40 });
  const { epoch } = await create(store, 's');
  const blocker = openRaw();
  blocker.exec('BEGIN IMMEDIATE');
  const append = { sessionId: 's', epoch, expectedSeq: 0, records: records(0, 1), head };
  await expect(store.append(append)).rejects.toMatchObject({
    kind: 'busy',
    message: `The session store ${file} was locked by another process (process 202 on beta) for 0 s; nothing was written. Try again.`,
  });
  blocker.exec('ROLLBACK');
  blocker.close();
  await store.append(append);
  expect(await readAll(store, 's')).toEqual(records(0, 1));
});

test('a home emptied under a running store is made anew, and other processes find the new sessions', async () => {
  const store = open();
  const { epoch } = await create(store, 'old');
  rmSync(home, { recursive: true });
  expect(await store.list()).toEqual({ items: [] });
  const append = store.append({ sessionId: 'old', epoch, expectedSeq: 0, records: records(0, 1), head });
  await expect(append).rejects.toMatchObject({ kind: 'unknown_session' });
  await create(store, 'new');
  const { items } = await open().list();
  expect(items.map(({ sessionId, owner }) => [sessionId, owner?.runtimeId])).toEqual([
    ['new', 'runtime-ada'],
  ]);
});

test('a home replaced by another process is noticed by reads and writes', async () => {
  const store = open();
  await create(store, 'old');
  rmSync(home, { recursive: true });
  await create(open(), 'theirs', bob);
  await create(store, 'ours');
  const ids = async (each: SqliteStore) => (await each.list()).items.map(({ sessionId }) => sessionId);
  expect(await ids(store)).toEqual(['theirs', 'ours']);
  expect(await ids(open())).toEqual(['theirs', 'ours']);
});

test('a body over 64 KB is kept once per session', async () => {
  const json = JSON.stringify('x'.repeat(70_000));
  const twice = [1, 2].map((seq) => ({ seq, isPublic: true, type: 'big', json }));
  const store = open();
  await store.claim({ sessionId: 's', owner: ada, create: { records: twice, head } });
  expect(await readAll(store, 's')).toEqual(twice);
  expect(count('blob')).toBe(1);
});

test('a session that is removed when an earlier erasure has just ended is erased before the store is closed', async () => {
  const store = open();
  // A commit of its own: the first look for what is to be erased shares one with the removal, and ends with it.
  const records = [{ seq: 1, isPublic: true, type: 'big', json: JSON.stringify('x'.repeat(2_000_000)) }];
  await store.claim({ sessionId: 's', owner: ada, create: { records, head } });
  await store.remove('s');
  await store.close();
  expect(['session', 'removed_session', 'record', 'blob'].map(count)).toEqual([0, 0, 0, 0]);
});

test('what a removed session leaves is swept in pieces, also by the next process', async () => {
  const inUse = async () => {
    throw new StoreError('busy', 'The files of the session are in use');
  };
  const store = open({ files: { detach: () => undefined, discard: inUse }, onWarning: () => undefined });
  const json = JSON.stringify('x'.repeat(70_000));
  const many = Array.from({ length: 600 }, (_, index) => ({
    seq: index + 1,
    isPublic: true,
    type: 'big',
    json,
  }));
  await store.claim({ sessionId: 's', owner: ada, create: { records: many, head } });
  await store.remove('s');
  await store.close();
  expect([count('session'), count('removed_session')]).toEqual([0, 1]);
  const next = open();
  await create(next, 'other');
  await next.close();
  const last = open();
  await create(last, 'other');
  await last.close();
  expect(['record', 'blob', 'removed_session'].map(count)).toEqual([0, 0, 0]);
});

test('the log is folded into the file once it has grown and the store is idle', async () => {
  const store = open();
  const json = JSON.stringify('x'.repeat(2_000_000));
  const big = [{ seq: 1, isPublic: true, type: 'big', json }];
  await store.claim({ sessionId: 's', owner: ada, create: { records: big, head } });
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(1_000_000);
  await expect.poll(() => statSync(file).size).toBeGreaterThan(1_000_000);
  expect(await readAll(store, 's')).toEqual(big);
});

function open(options: Partial<SqliteStoreOptions> = {}): SqliteStore {
  const store = openSqliteStore({ file, runDirectory: join(home, 'run'), ...options });
  stores.push(store);
  return store;
}

function openRaw(): SqliteDatabase {
  return new (loadDriver().DatabaseSync)(file);
}

function count(table: string): number {
  const database = openRaw();
  const row = database.prepare(`SELECT count(*) AS rows FROM ${table}`).get() as { rows: number };
  database.close();
  return row.rows;
}

function create(store: SqliteStore, sessionId: string, owner = ada) {
  return store.claim({ sessionId, owner, create: { records: [], head } });
}

function records(after: number, length: number): LogRecord[] {
  return Array.from({ length }, (_, index) => {
    const seq = after + 1 + index;
    return { seq, isPublic: true, type: 'test.record', json: JSON.stringify({ seq }) };
  });
}

async function readAll(store: SqliteStore, sessionId: string): Promise<LogRecord[]> {
  const all: LogRecord[] = [];
  for await (const batch of store.read(sessionId)) all.push(...batch);
  return all;
}
