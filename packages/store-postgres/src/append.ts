import {
  checksumOf,
  type LogRecord,
  type SessionHead,
  seqConflict,
  staleOwner,
  unknownSession,
} from '@groundcrew/store';
import { columnText, headColumns, headValues, insertRecords, RecordColumns } from './columns.js';
import type { Connection } from './connection.js';

/** What one session wants appended: one or more requests that follow upon one another. */
export interface Ask {
  readonly sessionId: string;
  readonly epoch: number;
  readonly expectedSeq: number;
  /** How often the session's row was written under this claim; unknown when another object has claimed it. */
  readonly version: number | undefined;
  readonly records: readonly LogRecord[];
  /** The head after all of them. */
  readonly head: SessionHead;
}

/** What became of an ask: written, refused for good, or not written and free to be sent again. */
export type Verdict =
  | { readonly type: 'written'; readonly version: number | undefined }
  | { readonly type: 'refused'; readonly error: Error }
  | { readonly type: 'unsent' };

/** So many parameters come before those of the records. */
const headCount = headColumns.split(',').length;
const firstOfRecords = 6 + headCount;

const headFields = headColumns.split(', ');
const headTypes = ['boolean', 'int', 'text', 'text', 'text', 'text', 'text', 'bigint', 'text'];

/**
 * All sessions of a tick in one statement, each fenced by its epoch, its seq and the number of its last write: one that is
 * stale has no row in the answer, and the others are written. Rows are locked in one order, so that no two batches wait
 * for each other. A statement is a transaction of its own.
 */
const appendText = `
  WITH ask AS (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::int[],
      ${headTypes.map((type, index) => `$${6 + index}::${type}[]`).join(', ')})
      WITH ORDINALITY AS t(id, epoch, seq, version, count, ${headColumns}, ord)),
  locked AS MATERIALIZED (
    SELECT s.number, a.ord FROM gc_session s JOIN ask a ON a.id = s.id
    WHERE s.epoch = a.epoch AND s.seq = a.seq AND (a.version IS NULL OR s.version = a.version)
    ORDER BY s.number FOR UPDATE OF s),
  written AS (
    UPDATE gc_session s SET seq = a.seq + a.count, version = s.version + 1,
      ${headFields.map((field) => `${field} = a.${field}`).join(', ')}
    FROM locked l JOIN ask a ON a.ord = l.ord
    WHERE s.number = l.number AND s.epoch = a.epoch AND s.seq = a.seq
      AND (a.version IS NULL OR s.version = a.version)
    RETURNING s.number, a.ord, s.version),
  ${insertRecords('written', firstOfRecords)}
  SELECT ord, version FROM written`;

/** Sends the asks; those that are missing in the answer, by their index, were refused. */
export async function sendAppends(
  connection: Connection,
  asks: readonly Ask[],
): Promise<ReadonlyMap<number, number>> {
  const columns: unknown[][] = Array.from({ length: 5 + headCount }, () => []);
  const records = new RecordColumns();
  for (const [index, ask] of asks.entries()) {
    const { sessionId, epoch, expectedSeq, version = null } = ask;
    const row = [sessionId, epoch, expectedSeq, version, ask.records.length, ...headValues(ask.head)];
    for (const [place, column] of columns.entries()) column.push(row[place]);
    records.add(index + 1, ask.records);
  }
  const rows = await connection.all<{ readonly ord: number; readonly version: number }>({
    name: 'gc-append',
    text: appendText,
    values: [...columns, ...records.values],
  });
  return new Map(rows.map(({ ord, version }) => [ord - 1, version]));
}

interface FoundRow {
  readonly ord: number;
  readonly epoch: number;
  readonly seq: number;
  readonly version: number;
  /** Of the records that lie where those of the ask belong. */
  readonly checksums: readonly string[] | null;
}

const judgeText = `
  SELECT a.ord, s.epoch, s.seq, s.version,
    (SELECT array_agg(r.checksum ORDER BY r.seq) FROM gc_record r
     WHERE r.session = s.number AND r.seq > a.seq AND r.seq <= a.seq + a.count) AS checksums
  FROM unnest($1::text[], $2::bigint[], $3::int[]) WITH ORDINALITY AS a(id, seq, count, ord)
  JOIN gc_session s ON s.id = a.id`;

/**
 * Reads what became of asks that were refused, or whose connection was lost after they were sent (`wasSent`): epoch, seq
 * and checksums say what is written, what never will be, and what may be sent again.
 */
export async function judge(
  connection: Connection,
  asks: readonly { readonly ask: Ask; readonly wasSent: boolean }[],
): Promise<readonly Verdict[]> {
  const rows = await connection.all<FoundRow>({
    name: 'gc-judge',
    text: judgeText,
    values: [
      asks.map(({ ask }) => ask.sessionId),
      asks.map(({ ask }) => ask.expectedSeq),
      asks.map(({ ask }) => ask.records.length),
    ],
  });
  const found = new Map(rows.map((row) => [row.ord - 1, row]));
  return asks.map(({ ask, wasSent }, index) => verdictOf(ask, { row: found.get(index), wasSent }));
}

function verdictOf(
  ask: Ask,
  { row, wasSent }: { readonly row: FoundRow | undefined; readonly wasSent: boolean },
): Verdict {
  const { sessionId, expectedSeq: expected } = ask;
  if (!row) return { type: 'refused', error: unknownSession(sessionId) };
  const isOurs = row.epoch === ask.epoch;
  if (wasSent && isWritten(ask, row)) return { type: 'written', version: isOurs ? row.version : undefined };
  if (!isOurs) return { type: 'refused', error: staleOwner(sessionId) };
  if (row.seq !== expected)
    return { type: 'refused', error: seqConflict(sessionId, { expected, actual: row.seq }) };
  if (ask.version !== undefined && ask.version !== row.version)
    return { type: 'refused', error: staleOwner(sessionId) };
  return { type: 'unsent' };
}

/** A head alone leaves no record: it was written if the row was written once more under the same claim. */
function isWritten({ records, epoch, version }: Ask, row: FoundRow): boolean {
  if (records.length === 0)
    return row.epoch === epoch && version !== undefined && row.version === version + 1;
  const stored = row.checksums ?? [];
  if (stored.length !== records.length) return false;
  return records.every(
    (record, index) => Number(stored[index]) === checksumOf({ ...record, type: columnText(record.type) }),
  );
}
