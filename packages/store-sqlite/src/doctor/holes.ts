import { parseHead } from '@groundcrew/store';
import type { Connection } from '../connection.js';
import { selectRecords } from '../records.js';

/** The records of a log that cannot be read. */
export interface Holes {
  /** The records that cannot be read. */
  readonly seqs: readonly number[];
  /** None of them is there: nothing is damaged any more, and nothing can be done about it. */
  readonly areEmpty: boolean;
}

/** Looks for the records of a log, up to its end, that cannot be read. */
export function findHoles(
  connection: Connection,
  { session, end }: { readonly session: number; readonly end: number },
): Holes {
  const seqs: number[] = [];
  let areEmpty = true;
  for (let after = 0; after < end; ) {
    const last = lastReadable(connection, session, after);
    if (last === undefined) {
      after += 1;
      seqs.push(after);
      areEmpty &&= !isThere(connection, session, after);
    } else after = last;
  }
  return { seqs, areEmpty };
}

/** Whether a session can go on without these records: its newest snapshot has them, or is itself the only one. */
export function isDispensable({ seqs }: Holes, { head }: { readonly head: string }): boolean {
  try {
    const { snapshotSeq } = parseHead(head);
    return seqs.every((seq) => seq < snapshotSeq) || (seqs.length === 1 && seqs[0] === snapshotSeq);
  } catch {
    return false; // a head that cannot be read knows of no snapshot
  }
}

/** Where the records end that can be read after a seq; undefined when there are none. */
function lastReadable(connection: Connection, session: number, after: number): number | undefined {
  try {
    return selectRecords(connection, { session, after }).at(-1)?.seq;
  } catch {
    return undefined; // the next record is the damaged one
  }
}

function isThere(connection: Connection, session: number, seq: number): boolean {
  try {
    return connection.get('SELECT 1 FROM record WHERE session = ? AND seq = ?', session, seq) !== undefined;
  } catch {
    return true; // what SQLite cannot look for may be there
  }
}
