import { asRanges, parseHead } from '@groundcrew/store';
import type { Connection } from '../connection.js';
import { reasonOf } from '../faults.js';
import { selectRecords } from '../records.js';
import type { Finding } from './finding.js';
import { findHoles, type Holes, isDispensable } from './holes.js';

/** A session's row, as far as checks go. */
export interface CheckedRow {
  readonly number: number;
  readonly id: string;
  readonly seq: number;
  readonly head: string;
}

/** What a session's log holds up to its first damage. */
export interface ReadableLog {
  readonly records: number;
  readonly events: number;
  /** Seq of the newest snapshot; 0 when there is none. */
  readonly snapshotSeq: number;
  /** Why it ends there. */
  readonly damage?: string;
}

/** Checks every session with its records and their bodies. */
export function inspectSessions(connection: Connection): {
  readonly sessions: number;
  readonly records: number;
  readonly findings: readonly Finding[];
} {
  const rows = connection.all<CheckedRow>('SELECT number, id, seq, head FROM session ORDER BY number');
  let records = 0;
  const findings: Finding[] = [];
  for (const row of rows) {
    const log = readLog(connection, row.number);
    const holes = findHoles(connection, { session: row.number, end: log.records < row.seq ? row.seq : 0 });
    if (holes.seqs.length > 0 && isDispensable(holes, row)) {
      records += row.seq - holes.seqs.length;
      findings.push(holed(row, holes));
      continue;
    }
    records += log.records;
    const fault = logFault(row, log) ?? headFault(row, log);
    if (fault !== undefined) findings.push(damage(`Session ${row.id}: ${fault}.`));
  }
  return { sessions: rows.length, records, findings };
}

/** Reads a log from its first record to its end or to the first that cannot be read. */
export function readLog(connection: Connection, session: number): ReadableLog {
  let records = 0;
  let events = 0;
  let snapshotSeq = 0;
  try {
    for (;;) {
      const batch = selectRecords(connection, { session, after: records });
      if (batch.length === 0) return { records, events, snapshotSeq };
      for (const { isPublic, type, seq } of batch) {
        if (isPublic) events += 1;
        else if (type === 'snapshot') snapshotSeq = seq;
      }
      records += batch.length;
    }
  } catch (error) {
    return { records, events, snapshotSeq, damage: reasonOf(error) };
  }
}

/** What is wrong with a head beside a log that is whole. */
export function headFault(row: Pick<CheckedRow, 'head'>, log: ReadableLog): string | undefined {
  try {
    const { eventCount, snapshotSeq } = parseHead(row.head);
    if (eventCount !== log.events) return `its head counts ${eventCount} events, its log has ${log.events}`;
    if (snapshotSeq === log.snapshotSeq) return undefined;
    return `its head knows a snapshot at ${snapshotSeq}, its log has one at ${log.snapshotSeq}`;
  } catch (error) {
    return `its head cannot be read (${reasonOf(error)})`;
  }
}

function holed({ id }: CheckedRow, { seqs, areEmpty }: Holes): Finding {
  const message = `Session ${id}: record ${asRanges(seqs)} cannot be read; the rest is whole, and the session goes on without.`;
  return areEmpty ? { type: 'note', message } : damage(message);
}

function logFault({ seq }: CheckedRow, { records, damage }: ReadableLog): string | undefined {
  if (records > seq) return `its log has ${records} records, and should end at ${seq}`;
  if (damage === undefined && records === seq) return undefined;
  return `${records} of ${seq} records can be read; ${damage ?? `record ${records + 1} is missing`}`;
}

/** What no session refers to, those aside whose removal is still under way. */
export function inspectStrays(connection: Connection): readonly Finding[] {
  const records = count(
    connection,
    `record WHERE session NOT IN (SELECT number FROM session)
       AND session NOT IN (SELECT number FROM removed_session)`,
  );
  const bodies = count(
    connection,
    `blob WHERE session NOT IN (SELECT number FROM removed_session) AND (session, hash) NOT IN
       (SELECT session, blob_hash FROM record WHERE blob_hash IS NOT NULL)`,
  );
  return [
    ...(records > 0 ? [damage(`${records} records belong to no session.`)] : []),
    ...(bodies > 0 ? [damage(`${bodies} bodies belong to no record.`)] : []),
  ];
}

function damage(message: string): Finding {
  return { type: 'damaged', message };
}

function count(connection: Connection, what: string): number {
  return connection.get<{ readonly rows: number }>(`SELECT count(*) AS rows FROM ${what}`)?.rows ?? 0;
}
