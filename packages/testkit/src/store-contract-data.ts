import type { AppendRequest, Claim, LogRecord, Owner, SessionHead, SessionStore } from '@groundcrew/store';

/** Two processes that want the same sessions. */
export const ada: Owner = { runtimeId: 'runtime-ada', pid: 101, host: 'alpha' };
export const bob: Owner = { runtimeId: 'runtime-bob', pid: 202, host: 'beta' };

/** A head with these changes. */
export function makeHead(changes: Partial<SessionHead> = {}): SessionHead {
  const time = '2025-01-01T00:00:00.000Z';
  const counts = { userTurns: 0, eventCount: 0, snapshotSeq: 0 };
  return {
    createdAt: time,
    modifiedAt: time,
    hasWork: false,
    ...counts,
    context: { cwd: '/work' },
    ...changes,
  };
}

/** So many records behind a seq. */
export function makeRecords(after: number, count: number): LogRecord[] {
  return Array.from({ length: count }, (_, index) => {
    const seq = after + 1 + index;
    return { seq, isPublic: seq % 2 === 0, type: 'test.record', json: JSON.stringify({ seq }) };
  });
}

/** An append of nothing, to be filled in. */
export function appendOf(sessionId: string, epoch: number): AppendRequest {
  return { sessionId, epoch, expectedSeq: 0, records: [], head: makeHead() };
}

/** Makes a session of Ada’s, or claims it. */
export function create(
  store: SessionStore,
  sessionId: string,
  { records = [], head = makeHead() }: { records?: readonly LogRecord[]; head?: SessionHead } = {},
): Promise<Claim> {
  return store.claim({ sessionId, owner: ada, create: { records, head } });
}

/** All records behind a seq, in one list. */
export async function readAll(store: SessionStore, sessionId: string, after?: number): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const batch of store.read(sessionId, after)) records.push(...batch);
  return records;
}

/** The heads of all sessions. */
export async function heads(store: SessionStore): Promise<SessionHead[]> {
  return (await store.list({ includeEmpty: true })).items.map(({ head }) => head);
}
