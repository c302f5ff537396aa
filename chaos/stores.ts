import { join } from 'node:path';
import type { LogRecord, SessionStore } from '@groundcrew/store';
import { openPostgresStore } from '@groundcrew/store-postgres';
import { openSqliteStore } from '@groundcrew/store-sqlite';
import { findPostgres, openPostgres } from '@groundcrew/testkit';

/** Where the runtimes of a lab keep sessions, and how the log of one is read without them. */
export interface ChaosStores {
  /** Gets ready for a new home, or for one that is a copy of another. */
  prepare(home: string, original?: string): Promise<void>;
  /** What a runtime on the home is started with. */
  environment(home: string): Readonly<Record<string, string>>;
  /** The log of one session, private records included; throws at a gap or a wrong checksum. */
  read(home: string, sessionId: string): Promise<readonly LogRecord[]>;
  close(): Promise<void>;
}

/** A file in each home. */
export const sqliteStores: ChaosStores = {
  prepare: async () => undefined,
  environment: () => ({}),
  read: (home, sessionId) =>
    readAll(
      openSqliteStore({ file: join(home, 'groundcrew.db'), runDirectory: join(home, 'run') }),
      sessionId,
    ),
  close: async () => undefined,
};

/** A database for each home, on a server that is started for it. */
export async function postgresStores(): Promise<ChaosStores> {
  const source = findPostgres(process.env, { downloaded: true });
  if (typeof source === 'string') throw new Error(`There is no PostgreSQL: ${source}`);
  const server = await openPostgres(source);
  const urls = new Map<string, string>();
  const urlOf = (home: string) => urls.get(home) ?? '';
  return {
    prepare: async (home, original) => {
      urls.set(home, await server.newDatabase(original && urlOf(original)));
    },
    environment: (home) => ({ GROUNDCREW_STORE: urlOf(home) }),
    read: (home, sessionId) => readAll(openPostgresStore({ url: urlOf(home) }), sessionId),
    close: () => server.close(),
  };
}

async function readAll(
  store: SessionStore & { close(): Promise<void> },
  sessionId: string,
): Promise<readonly LogRecord[]> {
  try {
    const records: LogRecord[] = [];
    for await (const batch of store.read(sessionId)) records.push(...batch);
    return records;
  } finally {
    await store.close();
  }
}
