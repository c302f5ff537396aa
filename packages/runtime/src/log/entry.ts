import type { LogRecord } from '../store/session-store.js';
import type { Entry } from './fold.js';

/** A stored record, opened. What this session wrote is trusted. */
export function entryOf(record: LogRecord): Entry {
  const { seq, type } = record;
  const body: unknown = JSON.parse(record.json);
  return (record.isPublic ? { seq, event: body } : { seq, note: type, data: body }) as Entry;
}
