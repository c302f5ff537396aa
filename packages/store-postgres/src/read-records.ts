import type { LogRecord } from '@groundcrew/store';
import { type RecordRow, toRecord } from './columns.js';
import type { Connection } from './connection.js';
import { damaged } from './faults.js';

const recordsPerBatch = 256;
const bytesPerBatch = 1024 * 1024;

/** Where a reader stands in a log; `number` is known after the first batch. */
export interface Position {
  readonly sessionId: string;
  readonly number: number | undefined;
  readonly after: number;
}

/** Some records of a session. */
export interface Batch {
  readonly number: number;
  readonly records: readonly LogRecord[];
}

type FoundRow = RecordRow & {
  readonly number: number;
  readonly last: number;
  /** Null in the one row of a session that has no more records. */
  readonly seq: number | null;
};

/** The first record, and those behind it while they stay within the bounds of a batch. */
const batchText = `
  SELECT s.number, s.seq AS last, r.seq, r.is_public, r.type, r.checksum,
    coalesce(r.json, b.json) AS json, coalesce(r.raw, b.raw) AS raw
  FROM gc_session s
  LEFT JOIN LATERAL (
    SELECT next.*, sum(size) OVER (ORDER BY seq) - size AS before FROM (
      SELECT c.*, coalesce(octet_length(c.json), octet_length(c.raw),
        (SELECT coalesce(octet_length(o.json), octet_length(o.raw)) FROM gc_body o
         WHERE o.session = c.session AND o.hash = c.body), 0) AS size
      FROM gc_record c WHERE c.session = s.number AND c.seq > $3 ORDER BY c.seq LIMIT ${recordsPerBatch}) next
    ) r ON r.before < ${bytesPerBatch}
  LEFT JOIN gc_body b ON b.session = s.number AND b.hash = r.body
  WHERE s.id = $1 AND ($2::bigint IS NULL OR s.number = $2)
  ORDER BY r.seq`;

const sizeText = `
  SELECT coalesce((SELECT sum(coalesce(octet_length(r.json), octet_length(r.raw), 0)) FROM gc_record r
      WHERE r.session = s.number), 0)::bigint
    + coalesce((SELECT sum(coalesce(octet_length(b.json), octet_length(b.raw), 0)) FROM gc_body b
      WHERE b.session = s.number), 0)::bigint AS bytes
  FROM gc_session s WHERE s.id = $1`;

/** Bytes of a session's records; 0 of an unknown one. */
export async function sizeOfSession(connection: Connection, sessionId: string): Promise<number> {
  const rows = await connection.all<{ readonly bytes: number | string }>({
    name: 'gc-size',
    text: sizeText,
    values: [sessionId],
  });
  return Number(rows[0]?.bytes ?? 0);
}

/**
 * The next records of a session, bounded in number and size; undefined when there is no such session, or none any more.
 * Throws `damaged` at a gap or a wrong checksum, but first gives all that lies before it.
 */
export async function readBatch(connection: Connection, position: Position): Promise<Batch | undefined> {
  const { sessionId, number = null, after } = position;
  const rows = await connection.all<FoundRow>({
    name: 'gc-read',
    text: batchText,
    values: [sessionId, number, after],
  });
  const [first] = rows;
  if (!first) return undefined;
  const records: LogRecord[] = [];
  for (const row of rows) {
    const expected = after + records.length + 1;
    const isEnd = row.seq === null && after >= row.last;
    if (isEnd) break;
    const found = row.seq === expected ? toRecord(row) : `record ${expected} is missing`;
    if (typeof found !== 'string') records.push(found);
    else if (records.length > 0) break;
    else throw damaged(connection.address.name, `session ${sessionId}: ${found}`);
  }
  return { number: first.number, records };
}
