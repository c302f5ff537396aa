import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { LogRecord } from '@groundcrew/store';
import { openSqliteStore } from '@groundcrew/store-sqlite';

/** Makes a stored session that no process has open as long as if it had worked for months. */
export async function fillLog(
  home: string,
  sessionId: string,
  { events: count, padding = '' }: { readonly events: number; readonly padding?: string },
): Promise<void> {
  const store = openSqliteStore({ file: join(home, 'groundcrew.db'), runDirectory: join(home, 'run') });
  const owner = { runtimeId: randomUUID(), pid: process.pid, host: 'long-log' };
  const { epoch, seq, head } = await store.claim({ sessionId, owner });
  let parentId: string | null = null;
  const record = (at: number): LogRecord => {
    const id = randomUUID();
    const event = {
      type: 'session.plan_changed',
      id,
      timestamp: head.modifiedAt,
      parentId,
      data: { operation: 'update', ...(padding !== '' && { padding }) },
    };
    parentId = id;
    return { seq: at, isPublic: true, type: event.type, json: JSON.stringify(event) };
  };
  for (let done = 0; done < count; done += batch) {
    const records = Array.from({ length: Math.min(batch, count - done) }, (_, n) =>
      record(seq + done + n + 1),
    );
    const eventCount = head.eventCount + done + records.length;
    await store.append({ sessionId, epoch, expectedSeq: seq + done, records, head: { ...head, eventCount } });
  }
  await store.release({ sessionId, epoch });
  await store.close();
}

const batch = 5000;
