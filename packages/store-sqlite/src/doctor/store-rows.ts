import { checksumOf, hashOf } from '@groundcrew/store';
import type { Connection } from '../connection.js';
import type { SqliteValue } from '../driver.js';
import { fromStored } from '../stored-text.js';
import type { LeafRow } from './leaf-rows.js';

/** A session's row as it was found. */
export interface FoundSession {
  readonly id: string;
  readonly epoch: number;
  readonly seq: number;
  readonly head: string;
}

/** What was found besides records and bodies. */
export interface FoundRows {
  readonly sessions: ReadonlyMap<number, FoundSession>;
  /** Sessions that were being deleted, and the ids of those whose files may be there still. */
  readonly removed: ReadonlyMap<number, string | undefined>;
}

/** Puts records and bodies that are what was written into the store; of a session found twice, the later row counts. */
export function sortRows(connection: Connection, rows: Iterable<LeafRow>): FoundRows {
  const sessions = new Map<number, FoundSession>();
  const removed = new Map<number, string | undefined>();
  for (const { rowid, values } of rows) {
    const session = asSession(values);
    if (session && isLater(session, sessions.get(rowid))) sessions.set(rowid, session);
    else if (isRemoval(values)) removed.set(rowid, typeof values[1] === 'string' ? values[1] : undefined);
    else if (isRecord(values)) insert(connection, recordColumns, padded(values, recordLength));
    else if (isBody(values)) insert(connection, bodyColumns, values);
  }
  return { sessions, removed };
}

const recordColumns =
  'record (session, seq, is_public, type, checksum, json, blob_hash, body_session, body_seq)';
const recordLength = 9;
/** Rows that were written before bodies were shared. */
const shortestRecord = 7;
const bodyColumns = 'blob (session, hash, json)';

/**
 * The row of `removed_session`: its number is the row's own id, and two columns came later. Rows of two values, the first
 * of which is the row's own id, are those of the search index.
 */
function isRemoval(values: readonly SqliteValue[]): boolean {
  const [number, id, scrubs] = values;
  if (number !== null) return false;
  if (values.length === 1) return true;
  const isNamed = id === null || typeof id === 'string';
  return values.length === 3 && isNamed && (scrubs === null || typeof scrubs === 'number');
}

/** Columns of `session`; its number is the row's own id. */
const sessionLength = 16;

function asSession(values: readonly SqliteValue[]): FoundSession | undefined {
  const [number, id, epoch, seq] = values;
  const head = values[sessionLength - 1];
  if (values.length !== sessionLength || number !== null || typeof id !== 'string') return undefined;
  if (typeof epoch !== 'number' || typeof seq !== 'number' || typeof head !== 'string') return undefined;
  return { id, epoch, seq, head };
}

function isLater(found: FoundSession, known: FoundSession | undefined): boolean {
  if (!known) return true;
  return found.epoch > known.epoch || (found.epoch === known.epoch && found.seq > known.seq);
}

/** Bodies out of line, and of other records, are checked when the record is read, for they may be on any page. */
function isRecord(values: readonly SqliteValue[]): boolean {
  const [session, seq, isPublic, type, checksum, json, hash, bodySession] = values;
  if (values.length < shortestRecord || values.length > recordLength) return false;
  if (typeof session !== 'number' || typeof seq !== 'number') return false;
  if (typeof type !== 'string' || typeof checksum !== 'number') return false;
  if (!isText(json)) return json === null && (hash instanceof Uint8Array || typeof bodySession === 'number');
  return checksumOf({ seq, isPublic: isPublic === 1, type, json: fromStored(json) }) === checksum;
}

function isBody(values: readonly SqliteValue[]): boolean {
  const [session, hash, json] = values;
  if (values.length !== 3 || typeof session !== 'number' || !(hash instanceof Uint8Array)) return false;
  return isText(json) && Buffer.from(hash).equals(hashOf(json));
}

function isText(value: SqliteValue | undefined): value is string | Uint8Array {
  return typeof value === 'string' || value instanceof Uint8Array;
}

function padded(values: readonly SqliteValue[], length: number): readonly SqliteValue[] {
  return Array.from({ length }, (_, index) => values[index] ?? null);
}

function insert(connection: Connection, table: string, values: readonly SqliteValue[]): void {
  connection.run(`INSERT OR IGNORE INTO ${table} VALUES (${values.map(() => '?').join(', ')})`, ...values);
}
