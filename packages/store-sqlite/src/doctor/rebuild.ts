import { closeSync, openSync, rmSync } from 'node:fs';
import {
  type CutSession,
  firstEpoch,
  type LogRecord,
  parseHead,
  type RepairedSession,
} from '@groundcrew/store';
import { Connection } from '../connection.js';
import type { MarkedSession } from '../deletion-marks.js';
import { loadDriver } from '../driver.js';
import { damaged } from '../faults.js';
import { migrate } from '../migrate.js';
import { deleteRecordsAfter, insertRecords, selectRecords } from '../records.js';
import { restoreSession } from '../sessions.js';
import { keepNothingDeleted } from '../store-file.js';
import { findHoles, isDispensable } from './holes.js';
import { headFault, readLog } from './inspect-sessions.js';
import { leafRows } from './leaf-rows.js';
import type { PageImage } from './page-image.js';
import { type FoundSession, sortRows } from './store-rows.js';

/** What a new store was made of. */
export interface Rebuilt {
  readonly sessions: number;
  readonly records: number;
  /** Sessions that lost their end, and how much of them there is. */
  readonly cut: readonly { readonly sessionId: string; readonly kept: number; readonly of?: number }[];
  /** Sessions that go on without some records of their past. */
  readonly holed: readonly { readonly sessionId: string; readonly missing: readonly number[] }[];
  /** Sessions of which not one record can be read. */
  readonly lost: readonly string[];
  /** Sessions whose deletion had begun; nothing of them is in the new store. */
  readonly deleted: readonly MarkedSession[];
}

/** Writes all rows that an image still holds into a new store. */
export function rebuildStore(options: {
  readonly image: PageImage;
  readonly target: string;
  /** Sessions whose deletion had begun; they stay deleted even where the image still has them. */
  readonly marked: readonly MarkedSession[];
  repair(cut: CutSession): RepairedSession | undefined;
}): Rebuilt {
  const { image, target, marked, repair } = options;
  rmSync(target, { force: true });
  closeSync(openSync(target, 'wx', 0o600));
  const database = new (loadDriver().DatabaseSync)(target);
  try {
    database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
    keepNothingDeleted(database, true);
    migrate(database, { file: target });
    const connection = new Connection(database, target);
    connection.begin();
    const rebuilt = new Rebuilding(connection, repair).run(image, marked);
    connection.commit();
    if (rebuilt.deleted.length > 0) connection.rewrite();
    return rebuilt;
  } finally {
    database.close();
  }
}

class Rebuilding {
  readonly #connection: Connection;
  readonly #repair: (cut: CutSession) => RepairedSession | undefined;
  readonly #ids = new Set<string>();
  readonly #cut: Rebuilt['cut'][number][] = [];
  readonly #holed: Rebuilt['holed'][number][] = [];
  readonly #lost: string[] = [];
  #records = 0;

  constructor(connection: Connection, repair: (cut: CutSession) => RepairedSession | undefined) {
    this.#connection = connection;
    this.#repair = repair;
  }

  run(image: PageImage, marked: readonly MarkedSession[]): Rebuilt {
    const found = sortRows(this.#connection, leafRows(image));
    const rows = this.#connection.all<{ readonly session: number }>('SELECT DISTINCT session FROM record');
    const numbers = new Set([...found.sessions.keys(), ...rows.map(({ session }) => session)]);
    const deleted = new Map([
      ...[...found.removed].map(([number, id]) => [number, id ?? ''] as const),
      ...marked.map(({ number, id }) => [number, id] as const),
    ]);
    // The newest first: of two sessions under one id, the older one was removed; and bodies are shared with older ones.
    for (const number of [...numbers].sort((a, b) => b - a)) {
      const isKept = !deleted.has(number) && this.#restore(number, found.sessions.get(number));
      if (!isKept) deleteRecordsAfter(this.#connection, { session: number, after: 0 });
    }
    return {
      sessions: this.#ids.size,
      records: this.#records,
      cut: this.#cut,
      holed: this.#holed,
      lost: this.#lost,
      deleted: [...deleted].map(([number, id]) => ({ number, id })),
    };
  }

  #restore(number: number, row: FoundSession | undefined): boolean {
    if (row && this.#ids.has(row.id)) return false;
    const log = readLog(this.#connection, number);
    if (row && this.#keepHoled(number, row, log.records)) return true;
    const isCut = !row || row.seq > log.records;
    if (row && row.seq === log.records && headFault(row, log) === undefined) {
      this.#keep(number, row, { sessionId: row.id, records: [], head: parseHead(row.head) }, log.records);
      return true;
    }
    const repaired = log.records > 0 ? this.#repairSession(number, row, log.records) : undefined;
    if (!repaired || this.#ids.has(repaired.sessionId)) {
      if (row) this.#lost.push(row.id);
      return false;
    }
    deleteRecordsAfter(this.#connection, { session: number, after: log.records });
    insertRecords(this.#connection, { session: number, records: repaired.records });
    this.#keep(number, row, repaired, log.records);
    const { sessionId } = repaired;
    if (isCut) this.#cut.push({ sessionId, kept: log.records, ...(row && { of: row.seq }) });
    return true;
  }

  /** False when what is missing could not be done without. */
  #keepHoled(number: number, row: FoundSession, readable: number): boolean {
    if (readable >= row.seq) return false;
    const holes = findHoles(this.#connection, { session: number, end: row.seq });
    if (!isDispensable(holes, row)) return false;
    const session = { sessionId: row.id, records: [], head: parseHead(row.head) };
    this.#keep(number, row, session, row.seq);
    this.#records -= holes.seqs.length;
    this.#holed.push({ sessionId: row.id, missing: holes.seqs });
    return true;
  }

  #repairSession(number: number, row: FoundSession | undefined, kept: number): RepairedSession | undefined {
    return this.#repair({
      records: this.#read(number, kept),
      ...(row && { sessionId: row.id, lost: Math.max(0, row.seq - kept) }),
    });
  }

  #keep(number: number, row: FoundSession | undefined, session: RepairedSession, records: number): void {
    const { sessionId, head } = session;
    const seq = records + session.records.length;
    restoreSession(this.#connection, {
      number,
      sessionId,
      epoch: row ? row.epoch + 1 : firstEpoch(),
      seq,
      head,
    });
    this.#ids.add(sessionId);
    this.#records += records;
  }

  *#read(session: number, end: number): Generator<LogRecord> {
    for (let after = 0; after < end; ) {
      const batch = selectRecords(this.#connection, { session, after });
      if (batch.length === 0) throw damaged(this.#connection.file, `record ${after + 1} is missing`);
      yield* batch;
      after += batch.length;
    }
  }
}
