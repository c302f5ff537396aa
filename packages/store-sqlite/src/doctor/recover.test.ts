import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  headFor,
  type Logs,
  makeLog,
  makeTrialHome,
  owner,
  repair,
  type TrialHome,
} from '../../test/trial-home.js';
import { recoveryCopies } from '../recovery-copies.js';
import { isProblem } from './finding.js';
import { inspectStore } from './inspect.js';
import { type Recovery, recoverStore } from './recover.js';

const pageSize = 4096;
const logs: Logs = new Map([
  ['first', makeLog('first', 15)],
  ['second', makeLog('second', 40)],
  ['third', makeLog('third', 10)],
]);

let home: TrialHome;
beforeEach(() => {
  home = makeTrialHome();
});
afterEach(() => home.close());

test('a store with a page of zeros, whichever it is, gives back each session up to its first lost record', async () => {
  await home.write(logs);
  const bytes = readFileSync(home.file);
  const pages = bytes.length / pageSize;
  let whole = 0;
  for (let page = 1; page <= pages; page += 1) {
    writeFileSync(home.file, Buffer.from(bytes).fill(0, (page - 1) * pageSize, page * pageSize));
    const recovery = recover();
    expect(inspectStore(home).findings.filter(({ type }) => type !== 'note')).toEqual([]);
    expect(outcome(await home.read())).toEqual(expectedOutcome(recovery));
    if (recovery.cut.length + recovery.lost.length === 0) whole += 1;
  }
  expect(pages).toBeGreaterThan(50);
  // The first page, inner pages of tables and all pages of indexes are not needed.
  expect(whole).toBeGreaterThan(4);
});

test.each([17, 1111, 2222, 4095])(
  'a flipped bit at byte %i of a page never lets a wrong record through',
  async (offset) => {
    await home.write(logs);
    const bytes = readFileSync(home.file);
    for (let start = 0; start < bytes.length; start += 5 * pageSize) {
      const damaged = Buffer.from(bytes);
      damaged.writeUInt8(damaged.readUInt8(start + offset) ^ 0x20, start + offset);
      writeFileSync(home.file, damaged);
      const recovery = recover();
      expect(inspectStore(home).findings.filter(({ type }) => type !== 'note')).toEqual([]);
      expect(outcome(await home.read())).toEqual(expectedOutcome(recovery));
    }
  },
);

test('a store that was cut off gives back what lies before the cut', async () => {
  await home.write(logs);
  truncateSync(home.file, Math.floor(statSync(home.file).size / 2) + 100);
  const recovery = recover();
  expect(recovery.cut.length + recovery.lost.length).toBeGreaterThan(0);
  expect(recovery.records).toBeGreaterThan(0);
  expect(outcome(await home.read())).toEqual(expectedOutcome(recovery));
});

test('a session with damage in the middle keeps what came before and goes on from its mended end', async () => {
  await home.write(logs);
  home.execute("UPDATE record SET json = '{}' WHERE session = 1 AND seq = 9");
  const { keptAs: _, ...recovery } = recover();
  expect(recovery).toEqual({
    sessions: 3,
    records: 58,
    cut: [{ sessionId: 'first', kept: 8, of: 15 }],
    holed: [],
    lost: [],
    deleted: [],
  });
  const found = await home.read();
  expect(found.get('first')?.slice(0, 8)).toEqual(logs.get('first')?.slice(0, 8));
  expect(JSON.parse(found.get('first')?.at(8)?.json ?? '')).toMatchObject({ data: { lost: 7 } });
  const store = home.open();
  const claim = await store.claim({ sessionId: 'first', owner });
  expect(claim).toMatchObject({ seq: 9, head: { eventCount: 8 } });
  await store.close();
});

test('a wrong head is made anew from the log, and nothing is added to the session', async () => {
  await home.write(logs);
  home.execute("UPDATE session SET head = '{}' WHERE id = 'second'");
  expect(recover()).toMatchObject({ sessions: 3, cut: [], lost: [] });
  expect(await home.read()).toEqual(logs);
});

test('a log damaged in the middle gives back the commits behind the damage, which SQLite does not see', async () => {
  const store = home.open();
  for (const [sessionId, records] of logs)
    await store.claim({ sessionId, owner, create: { records, head: headFor(records) } });
  await home.kill(store);
  const log = readFileSync(`${home.file}-wal`);
  log.writeUInt8(log.readUInt8(32 + 24 + 100) ^ 1, 32 + 24 + 100);
  writeFileSync(`${home.file}-wal`, log);
  const before = readFileSync(home.file);
  expect(inspectStore(home).findings.filter(isProblem)).toEqual([
    {
      type: 'damaged',
      message: `${home.file}-wal is damaged at byte 32; 4 commits from there on cannot be seen.`,
    },
  ]);
  // A runtime that opened it would write over what is behind the damage.
  const tempted = home.open();
  const refusal = {
    kind: 'damaged',
    message: `The session store ${home.file} is damaged (${home.file}-wal is damaged at byte 32; 4 commits from there on cannot be seen). Run \`groundcrew doctor\`.`,
  };
  await expect(tempted.list()).rejects.toMatchObject(refusal);
  await expect(tempted.claim({ sessionId: 'first', owner })).rejects.toMatchObject(refusal);
  await tempted.close();
  const { keptAs = '', ...recovery } = recover();
  expect(recovery).toEqual({ sessions: 3, records: 65, cut: [], holed: [], lost: [], deleted: [] });
  expect(existsSync(`${home.file}-wal`)).toBe(false);
  expect(readFileSync(keptAs).equals(before)).toBe(true);
  expect(readFileSync(`${keptAs}-wal`).equals(log)).toBe(true);
  expect([home.file, keptAs].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual([
    '600',
    '600',
  ]);
  expect(await home.read()).toEqual(logs);
});

test.each([
  ['records before its newest snapshot', [5, 6, 9]],
  ['nothing but its newest snapshot', [30]],
])('a session that lost %s is kept whole but for that', async (_, missing) => {
  const records = makeLog('second', 40).map((record) =>
    record.seq === 30 ? { ...record, isPublic: false, type: 'snapshot' } : record,
  );
  const store = home.open();
  const head = { ...headFor(records), snapshotSeq: 30 };
  await store.claim({ sessionId: 'second', owner, create: { records, head } });
  await store.close();
  home.execute(`UPDATE record SET checksum = 0 WHERE seq IN (${missing.join()})`);
  const message = `Session second: record ${missing.length > 1 ? '5–6, 9' : 30} cannot be read; the rest is whole, and the session goes on without.`;
  expect(inspectStore(home).findings.filter(isProblem)).toEqual([{ type: 'damaged', message }]);
  expect(recover()).toMatchObject({
    sessions: 1,
    records: 40 - missing.length,
    cut: [],
    holed: [{ sessionId: 'second', missing }],
    lost: [],
    deleted: [],
  });
  expect(inspectStore(home).findings).toContainEqual({ type: 'note', message });
  const kept = home.query<{ seqs: string }>('SELECT group_concat(seq) AS seqs FROM record ORDER BY seq');
  expect(kept?.seqs.split(',').map(Number)).toEqual(
    records.map(({ seq }) => seq).filter((seq) => !missing.includes(seq)),
  );
});

test('a store that was searched gives back every session, for rows of the index are no deletions', async () => {
  await home.write(logs);
  const store = home.open();
  await store.search({ words: 'first', limit: 5, textOf: ({ json }) => json.slice(0, 2000) });
  await store.close();
  home.execute("UPDATE session SET head = '{}' WHERE id = 'second'");
  expect(recover()).toMatchObject({ sessions: 3, cut: [], lost: [], deleted: [] });
  expect(await home.read()).toEqual(logs);
});

test('who wrote in the old store is refused by the new one', async () => {
  const store = home.open();
  const [records = []] = logs.values();
  const head = headFor(records);
  const { epoch } = await store.claim({ sessionId: 's', owner, create: { records, head } });
  await store.close();
  home.execute("UPDATE session SET head = '{}'");
  recover();
  const next = home.open();
  const append = next.append({ sessionId: 's', epoch, expectedSeq: records.length, records: [], head });
  await expect(append).rejects.toMatchObject({ kind: 'stale_owner' });
  await next.close();
});

test('a file in which there is no session is left alone', () => {
  writeFileSync(home.file, 'somebody wants to keep this '.repeat(500));
  const before = readFileSync(home.file);
  expect(recover).toThrow(
    `Nothing in ${home.file} looks like a session, so it was left alone. Move it away to begin anew.`,
  );
  expect(readdirSync(home.directory)).toEqual(['groundcrew.db']);
  expect(readFileSync(home.file).equals(before)).toBe(true);
});

test('a store in use is not recovered', async () => {
  const store = home.open();
  await store.claim({ sessionId: 's', owner, create: { records: [], head: headFor([]) } });
  expect(recover).toThrow(`A runtime uses the session store ${home.file}. Stop it and try again.`);
  await store.close();
});

function recover(): Recovery {
  return recoverStore({ ...home, repair });
}

/** How many records each session kept, all of them as they were written, whether or not it was marked as cut. */
function outcome(found: Logs): Record<string, string> {
  return Object.fromEntries(
    [...found].map(([sessionId, records]) => {
      const isMarked = records.at(-1)?.type === 'session.warning';
      const kept = isMarked ? records.slice(0, -1) : records;
      expect(kept).toEqual(logs.get(sessionId)?.slice(0, kept.length));
      return [sessionId, `${kept.length}${isMarked ? ', marked' : ''}`];
    }),
  );
}

function expectedOutcome({ cut, lost }: Recovery): Record<string, string> {
  const whole = [...logs].map(([sessionId, records]): [string, string] => [sessionId, `${records.length}`]);
  const marked = cut.map(({ sessionId, kept }): [string, string] => [sessionId, `${kept}, marked`]);
  const all = Object.fromEntries([...whole, ...marked]);
  return Object.fromEntries(Object.entries(all).filter(([sessionId]) => !lost.includes(sessionId)));
}

test('the copy of a damaged store goes with the first session that is deleted and may be in it', async () => {
  await home.write(logs);
  home.execute("UPDATE record SET json = '{}' WHERE session = 1 AND seq = 9");
  const { keptAs = '' } = recover();
  const store = home.open();
  const [records = []] = logs.values();
  await store.claim({ sessionId: 'later', owner, create: { records, head: headFor(records) } });
  await store.remove('later');
  await store.erased();
  expect(recoveryCopies(home.file)).toEqual([keptAs]);
  await store.remove('second');
  await store.erased();
  expect(recoveryCopies(home.file)).toEqual([]);
  expect(readdirSync(home.directory).filter((name) => name.includes('damaged'))).toEqual([]);
  await store.close();
});

test('a copy that does not say what is in it goes with any session', async () => {
  await home.write(logs);
  for (const suffix of ['', '-wal'])
    writeFileSync(`${home.file}.damaged-2026-01-02T03-04-05-678Z${suffix}`, 'words');
  const store = home.open();
  await store.remove('second');
  await store.erased();
  expect(recoveryCopies(home.file)).toEqual([]);
  await store.close();
});
