import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { LogRecord } from '@groundcrew/store';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { headFor, makeTrialHome, owner, type TrialHome } from '../test/trial-home.js';
import type { SqliteStore } from './store.js';

let home: TrialHome;

beforeEach(() => {
  home = makeTrialHome();
});
afterEach(() => {
  home.close();
});

test('of a deleted session no byte is left, whatever was written and deleted before', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 30 }), async (seed) => {
      home.close();
      home = makeTrialHome();
      const store = home.open();
      const random = numbersFrom(seed);
      const ids = Array.from({ length: 16 }, (_, index) => `s${index}`);
      await fillMixed(store, ids, random);
      for (const id of ids.slice(0, 12)) {
        await store.remove(id);
        await store.erased();
        expect(occurrences(home.directory, markOf(id))).toEqual([]);
      }
      await store.close();
      expect([...(await home.read()).keys()].sort()).toEqual(ids.slice(12).sort());
    }),
    { numRuns: 4, seed: 13 },
  );
});

test('of a deleted session that searches have found no word is left, and the others are found as before', async () => {
  const store = home.open();
  const ids = Array.from({ length: 24 }, (_, index) => `s${index}`);
  const codes = new Map(ids.map((id) => [id, createHash('sha256').update(id).digest('hex')]));
  const codeOf = (id: string) => codes.get(id) ?? '';
  const idIn = /mark of (s\d+)/;
  const textOf = ({ json }: LogRecord) => `${codeOf(idIn.exec(json)?.[1] ?? '')} ${json.slice(0, 4000)}`;
  const find = async (id: string) =>
    (await store.search({ words: codeOf(id), limit: 50, textOf })).map(({ sessionId }) => sessionId);
  const random = numbersFrom(11);
  for (const some of [ids.slice(0, 12), ids.slice(12)]) {
    await fillMixed(store, some, random);
    for (const id of some) expect(await find(id)).toEqual([id]);
  }
  for (const id of ids.slice(0, 18)) {
    // The index keeps only the end of a word that begins as the one before it.
    expect(occurrences(home.directory, codeOf(id).slice(4))).not.toEqual([]);
    await store.remove(id);
    await store.erased();
    expect(occurrences(home.directory, markOf(id))).toEqual([]);
    expect(occurrences(home.directory, codeOf(id).slice(4))).toEqual([]);
  }
  for (const id of ids) expect(await find(id)).toEqual(ids.indexOf(id) < 18 ? [] : [id]);
  await store.close();
});

test('what is deleted gives its space back', async () => {
  const store = home.open();
  await fillMixed(store, ['kept', 'gone'], numbersFrom(5), 400);
  await store.remove('never-there');
  await store.erased();
  const before = statSync(home.file).size;
  await store.remove('gone');
  await store.erased();
  expect(statSync(home.file).size).toBeLessThan(before * 0.7);
  expect(statSync(`${home.file}-wal`).size).toBeLessThan(64 * 1024);
  await store.close();
});

test('a session that a live runtime works in is deleted by no other', async () => {
  const other = { runtimeId: 'runtime-bob', pid: 202, host: 'beta' };
  const one = home.open();
  const two = home.open();
  await one.claim({
    sessionId: 's',
    owner,
    create: { records: mixed('s', 3, numbersFrom(1)), head: { ...headFor([]), hasWork: true } },
  });
  await expect(two.remove('s', other)).rejects.toMatchObject({ kind: 'in_use', owner: { pid: owner.pid } });
  expect((await two.list()).items).toHaveLength(1);
  await one.close();
  expect(await two.remove('s', other)).toBe(true);
  await two.close();
});

test('while another process works in the store, deletion waits for no other process and loses nothing', async () => {
  const one = home.open();
  const two = home.open();
  await fillMixed(one, ['a', 'b'], numbersFrom(9));
  const records = mixed('live', 2, numbersFrom(3));
  const claim = await two.claim({
    sessionId: 'live',
    owner: { ...owner, runtimeId: 'two' },
    create: { records, head: headFor(records) },
  });
  let seq = 2;
  const writing = (async () => {
    for (; seq < 60; seq += 1) {
      const record = {
        seq: seq + 1,
        isPublic: true,
        type: 'x',
        json: JSON.stringify({ text: markOf('live') }),
      };
      await two.append({
        sessionId: 'live',
        epoch: claim.epoch,
        expectedSeq: seq,
        records: [record],
        head: headFor([]),
      });
    }
  })();
  for (const id of ['a', 'b']) {
    await one.remove(id);
    await one.erased();
  }
  await writing;
  await Promise.all([one.close(), two.close()]);
  expect((await home.read()).get('live')).toHaveLength(60);
  expect(occurrences(home.directory, markOf('a'))).toEqual([]);
  expect(occurrences(home.directory, markOf('b'))).toEqual([]);
});

test('a small store that cannot give space back learns it with the first deletion', async () => {
  await home.write(
    new Map([
      ['old', mixed('old', 40, numbersFrom(2))],
      ['kept', mixed('kept', 4, numbersFrom(2))],
    ]),
  );
  home.execute('PRAGMA auto_vacuum = NONE; VACUUM');
  expect(home.query('PRAGMA auto_vacuum')).toEqual({ auto_vacuum: 0 });
  const before = statSync(home.file).size;
  const store = home.open();
  await store.remove('old');
  await store.erased();
  await store.close();
  expect(home.query('PRAGMA auto_vacuum')).toEqual({ auto_vacuum: 2 });
  expect(statSync(home.file).size).toBeLessThan(before);
  expect([...(await home.read()).keys()]).toEqual(['kept']);
});

/** Sessions whose records lie between those of others, on pages and on chains of pages. */
async function fillMixed(
  store: SqliteStore,
  ids: readonly string[],
  random: Numbers,
  rounds = 60,
): Promise<void> {
  const sessions = new Map<string, { epoch: number; seq: number }>();
  for (const sessionId of ids) {
    const records = mixed(sessionId, 1, random);
    const { epoch } = await store.claim({ sessionId, owner, create: { records, head: headFor(records) } });
    sessions.set(sessionId, { epoch, seq: 1 });
  }
  for (let round = 0; round < rounds; round += 1) {
    const appends = [...sessions].map(async ([sessionId, session]) => {
      const [record] = mixed(sessionId, 1, random, session.seq);
      if (!record || random(3) === 0) return;
      const head = { ...headFor([]), summary: markOf(sessionId).repeat(1 + random(40)) };
      const { epoch, seq } = session;
      session.seq += 1;
      await store.append({ sessionId, epoch, expectedSeq: seq, records: [record], head });
    });
    await Promise.all(appends);
  }
}

function mixed(id: string, count: number, random: Numbers, after = 0): readonly LogRecord[] {
  return Array.from({ length: count }, (_, index) => {
    const length = random(40) === 0 ? 7000 : 1 + random(random(8) === 0 ? 900 : 50);
    return {
      seq: after + index + 1,
      isPublic: true,
      type: 'x',
      json: JSON.stringify({ text: markOf(id).repeat(length) }),
    };
  });
}

function markOf(id: string): string {
  return `<mark of ${id}>`;
}

type Numbers = (below: number) => number;

function numbersFrom(seed: number): Numbers {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

/** The files below a directory that have the text in them. */
function occurrences(directory: string, text: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}
