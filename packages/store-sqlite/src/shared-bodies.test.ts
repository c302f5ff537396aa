import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LogRecord, NewRecord } from '@groundcrew/store';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { headFor, makeTrialHome, owner, repair, type TrialHome } from '../test/trial-home.js';
import { isProblem } from './doctor/finding.js';
import { inspectStore } from './doctor/inspect.js';
import { recoverStore } from './doctor/recover.js';
import type { SqliteStore } from './store.js';

let home: TrialHome;
beforeEach(() => {
  home = makeTrialHome();
});
afterEach(() => home.close());

test('a fork takes a small part of what the session takes, and deleting either gives no byte of the other away', async () => {
  const store = home.open();
  const source = said('secret', 600, 8_000);
  await make(store, 'source', source);
  const before = sizeOfStore();
  const forks = ['fork', 'fork-of-fork'];
  await make(store, 'fork', forkOf('source', source));
  await make(store, 'fork-of-fork', forkOf('fork', source));
  expect(before).toBeGreaterThan(4_000_000);
  expect(sizeOfStore() - before).toBeLessThan(before / 10);
  for (const id of forks) expect(await store.size(id)).toBe(0);
  expect(await store.size('source')).toBeGreaterThan(4_000_000);
  await store.remove('source');
  await store.erased();
  for (const id of forks) expect(await read(store, id)).toEqual(source);
  expect(await store.size('fork')).toBeGreaterThan(4_000_000);
  expect(sizeOfStore()).toBeLessThan(before * 1.2);
  await store.remove('fork');
  await store.erased();
  expect(await read(store, 'fork-of-fork')).toEqual(source);
  expect(inspectStore(home).findings.filter(isProblem)).toEqual([]);
  expect(filesWith('secret')).not.toEqual([]);
  await store.remove('fork-of-fork');
  await store.erased();
  expect(filesWith('secret')).toEqual([]);
  await store.close();
});

test('a fork that is deleted leaves its source as it was, and what it shares with others stays with them', async () => {
  const store = home.open();
  const source = said('kept', 40, 70_000);
  await make(store, 'source', source);
  await make(store, 'one', [...forkOf('source', source), ...said('own words', 3, 70_000, 40)]);
  await make(store, 'other', forkOf('source', source));
  await store.remove('one');
  await store.erased();
  expect(filesWith('own words')).toEqual([]);
  expect(await read(store, 'source')).toEqual(source);
  expect(await read(store, 'other')).toEqual(source);
  await store.close();
});

test('a hint that is wrong, or leads nowhere, costs space and no text', async () => {
  const store = home.open();
  await make(store, 'source', said('one thing', 2, 500));
  const other = said('another thing', 2, 500);
  await make(store, 'wrong', forkOf('source', other));
  await make(store, 'nowhere', forkOf('nobody', other));
  expect(await read(store, 'wrong')).toEqual(other);
  expect(await read(store, 'nowhere')).toEqual(other);
  await store.close();
});

test('a record whose shared body is gone is damage, named as such, and others are read', async () => {
  const store = home.open();
  const source = said('kept', 4, 500);
  await make(store, 'source', source);
  await make(store, 'fork', forkOf('source', source));
  await store.close();
  home.execute('DELETE FROM record WHERE session = 1 AND seq = 3');
  const messages = inspectStore(home)
    .findings.filter(isProblem)
    .map(({ message }) => message);
  expect(messages).toContain('Session fork: 2 of 4 records can be read; the body of record 3 is missing.');
});

test('a store whose source was being deleted is recovered with its forks whole', async () => {
  const store = home.open();
  const source = said('shared', 50, 9_000);
  const long = said('shared and long', 2, 80_000, 50);
  const all = [...source, ...long];
  await make(store, 'source', all);
  await make(store, 'fork', forkOf('source', all));
  await make(store, 'other', forkOf('source', all));
  await store.close();
  home.execute("INSERT INTO removed_session (number, id, scrubs) VALUES (1, 'source', 0)");
  home.execute("DELETE FROM session WHERE id = 'source'");
  home.execute("UPDATE session SET head = '{}' WHERE id = 'fork'");
  const recovery = recoverStore({ ...home, repair });
  expect(recovery).toMatchObject({ sessions: 2, cut: [], lost: [], deleted: [{ number: 1 }] });
  expect(Object.fromEntries(await home.read())).toEqual({ fork: all, other: all });
  expect(inspectStore(home).findings.filter(isProblem)).toEqual([]);
});

test('a store with forks that lost a page gives back each session up to its first lost record', async () => {
  const store = home.open();
  const source = said('shared', 12, 3_000);
  await make(store, 'source', source);
  await make(store, 'fork', forkOf('source', source));
  await store.close();
  const bytes = readFileSync(home.file);
  for (let page = 1; page <= bytes.length / 4096; page += 1) {
    writeFileSync(home.file, Buffer.from(bytes).fill(0, (page - 1) * 4096, page * 4096));
    recoverStore({ ...home, repair });
    expect(inspectStore(home).findings.filter(({ type }) => type !== 'note')).toEqual([]);
    for (const records of (await home.read()).values()) {
      const kept = records.filter(({ type }) => type !== 'session.warning');
      expect(kept).toEqual(source.slice(0, kept.length));
    }
  }
});

test('whatever is forked and deleted in whatever order, each session reads as it was written', async () => {
  const step = fc.record({ from: fc.nat(7), cut: fc.nat(20), deletes: fc.boolean(), victim: fc.nat(7) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      home.close();
      home = makeTrialHome();
      const store = home.open();
      const expected = new Map([['s0', said('root', 20, 300)]]);
      await make(store, 's0', expected.get('s0') ?? []);
      for (const [index, { from, cut, deletes, victim }] of steps.entries()) {
        const ids = [...expected.keys()];
        const source = ids[from % ids.length];
        if (source !== undefined) {
          const shared = (expected.get(source) ?? []).slice(0, cut);
          const id = `s${index + 1}`;
          const own = said(`words of ${id}`, 2, 400, shared.length);
          await make(store, id, [...forkOf(source, shared), ...own]);
          expected.set(id, [...shared, ...own]);
        }
        const gone = [...expected.keys()][victim % expected.size];
        if (!deletes || gone === undefined) continue;
        await store.remove(gone);
        expected.delete(gone);
        if (index % 2 === 0) await store.erased();
      }
      await store.erased();
      await store.close();
      expect(new Map(await home.read())).toEqual(expected);
      expect(inspectStore(home).findings.filter(isProblem)).toEqual([]);
      const texts = [...expected.values()].flat().map(({ json }) => json);
      for (let index = 0; index <= steps.length; index += 1) {
        const words = index === 0 ? 'root' : `words of s${index}.`;
        expect(filesWith(words).length > 0).toBe(texts.some((text) => text.includes(words)));
      }
    }),
    { numRuns: 12, seed: 19 },
  );
});

/** Records that say the same words again and again; each is another text. */
function said(words: string, count: number, length: number, after = 0): readonly LogRecord[] {
  return Array.from({ length: count }, (_, index) => {
    const seq = after + index + 1;
    const text = `${seq} ${`${words}. `.repeat(Math.ceil(length / (words.length + 2)))}`;
    return { seq, isPublic: true, type: 'session.info', json: JSON.stringify({ text }) };
  });
}

function forkOf(sessionId: string, records: readonly LogRecord[]): readonly NewRecord[] {
  return records.map((record) => ({ ...record, sameAs: { sessionId, seq: record.seq } }));
}

async function make(store: SqliteStore, sessionId: string, records: readonly NewRecord[]): Promise<void> {
  const head = headFor(records);
  const { epoch } = await store.claim({ sessionId, owner, create: { records, head } });
  await store.release({ sessionId, epoch });
}

async function read(store: SqliteStore, sessionId: string): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const batch of store.read(sessionId)) records.push(...batch);
  return records;
}

function sizeOfStore(): number {
  home.query('PRAGMA wal_checkpoint(TRUNCATE)');
  return statSync(home.file).size;
}

/** The files of the home that have the text in them. */
function filesWith(text: string): readonly string[] {
  return readdirSync(home.directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}
