import { removedFilesIn } from '@groundcrew/runtime';
import type { ClusterStore, NoticeOutbox, SessionFiles, SessionStore } from '@groundcrew/store';
import type { PostgresStore, PostgresStoreOptions } from '@groundcrew/store-postgres';

/** The store on PostgreSQL as the program has it. */
export interface SharedStore extends SessionStore {
  /** What several nodes need of it. */
  cluster(): Promise<ClusterStore>;
  /** Webhook messages of all nodes that wait to be sent. */
  readonly outbox: NoticeOutbox;
  load(): void;
  warmUp(): void;
  close(): Promise<void>;
}

/** Loads the store's code with the first call: without an address of PostgreSQL nothing of it is ever loaded. */
export function sharedStore(options: PostgresStoreOptions): SharedStore {
  let opening: Promise<PostgresStore> | undefined;
  const open = () => {
    opening ??= import('@groundcrew/store-postgres').then(({ openPostgresStore }) =>
      openPostgresStore(options),
    );
    return opening;
  };
  return {
    claim: async (request) => (await open()).claim(request),
    append: async (request) => (await open()).append(request),
    release: async (request) => (await open()).release(request),
    read: async function* (sessionId, after) {
      yield* (await open()).read(sessionId, after);
    },
    size: async (sessionId) => (await open()).size(sessionId),
    list: async (query) => (await open()).list(query),
    search: async (request) => (await open()).search(request),
    remove: async (sessionId, by) => (await open()).remove(sessionId, by),
    erased: async () => (await open()).erased(),
    cluster: async () => (await open()).cluster,
    outbox: lateOutbox(async () => (await open()).outbox),
    load: () => void open(),
    warmUp: () =>
      void open()
        .then((store) => store.open())
        .catch((error: Error) => options.onWarning?.(error.message)),
    close: async () => (await opening)?.close(),
  };
}

/** An outbox that is loaded with the first call. */
function lateOutbox(open: () => Promise<NoticeOutbox>): NoticeOutbox {
  return {
    follow: async (...values) => (await open()).follow(...values),
    put: async (...values) => (await open()).put(...values),
    unfollow: async (...values) => (await open()).unfollow(...values),
    remove: async (...values) => (await open()).remove(...values),
    followed: async () => (await open()).followed(),
    take: async (query) => (await open()).take(query),
    dueIn: async (endpoint) => (await open()).dueIn(endpoint),
    settle: async (message) => (await open()).settle(message),
    postpone: async (...values) => (await open()).postpone(...values),
    keepOnly: async (endpoints) => (await open()).keepOnly(endpoints),
    // With the store.
    close: async () => undefined,
  };
}

/** What sessions keep in the directories of several homes: a removed one may have had any of them. */
export function filesOf(directories: Iterable<string>): SessionFiles {
  const all = () => [...directories].map((directory) => removedFilesIn(directory));
  return {
    detach: (removed, options) => {
      for (const files of all()) files.detach(removed, options);
    },
    discard: async (number) => {
      for (const files of all()) await files.discard(number);
    },
  };
}
