import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CutSession, LogRecord, Owner, RepairedSession, SessionHead } from '@groundcrew/store';
import type { StorePlace } from '../src/doctor/finding.js';
import { loadDriver } from '../src/driver.js';
import { openSqliteStore, type SqliteStore } from '../src/store.js';

/** A home for a test, with a store that tests may damage. */
export interface TrialHome extends StorePlace {
  readonly directory: string;
  open(): SqliteStore;
  /** Writes these logs and closes the store: all is in its one file. */
  write(logs: Logs): Promise<void>;
  /** Runs SQL behind the store's back. */
  execute(sql: string): void;
  /** The first row of what SQL selects. */
  query<Row>(sql: string): Row | undefined;
  /** The readable records of every session in the store. */
  read(): Promise<Logs>;
  /** Leaves the files as they would be had the process of this store been killed now. */
  kill(store: SqliteStore): Promise<void>;
  close(): void;
}

/** Records by session. */
export type Logs = ReadonlyMap<string, readonly LogRecord[]>;

/** Who writes in tests. */
export const owner: Owner = { runtimeId: 'runtime-ada', pid: 101, host: 'alpha' };

/** Makes an empty home. */
export function makeTrialHome(): TrialHome {
  const directory = mkdtempSync(join(tmpdir(), 'groundcrew-trial-'));
  let place = placeIn(directory);
  const open = () => openSqliteStore(place);
  return {
    get file() {
      return place.file;
    },
    get runDirectory() {
      return place.runDirectory;
    },
    directory,
    open,
    write: async (logs) => {
      const store = open();
      for (const [sessionId, records] of logs)
        await store.claim({ sessionId, owner, create: { records, head: headFor(records) } });
      await store.close();
    },
    execute: (sql) => {
      const database = new (loadDriver().DatabaseSync)(place.file);
      database.exec(sql);
      database.close();
    },
    query: <Row>(sql: string) => {
      const database = new (loadDriver().DatabaseSync)(place.file);
      const row = database.prepare(sql).get() as Row | undefined;
      database.close();
      return row;
    },
    read: async () => {
      const store = open();
      const { items } = await store.list({ includeEmpty: true });
      const logs = new Map<string, readonly LogRecord[]>();
      for (const { sessionId } of items) logs.set(sessionId, await readLog(store, sessionId));
      await store.close();
      return logs;
    },
    kill: async (store) => {
      const files = ['', '-wal'].map((suffix) => [suffix, readFileSync(place.file + suffix)] as const);
      await store.close();
      // The package for Node 20 ends a connection when its statements are collected, and then removes its log by name.
      place = placeIn(mkdtempSync(join(directory, 'killed-')));
      for (const [suffix, bytes] of files) writeFileSync(place.file + suffix, bytes, { mode: 0o600 });
    },
    close: () => rmSync(directory, { recursive: true }),
  };
}

function placeIn(directory: string) {
  return { file: join(directory, 'groundcrew.db'), runDirectory: join(directory, 'run') };
}

/** A log as a session writes it; some records lie on chains of pages, one body out of line when it is long enough. */
export function makeLog(sessionId: string, length: number): readonly LogRecord[] {
  const start = { sessionId, version: 1, producer: 'groundcrew', startTime: time, context: { cwd: '/work' } };
  return [
    { seq: 1, isPublic: false, type: 'settings.fixed', json: '{"clientName":"trial"}' },
    eventAt(2, 'session.start', start),
    ...Array.from({ length: length - 2 }, (_, index) => {
      const size = index === 20 ? 70_000 : (index * 697) % 5000;
      return eventAt(index + 3, 'session.info', { infoType: 'trial', message: sessionId + 'x'.repeat(size) });
    }),
  ];
}

/** The head that belongs to a log. */
export function headFor(records: readonly LogRecord[]): SessionHead {
  return {
    createdAt: time,
    modifiedAt: time,
    hasWork: false,
    userTurns: 1,
    eventCount: records.filter(({ isPublic }) => isPublic).length,
    snapshotSeq: 0,
    context: { cwd: '/work' },
  };
}

/** Ends a cut log with one record; a session without a row is known by its second record. */
export function repair({ sessionId, records, lost }: CutSession): RepairedSession | undefined {
  const kept = [...records];
  const id = sessionId ?? /"sessionId":"(\w+)"/.exec(kept[1]?.json ?? '')?.[1];
  if (id === undefined) return undefined;
  const ending = lost === 0 ? [] : [eventAt(kept.length + 1, 'session.warning', { lost })];
  return { sessionId: id, records: ending, head: headFor([...kept, ...ending]) };
}

async function readLog(store: SqliteStore, sessionId: string): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const batch of store.read(sessionId)) records.push(...batch);
  return records;
}

const time = '2025-01-01T00:00:00.000Z';

function eventAt(seq: number, type: string, data: object): LogRecord {
  const event = {
    type,
    data,
    id: `event-${seq}`,
    timestamp: time,
    parentId: seq > 2 ? `event-${seq - 1}` : null,
  };
  return { seq, isPublic: true, type, json: JSON.stringify(event) };
}
