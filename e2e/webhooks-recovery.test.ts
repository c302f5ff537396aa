import { join } from 'node:path';
import type { LogRecord } from '@groundcrew/store';
import { loadOutbox, openSqliteStore, type SqliteStore } from '@groundcrew/store-sqlite';
import { temporaryDirectory } from '@groundcrew/testkit';
import { Webhooks } from '@groundcrew/webhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';

const home = '/home';
const sessionId = 'cut-off';
const url = 'http://127.0.0.1:9/hook';
let directory: ReturnType<typeof temporaryDirectory>;
let store: SqliteStore;

beforeEach(() => {
  directory = temporaryDirectory();
  const { path } = directory;
  store = openSqliteStore({ file: join(path, 'groundcrew.db'), runDirectory: join(path, 'run') });
});

afterEach(async () => {
  await store.close();
  directory.remove();
});

/** A process that follows the session until it is killed: nothing is released, and nothing is closed but its outbox. */
async function process(
  pid: number,
  { after, groups }: { readonly after: number; readonly groups: readonly (readonly [string[], boolean])[] },
): Promise<readonly string[]> {
  const { openSqliteOutbox } = await loadOutbox();
  const outbox = openSqliteOutbox(join(directory.path, 'webhooks.db'));
  const webhooks = new Webhooks({ endpoints: [{ url }], outbox, storeOf: () => store, warn: fail });
  const watched = webhooks.watch(home, store);
  const owner = { runtimeId: `runtime-${pid}`, pid, host: 'alpha' };
  const isNew = after === 0;
  const { epoch } = await watched.claim({
    sessionId,
    owner,
    ...(isNew ? { create: { records: [], head: headWith(true) } } : { force: true }),
  });
  let seq = after;
  for (const [types, hasWork] of groups) {
    const records = types.map((type, index) => recordOf(seq + 1 + index, type));
    await watched.append({ sessionId, epoch, expectedSeq: seq, records, head: headWith(hasWork) });
    seq += records.length;
  }
  await webhooks.close();
  const due = await outbox.take({ endpoint: url, limit: 100, leaseMs: 60_000 });
  await outbox.close();
  return due.map(({ body }) => {
    const { type, data } = JSON.parse(body) as { type: string; data: { reason: { kind: string } } };
    return `${type} ${data.reason.kind}`;
  });
}

function fail(message: string): never {
  throw new Error(message);
}

function recordOf(seq: number, type: string): LogRecord {
  const timestamp = '2027-01-31T09:30:00.000Z';
  const data = type === 'session.error' ? { errorType: 'quota' } : {};
  return { seq, isPublic: true, type, json: JSON.stringify({ type, timestamp, data }) };
}

function headWith(hasWork: boolean) {
  const time = '2025-01-01T00:00:00.000Z';
  const counts = { userTurns: 0, eventCount: 0, snapshotSeq: 0 };
  return { createdAt: time, modifiedAt: time, hasWork, ...counts, context: { cwd: '/work' } };
}

test.each([
  ['failed', 'session.error', 'session.ended error'],
  ['was aborted', 'abort', 'session.ended aborted'],
])('a turn that %s before its process was killed ends so for the next one', async (_what, deed, notice) => {
  const many = Array.from({ length: 100 }, () => 'tool.execution_complete');
  await process(1, {
    after: 0,
    groups: [
      [['assistant.turn_start'], true],
      [[...many, deed], true],
    ],
  });
  expect(await process(2, { after: 102, groups: [[['assistant.turn_end'], false]] })).toEqual([notice]);
});

test('an end that the first process did not notice is noticed by the next, and an earlier turn does not count', async () => {
  await process(1, {
    after: 0,
    groups: [
      [['assistant.turn_start', 'assistant.turn_end', 'session.error'], false],
      [['user.message', 'assistant.turn_start', 'assistant.turn_end'], true],
    ],
  });
  expect(await process(2, { after: 6, groups: [[['session.title_changed'], false]] })).toEqual([
    'session.ended completed',
  ]);
  expect(await process(3, { after: 7, groups: [[['session.title_changed'], false]] })).toEqual([]);
});
