import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LogRecord } from '@groundcrew/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadDriver, type SqliteDatabase } from './driver.js';
import { migrate } from './migrate.js';
import { migrationSteps } from './schema.js';
import { openSqliteStore } from './store.js';

const fixtureOf = (version: number) =>
  fileURLToPath(new URL(`../fixtures/version-${version}.db`, import.meta.url));
const owner = { runtimeId: 'runtime-ada', pid: 101, host: 'alpha' };

let home: string;
let file: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'groundcrew-migrate-'));
  file = join(home, 'sessions.db');
  copyFileSync(fixtureOf(1), file);
});
afterEach(() => rmSync(home, { recursive: true }));

const head = {
  createdAt: '2025-01-01T00:00:00.000Z',
  modifiedAt: '2025-01-02T00:00:00.000Z',
  hasWork: true,
  userTurns: 1,
  eventCount: 1,
  snapshotSeq: 0,
  name: 'First',
  context: { cwd: '/work', branch: 'main' },
};

test('an index with older words is made anew by the next search', async () => {
  const database = openRaw();
  migrate(database, { file, steps: migrationSteps.slice(0, 5) });
  database.exec(`
    CREATE TABLE passage (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
    CREATE VIRTUAL TABLE passage_text USING fts5(
      text, content='passage', content_rowid='id', tokenize='unicode61 remove_diacritics 2');
    INSERT INTO passage SELECT (number << 32) | 1, '明日の会議' FROM session;
    INSERT INTO passage_text (rowid, text) SELECT id, text FROM passage;
    INSERT INTO searched SELECT number, seq FROM session;
  `);
  database.close();
  const store = open();
  const textOf = ({ seq }: LogRecord) => (seq === 1 ? '明日の会議' : undefined);
  expect(await store.search({ words: '会議', limit: 10, textOf })).toEqual([
    { sessionId: 'first', seq: 1, text: '明日の会議' },
  ]);
  await store.close();
});

test.each([1, 2, 3])('a store of version %i opens with all it holds', async (version) => {
  copyFileSync(fixtureOf(version), file);
  const store = open();
  expect(await store.list()).toEqual({ items: [{ sessionId: 'first', seq: 2, head }] });
  const records: LogRecord[] = [];
  for await (const batch of store.read('first')) records.push(...batch);
  expect(records).toEqual([
    { seq: 1, isPublic: true, type: 'user.message', json: '{"text":"Hello"}' },
    { seq: 2, isPublic: false, type: 'snapshot', json: JSON.stringify('x'.repeat(65_537)) },
  ]);
  expect(await store.claim({ sessionId: 'first', owner })).toMatchObject({ seq: 2, head, isNew: false });
  await store.close();
});

test('a step to a later version runs once and keeps what is there', () => {
  const steps = [...migrationSteps, 'ALTER TABLE session ADD COLUMN colour TEXT'];
  const database = openRaw();
  migrate(database, { file, steps });
  migrate(database, { file, steps });
  expect(database.prepare('SELECT id, colour FROM session').all()).toEqual([{ id: 'first', colour: null }]);
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: steps.length });
  database.close();
});

test('a step that fails leaves the version before it untouched', () => {
  const steps = [...migrationSteps, 'CREATE TABLE colour (name TEXT); SELECT nonsense'];
  const database = openRaw();
  expect(() => migrate(database, { file, steps })).toThrow('nonsense');
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1 });
  expect(database.prepare("SELECT name FROM sqlite_schema WHERE name = 'colour'").all()).toEqual([]);
  database.close();
});

test('a store of a newer version is refused and not touched', async () => {
  setVersion(99);
  const before = readFileSync(file);
  const store = open();
  const refusal = {
    kind: 'newer_schema',
    message: `The session store ${file} has version 99, and this Groundcrew knows versions up to ${migrationSteps.length}. Update Groundcrew to open it.`,
  };
  await expect(store.list()).rejects.toMatchObject(refusal);
  await expect(store.claim({ sessionId: 'first', owner })).rejects.toMatchObject(refusal);
  await store.close();
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('a store that is migrated to a newer version while open is refused from then on', async () => {
  const store = open();
  const { epoch } = await store.claim({ sessionId: 'first', owner });
  setVersion(99);
  const append = store.append({ sessionId: 'first', epoch, expectedSeq: 2, records: [], head });
  await expect(append).rejects.toMatchObject({ kind: 'newer_schema' });
  await expect(store.list()).rejects.toMatchObject({ kind: 'newer_schema' });
  await store.close();
});

test('a file that is no database, or not ours, is reported as damaged and kept', async () => {
  writeFileSync(file, 'not a database, but somebody wants to keep it'.repeat(100));
  const store = open();
  const message = `The session store ${file} is damaged (file is not a database). Run \`groundcrew doctor\`.`;
  await expect(store.list()).rejects.toMatchObject({ kind: 'damaged', message });
  await expect(store.claim({ sessionId: 's', owner })).rejects.toMatchObject({ kind: 'damaged', message });
  await store.close();
  rmSync(file);
  const foreign = openRaw();
  foreign.exec('CREATE TABLE theirs (name TEXT)');
  foreign.close();
  const other = open();
  await expect(other.list()).rejects.toMatchObject({ kind: 'damaged' });
  await other.close();
});

test.each([
  {
    damage: 'UPDATE record SET json = \'{"text":"Hellp"}\' WHERE seq = 1',
    detail: 'record 1 is not what was written',
    readable: [],
  },
  { damage: 'DELETE FROM blob', detail: 'the body of record 2 is missing', readable: [1] },
  { damage: 'DELETE FROM record WHERE seq = 1', detail: 'record 1 is missing', readable: [] },
  { damage: 'DELETE FROM record WHERE seq = 2', detail: 'record 2 is missing', readable: [1] },
])(
  'damage is reported once what lies before it has been read: $detail',
  async ({ damage, detail, readable }) => {
    const database = openRaw();
    database.exec(damage);
    database.close();
    const store = open();
    const message = `The session store ${file} is damaged (${detail}). Run \`groundcrew doctor\`.`;
    const seqs: number[] = [];
    const reading = async () => {
      for await (const batch of store.read('first')) seqs.push(...batch.map(({ seq }) => seq));
    };
    await expect(reading()).rejects.toMatchObject({ kind: 'damaged', message });
    expect(seqs).toEqual(readable);
    await store.close();
  },
);

function open() {
  return openSqliteStore({ file, runDirectory: join(home, 'run') });
}

function openRaw(): SqliteDatabase {
  return new (loadDriver().DatabaseSync)(file);
}

function setVersion(version: number): void {
  const database = openRaw();
  database.exec(`PRAGMA user_version = ${version}`);
  database.close();
}
