import { existsSync } from 'node:fs';
import { allSessions, type ClusterOverview, type NodeOverview, type SessionStore } from '@groundcrew/store';
import { openStore, storeFile } from './home-store.js';
import { sharedStore } from './shared-store.js';

/** Where sessions are that are watched. */
export interface WatchedStore {
  /** The server, or the file. */
  readonly name: string;
  look(): Promise<ClusterOverview>;
  close(): Promise<void>;
}

/** What of a store is to be watched. */
export interface WatchedPlace {
  /** The address of PostgreSQL; default: the file of the home. */
  readonly url: string | undefined;
  readonly homeDirectory: string;
  onWarning(message: string): void;
}

/** Opens the store for looking only; undefined when the home has none yet. */
export async function watchedStore(place: WatchedPlace): Promise<WatchedStore | undefined> {
  const { url, homeDirectory, onWarning } = place;
  if (url !== undefined) {
    const { readAddresses } = await import('@groundcrew/store-postgres');
    const store = sharedStore({ url, onWarning });
    return {
      name: readAddresses(url)
        .map(({ name }) => name)
        .join(', '),
      look: async () => (await store.cluster()).overview(),
      close: () => store.close(),
    };
  }
  const file = storeFile(homeDirectory);
  if (!existsSync(file)) return undefined;
  const store = openStore(homeDirectory, { onWarning });
  return { name: file, look: () => overviewOfList(store), close: () => store.close() };
}

/** The processes that have sessions of a store without nodes, by what its list says. */
async function overviewOfList(store: Pick<SessionStore, 'list'>): Promise<ClusterOverview> {
  const sessions = await allSessions(store);
  const owners = new Map<string, NodeOverview>();
  for (const { owner, head } of sessions) {
    if (!owner) continue;
    const { runtimeId, host, pid } = owner;
    const { owned = 0, withWork = 0 } = owners.get(runtimeId) ?? {};
    const counts = { owned: owned + 1, withWork: withWork + (head.hasWork ? 1 : 0) };
    owners.set(runtimeId, { runtimeId, host, pid, labels: [], providers: [], isNode: false, ...counts });
  }
  const working = sessions.filter(({ head }) => head.hasWork);
  return {
    at: new Date().toISOString(),
    nodes: [...owners.values()],
    sessions: {
      total: sessions.length,
      withWork: working.length,
      orphaned: working.filter(({ owner }) => !owner).length,
      waiting: 0,
      scheduled: sessions.filter(({ head }) => head.dueAt !== undefined).length,
      turns: sessions.reduce((sum, { head }) => sum + head.userTurns, 0),
    },
  };
}
