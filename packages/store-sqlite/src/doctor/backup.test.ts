import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { headFor, type Logs, makeLog, makeTrialHome, owner, type TrialHome } from '../../test/trial-home.js';
import { BackupRefused, backupStore } from './backup.js';

const logs: Logs = new Map([
  ['first', makeLog('first', 6)],
  ['second', makeLog('second', 25)],
]);

let home: TrialHome;
let elsewhere: TrialHome;
beforeEach(() => {
  home = makeTrialHome();
  elsewhere = makeTrialHome();
});
afterEach(() => {
  home.close();
  elsewhere.close();
});

test('a store in use is copied whole into one private file, and goes on', async () => {
  const store = home.open();
  for (const [sessionId, records] of logs)
    await store.claim({ sessionId, owner, create: { records, head: headFor(records) } });
  expect(backup()).toEqual({ version: 6, sessions: 2, records: 31 });
  const later = makeLog('later', 3);
  await store.claim({ sessionId: 'later', owner, create: { records: later, head: headFor(later) } });
  await store.close();
  expect((statSync(elsewhere.file).mode & 0o777).toString(8)).toBe('600');
  expect(readdirSync(elsewhere.directory)).toEqual(['groundcrew.db']);
  expect(await elsewhere.read()).toEqual(logs);
  expect([...(await home.read()).keys()].sort()).toEqual(['first', 'later', 'second']);
});

test('a file that is there is replaced only by option', async () => {
  await home.write(logs);
  writeFileSync(elsewhere.file, 'precious');
  expect(backup).toThrow(new BackupRefused(`${elsewhere.file} is there already; --force replaces it`));
  expect(readFileSync(elsewhere.file, 'utf8')).toBe('precious');
  expect(backup({ overwrite: true }).sessions).toBe(2);
  expect(await elsewhere.read()).toEqual(logs);
});

test('neither the store itself nor a database with a log is replaced, whatever the options', async () => {
  await home.write(logs);
  copyFileSync(home.file, elsewhere.file);
  writeFileSync(`${elsewhere.file}-wal`, '');
  expect(() => backup({ overwrite: true })).toThrow(
    new BackupRefused(`${elsewhere.file} is a database in use`),
  );
  expect(() => backup({ target: home.file, overwrite: true })).toThrow(
    new BackupRefused(`${home.file} is the session store itself`),
  );
});

test('a damaged store is not copied, and nothing is left of the attempt', async () => {
  await home.write(logs);
  home.execute('DELETE FROM record WHERE session = 1 AND seq = 3');
  expect(backup).toThrow(
    `The session store ${home.file} is damaged (Session first: 2 of 6 records can be read; record 3 is missing). Run \`groundcrew doctor\`.`,
  );
  expect(readdirSync(elsewhere.directory)).toEqual([]);
});

test('a place where nothing can be written is named in the error', async () => {
  await home.write(logs);
  const target = join(elsewhere.directory, 'no', 'such', 'place');
  expect(() => backup({ target })).toThrow(target);
  expect(existsSync(target)).toBe(false);
});

function backup(options: { readonly target?: string; readonly overwrite?: boolean } = {}) {
  return backupStore({ file: home.file, target: elsewhere.file, ...options });
}
