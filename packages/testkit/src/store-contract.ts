import type { LogRecord, Owner, SessionQuery, SessionStore } from '@groundcrew/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ada, appendOf, bob, create, heads, makeHead, makeRecords, readAll } from './store-contract-data.js';
import { searchTests } from './store-contract-search.js';

/** One body of data and the runtimes that share it. */
export interface StoreWorld {
  /** The store as the process of this owner has it. */
  open(owner: Owner): SessionStore;
  /** Ends the owner's process: it releases nothing. */
  kill(owner: Owner): Promise<void>;
  /** Ends everything and leaves nothing behind. */
  close(): Promise<void>;
}

/** What every SessionStore must keep; `makeWorld` gives each test data of its own. */
export function storeContract(name: string, makeWorld: () => StoreWorld | Promise<StoreWorld>): void {
  describe(`${name} as a session store`, () => {
    let world: StoreWorld;
    let store: SessionStore;

    beforeEach(async () => {
      world = await makeWorld();
      store = world.open(ada);
    });
    afterEach(() => world.close());

    readingTests(() => store);
    refusalTests(() => store);
    orderTests(
      () => store,
      () => ({ world, store }),
    );
    claimTests(() => store);
    rivalTests(() => ({ world, store }));
    removalByOthersTests(() => ({ world, store }));
    headTests(() => ({ world, store }));
    listTests(() => store);
    bodyTests(() => store);
    searchTests(() => store);
  });
}

function readingTests(current: () => SessionStore): void {
  test('a new session holds the records of its making and is claimed in the same step', async () => {
    const records = makeRecords(0, 3);
    const claim = await create(current(), 's', { records });
    expect(claim).toEqual({ epoch: expect.any(Number), seq: 3, head: makeHead(), isNew: true });
    expect(await readAll(current(), 's')).toEqual(records);
  });

  test('records are read in the order they were appended, from any position', async () => {
    const { epoch } = await create(current(), 's');
    await current().append({ ...appendOf('s', epoch), records: makeRecords(0, 2) });
    await current().append({ ...appendOf('s', epoch), expectedSeq: 2, records: makeRecords(2, 3) });
    expect(await readAll(current(), 's')).toEqual(makeRecords(0, 5));
    expect(await readAll(current(), 's', 3)).toEqual(makeRecords(3, 2));
    expect(await readAll(current(), 's', 5)).toEqual([]);
  });

  test('a long log is read in batches without a gap', async () => {
    await create(current(), 's', { records: makeRecords(0, 700) });
    const batches: (readonly LogRecord[])[] = [];
    for await (const batch of current().read('s')) batches.push(batch);
    expect(batches.flat()).toEqual(makeRecords(0, 700));
    expect(batches.map((batch) => batch.length)).toEqual([256, 256, 188]);
  });

  test('a session has the size of its records, bodies out of line included; an unknown one has none', async () => {
    const records = [
      ...makeRecords(0, 2),
      { ...makeRecords(2, 1)[0], seq: 3, json: JSON.stringify('ü'.repeat(70_000)) },
    ];
    await create(current(), 's', { records: records as readonly LogRecord[] });
    const bytes = records.reduce((sum, { json = '' }) => sum + Buffer.byteLength(json), 0);
    expect(await current().size('s')).toBe(bytes);
    expect(await current().size('nobody')).toBe(0);
  });

  test('reading an unknown session yields nothing', async () => {
    expect(await readAll(current(), 'nobody')).toEqual([]);
  });
}

function refusalTests(current: () => SessionStore): void {
  test('an append after another seq than the last is refused and writes nothing', async () => {
    const { epoch } = await create(current(), 's', { records: makeRecords(0, 2) });
    const late = current().append({ ...appendOf('s', epoch), expectedSeq: 1, records: makeRecords(1, 1) });
    await expect(late).rejects.toMatchObject({ name: 'StoreError', kind: 'seq_conflict' });
    expect(await readAll(current(), 's')).toEqual(makeRecords(0, 2));
  });

  test('an append with a gap inside is refused as a whole, its head included', async () => {
    const { epoch } = await create(current(), 's');
    const records = [...makeRecords(0, 2), ...makeRecords(3, 1)];
    const torn = current().append({ ...appendOf('s', epoch), records, head: makeHead({ name: 'torn' }) });
    await expect(torn).rejects.toMatchObject({ kind: 'seq_conflict' });
    expect(await readAll(current(), 's')).toEqual([]);
    expect(await heads(current())).toEqual([makeHead()]);
  });

  test('an append to a removed session is refused', async () => {
    const { epoch } = await create(current(), 's');
    await current().remove('s');
    const append = current().append({ ...appendOf('s', epoch), records: makeRecords(0, 1) });
    await expect(append).rejects.toMatchObject({ kind: 'unknown_session' });
  });
}

function orderTests(
  current: () => SessionStore,
  shared: () => { world: StoreWorld; store: SessionStore },
): void {
  test('of many appends made in one tick only the stale one fails', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `s${index}`);
    const claims = await Promise.all(ids.map((id) => create(current(), id)));
    const appends = claims.flatMap(({ epoch }, index) =>
      [0, 1].map((seq) =>
        current().append({
          ...appendOf(`s${index}`, index === 7 ? epoch - 1 : epoch),
          expectedSeq: seq,
          records: makeRecords(seq, 1),
        }),
      ),
    );
    const outcomes = await Promise.allSettled(appends);
    const lengths = await Promise.all(ids.map(async (id) => (await readAll(current(), id)).length));
    expect(outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([14, 15]);
    expect(lengths).toEqual(ids.map((_, index) => (index === 7 ? 0 : 2)));
  });

  test('appends of one session called without waiting are stored and acknowledged in the order of the calls', async () => {
    const { epoch } = await create(current(), 's');
    const acknowledged: number[] = [];
    await Promise.all(
      Array.from({ length: 40 }, async (_, seq) => {
        await current().append({ ...appendOf('s', epoch), expectedSeq: seq, records: makeRecords(seq, 1) });
        acknowledged.push(seq);
      }),
    );
    expect(acknowledged).toEqual(Array.from({ length: 40 }, (_, seq) => seq));
    expect(await readAll(current(), 's')).toEqual(makeRecords(0, 40));
  });

  test('an append called behind a refused one is refused too, so that a log has no gap', async () => {
    const { epoch } = await create(current(), 's');
    const append = (after: number, records: readonly LogRecord[]) =>
      current().append({ ...appendOf('s', epoch), expectedSeq: after, records });
    const torn = [...makeRecords(1, 1), ...makeRecords(5, 1)];
    const outcomes = await Promise.allSettled([
      append(0, makeRecords(0, 1)),
      append(1, torn),
      append(3, makeRecords(3, 1)),
    ]);
    expect(outcomes).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { kind: 'seq_conflict' } },
      { status: 'rejected', reason: { kind: 'seq_conflict' } },
    ]);
    expect(await readAll(current(), 's')).toEqual(makeRecords(0, 1));
  });

  test('a release and a removal called behind an append come after it', async () => {
    const { world, store } = shared();
    const { epoch } = await create(store, 's');
    const head = makeHead({ hasWork: true });
    await Promise.all([
      store.append({ ...appendOf('s', epoch), records: makeRecords(0, 1), head }),
      store.release({ sessionId: 's', epoch }),
    ]);
    const taken = await world.open(bob).claim({ sessionId: 's', owner: bob });
    expect(taken).toEqual({ epoch: epoch + 1, seq: 1, head, isNew: false });
    const more = { ...appendOf('s', taken.epoch), expectedSeq: 1, records: makeRecords(1, 1) };
    expect(await Promise.all([store.append(more), store.remove('s')])).toEqual([undefined, true]);
    expect(await readAll(store, 's')).toEqual([]);
  });
}

function claimTests(current: () => SessionStore): void {
  test('claiming an unknown session without making it is refused', async () => {
    const claim = current().claim({ sessionId: 'nobody', owner: ada });
    await expect(claim).rejects.toMatchObject({ name: 'StoreError', kind: 'unknown_session' });
  });

  test('an owner may claim again what it has', async () => {
    const store = current();
    const head = makeHead({ hasWork: true });
    const { epoch } = await create(store, 's', { head });
    const again = await store.claim({ sessionId: 's', owner: ada });
    expect(again).toEqual({ epoch: epoch + 1, seq: 0, head, isNew: false });
  });

  test('claiming a known session with first records leaves it as it was', async () => {
    const store = current();
    await create(store, 's', { records: makeRecords(0, 2) });
    const again = await create(store, 's', { records: makeRecords(0, 5), head: makeHead({ name: 'new' }) });
    expect(again).toEqual({ epoch: expect.any(Number), seq: 2, head: makeHead(), isNew: false });
    expect(await readAll(store, 's')).toEqual(makeRecords(0, 2));
  });

  test('a writer of a removed session cannot write to one made anew under its id', async () => {
    const store = current();
    const { epoch } = await create(store, 's');
    await store.remove('s');
    await create(store, 's');
    const append = store.append({ ...appendOf('s', epoch), records: makeRecords(0, 1) });
    await expect(append).rejects.toMatchObject({ kind: 'stale_owner' });
  });
}

function rivalTests(current: () => { world: StoreWorld; store: SessionStore }): void {
  test('an idle session of a live owner is handed over, and the former owner is refused at its next append', async () => {
    const { world, store } = current();
    const first = await create(store, 's', { records: makeRecords(0, 1) });
    const second = await world.open(bob).claim({ sessionId: 's', owner: bob });
    expect(second).toEqual({ epoch: first.epoch + 1, seq: 1, head: makeHead(), isNew: false });
    const stale = store.append({ ...appendOf('s', first.epoch), expectedSeq: 1, records: makeRecords(1, 1) });
    await expect(stale).rejects.toMatchObject({ name: 'StoreError', kind: 'stale_owner' });
    expect(await readAll(store, 's')).toEqual(makeRecords(0, 1));
  });

  test('a session with work in a live process is refused with the name of who has it', async () => {
    const { world, store } = current();
    await create(store, 's', { head: makeHead({ hasWork: true }) });
    const [summary] = (await store.list({ includeEmpty: true })).items;
    const since = summary?.owner?.since;
    expect(since).toBe(new Date(since ?? '').toISOString());
    await expect(world.open(bob).claim({ sessionId: 's', owner: bob })).rejects.toMatchObject({
      kind: 'in_use',
      message: `Session s is in use by process 101 on alpha since ${since}`,
      owner: { ...ada, since },
    });
  });

  test('force takes a session with work from a live owner', async () => {
    const { world, store } = current();
    const head = makeHead({ hasWork: true });
    const { epoch } = await create(store, 's', { head });
    const taken = await world.open(bob).claim({ sessionId: 's', owner: bob, force: true });
    expect(taken).toEqual({ epoch: epoch + 1, seq: 0, head, isNew: false });
  });

  test('a session with work of a dead owner is taken at once', async () => {
    const { world, store } = current();
    const head = makeHead({ hasWork: true });
    const { epoch } = await create(store, 's', { head });
    await world.kill(ada);
    const taken = await world.open(bob).claim({ sessionId: 's', owner: bob });
    expect(taken).toEqual({ epoch: epoch + 1, seq: 0, head, isNew: false });
  });

  test('a released session is free even with work, and a stale release frees nothing', async () => {
    const { world, store } = current();
    const { epoch } = await create(store, 's', { head: makeHead({ hasWork: true }) });
    await store.release({ sessionId: 's', epoch: epoch - 1 });
    const other = world.open(bob);
    await expect(other.claim({ sessionId: 's', owner: bob })).rejects.toMatchObject({ kind: 'in_use' });
    await store.release({ sessionId: 's', epoch });
    expect((await other.claim({ sessionId: 's', owner: bob })).epoch).toBe(epoch + 1);
  });
}

function removalByOthersTests(current: () => { world: StoreWorld; store: SessionStore }): void {
  test('a session with work in a live process is not removed by another one, and an idle one is', async () => {
    const { world, store } = current();
    const { epoch } = await create(store, 's', { head: makeHead({ hasWork: true }) });
    const other = world.open(bob);
    await expect(other.remove('s', bob)).rejects.toMatchObject({ kind: 'in_use' });
    await store.append({ sessionId: 's', epoch, expectedSeq: 0, records: [], head: makeHead() });
    expect(await other.remove('s', bob)).toBe(true);
    const late = store.append({ sessionId: 's', epoch, expectedSeq: 0, records: [], head: makeHead() });
    await expect(late).rejects.toMatchObject({ kind: 'unknown_session' });
  });
}

function headTests(current: () => { world: StoreWorld; store: SessionStore }): void {
  test('the head of the last append is what lists and claims show', async () => {
    const { store } = current();
    const { epoch } = await create(store, 's');
    const head = makeHead({
      userTurns: 1,
      eventCount: 2,
      name: 'Named',
      summary: 'Summed up',
      snapshotSeq: 2,
    });
    await store.append({ ...appendOf('s', epoch), records: makeRecords(0, 2), head });
    const owner = { ...ada, since: expect.any(String) };
    expect(await store.list()).toEqual({ items: [{ sessionId: 's', seq: 2, head, owner }] });
    expect((await store.claim({ sessionId: 's', owner: ada })).head).toEqual(head);
  });

  test('an owner is listed only while it lives and holds the session', async () => {
    const { world, store } = current();
    await create(store, 'held');
    const released = await create(store, 'released');
    await store.release({ sessionId: 'released', epoch: released.epoch });
    const other = world.open(bob);
    const owners = async () => {
      const { items } = await other.list({ includeEmpty: true });
      return items.map(({ sessionId, owner }) => [sessionId, owner?.runtimeId]).sort();
    };
    expect(await owners()).toEqual([
      ['held', 'runtime-ada'],
      ['released', undefined],
    ]);
    await world.kill(ada);
    expect(await owners()).toEqual([
      ['held', undefined],
      ['released', undefined],
    ]);
  });
}

function listTests(current: () => SessionStore): void {
  test('sessions are listed newest first, page by page', async () => {
    const store = current();
    const days = [3, 1, 5, 5, 2];
    for (const [index, day] of days.entries()) {
      const head = makeHead({ userTurns: 1, modifiedAt: `2025-01-0${day}T00:00:00.000Z` });
      await create(store, `s${index}`, { head });
    }
    const pages: (readonly string[])[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list({ limit: 2, ...(cursor !== undefined && { cursor }) });
      pages.push(page.items.map(({ sessionId }) => sessionId));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(pages).toEqual([['s3', 's2'], ['s0', 's4'], ['s1']]);
  });

  test('a list is filtered by id, by context and by whether anyone has spoken', async () => {
    const store = current();
    const context = { cwd: '/a', gitRoot: '/', repository: 'owner/name', branch: 'main' };
    await create(store, 'full', { head: makeHead({ userTurns: 1, context }) });
    await create(store, 'bare', { head: makeHead({ userTurns: 1, context: { cwd: '/a' } }) });
    await create(store, 'silent', { head: makeHead({ context: { cwd: '/b' } }) });
    const ids = async (query: SessionQuery) =>
      (await store.list(query)).items.map(({ sessionId }) => sessionId).sort();
    expect(await ids({})).toEqual(['bare', 'full']);
    expect(await ids({ includeEmpty: true })).toEqual(['bare', 'full', 'silent']);
    expect(await ids({ context: { cwd: '/a' } })).toEqual(['bare', 'full']);
    expect(await ids({ context: { cwd: '/a', branch: 'main' } })).toEqual(['full']);
    expect(await ids({ context: { repository: 'owner/name', gitRoot: '/' } })).toEqual(['full']);
    expect(await ids({ context: { cwd: '/c' } })).toEqual([]);
    expect(await ids({ sessionId: 'silent', includeEmpty: true })).toEqual(['silent']);
  });

  test('a removed session is gone with its records, and removing it again says so', async () => {
    const store = current();
    await create(store, 's', { records: makeRecords(0, 600) });
    await create(store, 'other', { records: makeRecords(0, 1) });
    expect(await store.remove('s')).toBe(true);
    expect(await store.remove('s')).toBe(false);
    expect(await readAll(store, 's')).toEqual([]);
    expect((await store.list({ includeEmpty: true })).items.map(({ sessionId }) => sessionId)).toEqual([
      'other',
    ]);
    await create(store, 's', { records: makeRecords(0, 1) });
    expect(await readAll(store, 's')).toEqual(makeRecords(0, 1));
  });
}

function bodyTests(current: () => SessionStore): void {
  test('a record that is the same as one of another session is read as it was written, also when that one is gone', async () => {
    const records = [10, 1_000, 70_000].map((length, index) => ({
      seq: index + 1,
      isPublic: true,
      type: 'test.record',
      json: JSON.stringify('é'.repeat(length)),
    }));
    const hinted = records.map((record) => ({ ...record, sameAs: { sessionId: 's', seq: record.seq } }));
    await create(current(), 's', { records });
    const { epoch } = await create(current(), 'fork', { records: hinted.slice(0, 1) });
    await current().append({ ...appendOf('fork', epoch), expectedSeq: 1, records: hinted.slice(1) });
    expect(await readAll(current(), 'fork')).toEqual(records);
    await current().remove('s');
    await current().erased();
    expect(await readAll(current(), 'fork')).toEqual(records);
    expect(await readAll(current(), 'fork', 1)).toEqual(records.slice(1));
  });

  test('odd text goes through unchanged', async () => {
    const texts = [
      '"\u2028\u2029"',
      JSON.stringify('\ud800 lone \udfff \0'),
      '{"raw":\n\r\t 1}',
      '"\0 raw NUL"',
      '"\ud800 raw lone surrogate"',
      '"\u{1f600} é ÿ"',
      '',
    ];
    const records = texts.map((json, index) => ({ seq: index + 1, isPublic: false, type: 'odd', json }));
    await create(current(), 's', { records });
    expect(await readAll(current(), 's')).toEqual(records);
  });

  test('big bodies go through unchanged, repeated and odd ones too', async () => {
    const bodies = [
      JSON.stringify('x'.repeat(10_000_000)),
      JSON.stringify('y'.repeat(70_000)),
      JSON.stringify('y'.repeat(70_000)),
      `"\0${'z'.repeat(70_000)}"`,
      '"small"',
    ];
    const records = bodies.map((json, index) => ({ seq: index + 1, isPublic: true, type: 'big', json }));
    await create(current(), 's', { records });
    const read = await readAll(current(), 's');
    expect(read.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect(read.every(({ json }, index) => json === bodies[index])).toBe(true);
  });
}
