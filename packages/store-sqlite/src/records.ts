import { checksumOf, hashOf, type LogRecord, type NewRecord } from '@groundcrew/store';
import type { Connection } from './connection.js';
import { damaged } from './faults.js';
import { handOver, isShared, sharedBody, sharedPlace } from './shared-bodies.js';
import { fromStored, toStored } from './stored-text.js';

/** Bodies above this many characters are kept once per session, out of line. */
const longestInline = 64 * 1024;
const rowsPerQuery = 32;
const recordsPerBatch = 256;
const charactersPerBatch = 1024 * 1024;
const bytesPerDeletion = 384 * 1024;

/** Which records of which session; `session` is the store's own number, never used again after a removal. */
export interface RecordRange {
  readonly session: number;
  readonly after: number;
}

interface RecordRow {
  readonly seq: number;
  readonly is_public: number;
  readonly type: string;
  readonly checksum: number;
  readonly json: string | Uint8Array | null;
  readonly blob_hash: Uint8Array | null;
  readonly body_session: number | null;
  readonly body_seq: number | null;
}

/** Adds records inside the caller's transaction. */
export function insertRecords(
  connection: Connection,
  { session, records }: { readonly session: number; readonly records: readonly NewRecord[] },
): void {
  for (const record of records) {
    const shared = sharedPlace(connection, record);
    const body = toStored(record);
    const isOut = !shared && record.json.length > longestInline;
    const hash = isOut ? insertBlob(connection, { session, body }) : null;
    connection.run(
      `INSERT INTO record (session, seq, is_public, type, checksum, json, blob_hash, body_session, body_seq)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      session,
      record.seq,
      record.isPublic ? 1 : 0,
      record.type,
      checksumOf(record),
      hash || shared ? null : body,
      hash,
      shared?.session ?? null,
      shared?.seq ?? null,
    );
  }
}

/**
 * The next records, bounded in number and size. Throws `damaged` at a gap, a missing body, a wrong checksum or an
 * unreadable page; the calls before that return all that lies before it.
 */
export function selectRecords(connection: Connection, range: RecordRange): readonly LogRecord[] {
  const records: LogRecord[] = [];
  let characters = 0;
  try {
    for (const record of recordsAfter(connection, range)) {
      records.push(record);
      characters += record.json.length;
      if (records.length === recordsPerBatch || characters >= charactersPerBatch) break;
    }
  } catch (error) {
    if (records.length === 0) throw error;
  }
  return records;
}

/** Bytes of a session's records; SQLite knows them without reading the bodies. */
export function sizeOfRecords(connection: Connection, session: number): number {
  const tables = ['record', 'blob'] as const;
  return tables.reduce((bytes, table) => {
    const row = connection.get<{ readonly bytes: number | null }>(
      `SELECT sum(octet_length(json)) AS bytes FROM ${table} WHERE session = ?`,
      session,
    );
    return bytes + (row?.bytes ?? 0);
  }, 0);
}

/** Deletes some records of a removed session, the first ones first, then some bodies; false when none are left. */
export function deleteSomeRecords(connection: Connection, session: number): boolean {
  return deleteSome(connection, 'record', session) || deleteSome(connection, 'blob', session);
}

/** Deletes the records of a session behind a seq, and the bodies that no record needs then. */
export function deleteRecordsAfter(connection: Connection, { session, after }: RecordRange): void {
  const rows = connection.all<{ readonly seq: number }>(
    'SELECT seq FROM record WHERE session = ? AND seq > ?',
    session,
    after,
  );
  if (isShared(connection, session)) for (const { seq } of rows) handOver(connection, { session, seq });
  connection.run('DELETE FROM record WHERE session = ? AND seq > ?', session, after);
  connection.run(
    `DELETE FROM blob WHERE session = ?1 AND hash NOT IN
       (SELECT blob_hash FROM record WHERE session = ?1 AND blob_hash IS NOT NULL)`,
    session,
  );
}

/**
 * What is deleted is overwritten with zeros, all in one commit: so its bytes are bounded, too. What other sessions share is
 * theirs before.
 */
function deleteSome(connection: Connection, table: 'record' | 'blob', session: number): boolean {
  const seq = table === 'record' ? 'seq' : '0 AS seq';
  const rows = connection.all<{ readonly row: number; readonly seq: number; readonly bytes: number | null }>(
    `SELECT rowid AS row, ${seq}, octet_length(json) AS bytes FROM ${table} WHERE session = ? LIMIT ${recordsPerBatch}`,
    session,
  );
  const hasHeirs = table === 'record' && isShared(connection, session);
  let bytes = 0;
  for (const { row, seq, bytes: own } of rows) {
    if (bytes > bytesPerDeletion) return true;
    if (hasHeirs) bytes += handOver(connection, { session, seq });
    connection.run(`DELETE FROM ${table} WHERE rowid = ?`, row);
    bytes += own ?? 0;
  }
  return rows.length === recordsPerBatch;
}

function insertBlob(
  connection: Connection,
  { session, body }: { readonly session: number; readonly body: string | Uint8Array },
): Uint8Array {
  const hash = hashOf(body);
  connection.run('INSERT OR IGNORE INTO blob (session, hash, json) VALUES (?, ?, ?)', session, hash, body);
  return hash;
}

function* recordsAfter(connection: Connection, range: RecordRange): Generator<LogRecord> {
  let { after } = range;
  for (let hasMore = true; hasMore; ) {
    const next = selectReadableRows(connection, { ...range, after });
    for (const row of next.rows) {
      after += 1;
      if (row.seq !== after) throw damaged(connection.file, `record ${after} is missing`);
      yield toRecord(connection, { session: range.session, row });
    }
    hasMore = next.hasMore;
  }
}

/** One by one where some of them are on a page that cannot be read. */
function selectReadableRows(
  connection: Connection,
  range: RecordRange,
): { readonly rows: readonly RecordRow[]; readonly hasMore: boolean } {
  try {
    const rows = selectRows(connection, range, rowsPerQuery);
    return { rows, hasMore: rows.length === rowsPerQuery };
  } catch {
    const rows = selectRows(connection, range, 1);
    return { rows, hasMore: rows.length > 0 };
  }
}

function selectRows(
  connection: Connection,
  { session, after }: RecordRange,
  limit: number,
): readonly RecordRow[] {
  return connection.all<RecordRow>(
    `SELECT seq, is_public, type, checksum, json, blob_hash, body_session, body_seq FROM record
     WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?`,
    session,
    after,
    limit,
  );
}

function toRecord(
  connection: Connection,
  { session, row }: { readonly session: number; readonly row: RecordRow },
): LogRecord {
  const body = bodyOf(connection, { session, row });
  if (body === null) throw damaged(connection.file, `the body of record ${row.seq} is missing`);
  const record = { seq: row.seq, isPublic: row.is_public === 1, type: row.type, json: fromStored(body) };
  if (checksumOf(record) === row.checksum) return record;
  throw damaged(connection.file, `record ${row.seq} is not what was written`);
}

function bodyOf(
  connection: Connection,
  { session, row }: { readonly session: number; readonly row: RecordRow },
): string | Uint8Array | null {
  const { blob_hash: hash, body_session: from, body_seq: seq } = row;
  if (from !== null && seq !== null) return sharedBody(connection, { session: from, seq }) ?? null;
  return hash ? selectBlob(connection, { session, hash }) : row.json;
}

function selectBlob(
  connection: Connection,
  { session, hash }: { readonly session: number; readonly hash: Uint8Array },
): string | Uint8Array | null {
  const sql = 'SELECT json FROM blob WHERE session = ? AND hash = ?';
  return connection.get<{ readonly json: string | Uint8Array }>(sql, session, hash)?.json ?? null;
}
