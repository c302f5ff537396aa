import type { LogRecord, Owner, SessionHead, SessionStore } from '@groundcrew/store';

/** A runtime of this name, on another machine. */
export function ownerNamed(name: string): Owner {
  return { runtimeId: name, pid: 1, host: 'elsewhere' };
}

/** A head with these changes. */
export function headWith(changes: Partial<SessionHead> = {}): SessionHead {
  return {
    createdAt: '2025-01-01T00:00:00.000Z',
    modifiedAt: '2025-01-01T00:00:00.000Z',
    hasWork: false,
    userTurns: 1,
    eventCount: 0,
    snapshotSeq: 0,
    context: { cwd: '/work' },
    ...changes,
  };
}

/** The record of a writer at a place, so that a reader sees whose it is. */
export function recordAt(seq: number, writer = 'test'): LogRecord {
  return { seq, isPublic: true, type: 'test.record', json: JSON.stringify({ seq, writer }) };
}

/** All records of a session. */
export async function readAll(store: SessionStore, sessionId: string): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const batch of store.read(sessionId)) records.push(...batch);
  return records;
}
