import { expect, test } from 'vitest';
import { type CopyProgress, copySessions } from './copy-sessions.js';
import { memoryStore } from './memory.js';
import type { LogRecord, SessionHead, SessionStore } from './session-store.js';

const owner = { runtimeId: 'copier', pid: 1, host: 'here' };
const other = { runtimeId: 'runtime', pid: 2, host: 'here' };

function headOf(changes: Partial<SessionHead> = {}): SessionHead {
  const time = '2025-01-01T00:00:00.000Z';
  const counts = { userTurns: 1, eventCount: 0, snapshotSeq: 0 };
  return { createdAt: time, modifiedAt: time, hasWork: false, ...counts, context: { cwd: '/' }, ...changes };
}

function recordsOf(count: number, body = 'x'): LogRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    seq: index + 1,
    isPublic: true,
    type: 'test',
    json: JSON.stringify({ index, body }),
  }));
}

async function filled(sizes: Readonly<Record<string, number>>): Promise<SessionStore> {
  const store = memoryStore();
  for (const [sessionId, size] of Object.entries(sizes)) {
    const create = { records: recordsOf(size), head: headOf({ name: sessionId }) };
    const { epoch } = await store.claim({ sessionId, owner: other, create });
    await store.release({ sessionId, epoch });
  }
  return store;
}

async function contentsOf(store: SessionStore) {
  const { items } = await store.list({ includeEmpty: true });
  const sessions = items.map(async ({ sessionId, head, seq }) => {
    const records: LogRecord[] = [];
    for await (const batch of store.read(sessionId)) records.push(...batch);
    return { sessionId, head, seq, records };
  });
  return Promise.all(sessions);
}

/** A store that fails at its n-th write, as if the process had been killed there. */
function failingAt(store: SessionStore, step: number): SessionStore {
  let steps = 0;
  const count = () => {
    steps += 1;
    if (steps >= step) throw new Error('killed');
  };
  return {
    ...store,
    claim: async (request) => {
      count();
      return store.claim(request);
    },
    append: async (request) => {
      count();
      return store.append(request);
    },
    release: async (request) => store.release(request),
    read: (sessionId, after) => store.read(sessionId, after),
    list: (query) => store.list(query),
    remove: (sessionId, by) => store.remove(sessionId, by),
    erased: () => store.erased(),
  };
}

test('a copy that is broken off at any write goes on when it is called again, and comes to the same', async () => {
  const from = await filled({ long: 700, short: 3, empty: 0 });
  const expected = await contentsOf(from);
  let breaks = 0;
  for (let step = 1; step <= 12; step += 1) {
    const to = memoryStore();
    const options = { from, owner, onProgress: () => undefined };
    await copySessions({ ...options, to: failingAt(to, step) }).catch(() => {
      breaks += 1;
    });
    const listed = (await to.list()).items.map(({ sessionId, seq }) => [sessionId, seq]);
    for (const [sessionId, seq] of listed)
      expect(expected.find((session) => session.sessionId === sessionId)?.seq).toBe(seq);
    const { copied, alreadyThere, leftOut, records } = await copySessions({ ...options, to });
    expect([copied + alreadyThere, leftOut, records]).toEqual([3, 0, 703]);
    expect(await contentsOf(to)).toEqual(expected);
  }
  expect(breaks).toBeGreaterThan(8);
});

test('sessions in use, and those that went on differently, are left out with the reason', async () => {
  const from = await filled({ same: 2, busy: 1, changed: 2, longer: 2 });
  await from.claim({ sessionId: 'busy', owner: other });
  const { epoch } = await from.claim({ sessionId: 'busy', owner: other });
  await from.append({
    sessionId: 'busy',
    epoch,
    expectedSeq: 1,
    records: [],
    head: headOf({ hasWork: true }),
  });
  const to = memoryStore();
  const create = (sessionId: string, records: readonly LogRecord[]) =>
    to.claim({ sessionId, owner, create: { records, head: headOf() } });
  await create('changed', recordsOf(2, 'y'));
  await create('longer', recordsOf(3));
  const progress: CopyProgress[] = [];
  await copySessions({ from, to, owner, onProgress: (each) => progress.push(each) });
  const outcomes = progress.map(
    ({ sessionId, outcome, reason = '' }) => `${sessionId}: ${outcome} ${reason}`,
  );
  expect(outcomes.sort()).toEqual([
    expect.stringMatching(/^busy: left out Session busy is in use by process 2/),
    'changed: left out it has other records in the store it would be copied to',
    'longer: left out it has more records in the store it would be copied to',
    'same: copied ',
  ]);
});
