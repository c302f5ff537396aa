import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { headFor, type Logs, makeLog, makeTrialHome, owner, type TrialHome } from '../../test/trial-home.js';
import { isProblem } from './finding.js';
import { inspectStore } from './inspect.js';
import { tidyFiles } from './inspect-files.js';

const logs: Logs = new Map([
  ['first', makeLog('first', 6)],
  ['second', makeLog('second', 25)],
]);
const contents = { version: 6, sessions: 2, records: 31 };

let home: TrialHome;
beforeEach(() => {
  home = makeTrialHome();
});
afterEach(() => home.close());

test('a home without a store has no problem', () => {
  expect(inspectStore(home)).toEqual({
    findings: [{ type: 'note', message: `There is no store at ${home.file} yet.` }],
  });
});

test('a sound store, in use or not, is reported as sound and left as it is', async () => {
  await home.write(logs);
  const before = readFileSync(home.file);
  expect(inspectStore(home)).toEqual({ contents, findings: [] });
  expect(readFileSync(home.file).equals(before)).toBe(true);
  const store = home.open();
  const records = makeLog('third', 3);
  await store.claim({ sessionId: 'third', owner, create: { records, head: headFor(records) } });
  expect(inspectStore(home)).toEqual({
    contents: { version: 6, sessions: 3, records: 34 },
    findings: [{ type: 'note', message: 'In use by one runtime.' }],
  });
  await store.close();
});

test.each([
  {
    sql: "UPDATE record SET json = '{}' WHERE session = 1 AND seq = 4",
    message: 'Session first: 3 of 6 records can be read; record 4 is not what was written.',
  },
  {
    sql: 'DELETE FROM record WHERE session = 1 AND seq = 3',
    message: 'Session first: 2 of 6 records can be read; record 3 is missing.',
  },
  {
    sql: 'DELETE FROM record WHERE session = 1 AND seq > 4',
    message: 'Session first: 4 of 6 records can be read; record 5 is missing.',
  },
  {
    sql: 'DELETE FROM blob',
    message: 'Session second: 22 of 25 records can be read; the body of record 23 is missing.',
  },
  {
    sql: "UPDATE blob SET json = 'other'",
    message: 'Session second: 22 of 25 records can be read; record 23 is not what was written.',
  },
  {
    sql: 'UPDATE session SET seq = 5 WHERE number = 1',
    message: 'Session first: its log has 6 records, and should end at 5.',
  },
  {
    sql: "UPDATE session SET head = json_set(head, '$.eventCount', 9) WHERE number = 1",
    message: 'Session first: its head counts 9 events, its log has 5.',
  },
  {
    sql: "UPDATE session SET head = json_set(head, '$.snapshotSeq', 2) WHERE number = 1",
    message: 'Session first: its head knows a snapshot at 2, its log has one at 0.',
  },
  { sql: 'DELETE FROM session WHERE number = 1', message: '6 records belong to no session.' },
  {
    sql: "INSERT INTO blob (session, hash, json) VALUES (1, x'00', '{}')",
    message: '1 bodies belong to no record.',
  },
])('damage is described: $message', async ({ sql, message }) => {
  await home.write(logs);
  home.execute(sql);
  expect(inspectStore(home).findings).toEqual([{ type: 'damaged', message: message }]);
});

test('a page that SQLite cannot read is reported by SQLite and for every session it belongs to', async () => {
  await home.write(logs);
  const page = home.query<{ rootpage: number }>("SELECT rootpage FROM sqlite_schema WHERE name = 'record'");
  const start = ((page?.rootpage ?? 0) - 1) * 4096;
  writeFileSync(home.file, readFileSync(home.file).fill(0, start, start + 4096));
  const reason = 'database disk image is malformed';
  expect(inspectStore(home).findings.map(({ message }) => message)).toEqual([
    expect.stringMatching(/: \*\*\* in database main \*\*\* Tree /),
    `Session first: 0 of 6 records can be read; ${reason}.`,
    `Session second: 0 of 25 records can be read; ${reason}.`,
    `${home.file} cannot be read: ${reason}.`,
  ]);
});

test.each([
  {
    what: 'no database',
    bytes: 'not a database, but somebody wants to keep it'.repeat(100),
    message: (file: string) => `${file} cannot be read: file is not a database.`,
  },
  {
    what: 'empty',
    bytes: '',
    message: (file: string) =>
      `${file} is empty: it holds no session. If there were any, put a backup in its place; otherwise the next start makes a new store of it.`,
  },
])('a file that is $what is reported as such', ({ bytes, message }) => {
  writeFileSync(home.file, bytes, { mode: 0o600 });
  expect(inspectStore(home).findings.map(({ message }) => message)).toEqual([message(home.file)]);
});

test.each([
  { sql: 'PRAGMA user_version = 99', type: 'newer' },
  { sql: 'PRAGMA application_id = 1', type: 'damaged' },
  { sql: 'DROP TABLE session', type: 'foreign' },
])('after $sql the store is reported as $type', async ({ sql, type }) => {
  await home.write(logs);
  home.execute(sql);
  expect(
    inspectStore(home)
      .findings.filter(isProblem)
      .map((finding) => finding.type),
  ).toEqual([type]);
});

test.skipIf(process.platform === 'win32')(
  'what others may read and what dead processes left is reported, and tidied away',
  async () => {
    await home.write(logs);
    chmodSync(home.file, 0o644);
    chmodSync(home.directory, 0o777);
    writeFileSync(join(home.runDirectory, 'runtime-dead.lock'), '', { mode: 0o600 });
    writeFileSync(`${home.file}.recovering`, 'half', { mode: 0o600 });
    expect(inspectStore(home).findings).toEqual([
      { type: 'exposed', message: `${home.directory} is open to other users (mode 777).` },
      { type: 'exposed', message: `${home.file} is open to other users (mode 644).` },
      { type: 'leftover', message: 'Processes that have ended left one lock file.' },
      { type: 'leftover', message: `A recovery that was broken off left ${home.file}.recovering.` },
    ]);
    // The files that SQLite makes beside a store have the mode of the store.
    expect(tidyFiles(home).filter((line) => !/-(wal|shm) /.test(line))).toEqual([
      `Closed ${home.directory} to other users.`,
      `Closed ${home.file} to other users.`,
      'Removed one lock file of processes that have ended.',
      `Removed ${home.file}.recovering.`,
    ]);
    expect(inspectStore(home).findings).toEqual([]);
    expect([home.directory, home.file].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual([
      '755',
      '600',
    ]);
  },
);

test('a lock file of a live runtime is left alone', async () => {
  const store = home.open();
  await store.claim({ sessionId: 's', owner, create: { records: [], head: headFor([]) } });
  expect(tidyFiles(home)).toEqual([]);
  rmSync(join(home.runDirectory, 'runtime-ada.lock'));
  await store.close();
});
