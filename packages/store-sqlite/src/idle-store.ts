import {
  type AppendRequest,
  type Claim,
  type ClaimRequest,
  isStale,
  type LogRecord,
  type Owner,
  type Page,
  type SearchHit,
  type SearchRequest,
  type SessionQuery,
  type SessionStore,
  type SessionSummary,
} from '@groundcrew/store';
import type { SqliteStore } from './store.js';

/** A store that keeps its files open only while it is used. */
export interface IdleStore extends SessionStore {
  close(): Promise<void>;
}

/**
 * A store for a home that may be one of hundreds: after a while without a call it closes its database, and with no session
 * open its lock too; the next call opens what it needs again.
 */
export function idleStore(options: IdleStoreOptions): IdleStore {
  return new StoreInUse(options);
}

export interface IdleStoreOptions {
  open(): SqliteStore;
  readonly idleMilliseconds: number;
  /** Called each time its database was closed because it was unused. */
  onClosed?(): void;
}

class StoreInUse implements IdleStore {
  /** Sessions that are ours to write, under which epoch: the lock that says we live stays for them. */
  readonly #claimed = new Map<string, number>();
  #store: SqliteStore | undefined;
  #closing: Promise<void> = Promise.resolve();
  #calls = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: IdleStoreOptions) {}

  claim(request: ClaimRequest): Promise<Claim> {
    return this.#use(async (store) => {
      const claim = await store.claim(request);
      this.#claimed.set(request.sessionId, claim.epoch);
      return claim;
    });
  }

  append(request: AppendRequest): Promise<void> {
    return this.#use((store) =>
      store.append(request).catch((error: unknown) => {
        if (isStale(error)) this.#releaseSession(request);
        throw error;
      }),
    );
  }

  release(request: { readonly sessionId: string; readonly epoch: number }): Promise<void> {
    return this.#use(async (store) => {
      await store.release(request);
      this.#releaseSession(request);
    });
  }

  async *read(sessionId: string, after?: number): AsyncIterable<readonly LogRecord[]> {
    const store = await this.#begin();
    try {
      yield* store.read(sessionId, after);
    } finally {
      this.#end();
    }
  }

  size(sessionId: string): Promise<number> {
    return this.#use((store) => store.size(sessionId));
  }

  list(query?: SessionQuery): Promise<Page<SessionSummary>> {
    return this.#use((store) => store.list(query));
  }

  search(request: SearchRequest): Promise<readonly SearchHit[]> {
    return this.#use((store) => store.search(request));
  }

  remove(sessionId: string, owner?: Owner): Promise<boolean> {
    return this.#use(async (store) => {
      const isRemoved = await store.remove(sessionId, owner);
      this.#claimed.delete(sessionId);
      return isRemoved;
    });
  }

  erased(): Promise<void> {
    return this.#use((store) => store.erased());
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#closing;
    await this.#store?.close();
  }

  /** What an earlier claim gives up, a later one may still have. */
  #releaseSession({ sessionId, epoch }: { readonly sessionId: string; readonly epoch: number }): void {
    if (this.#claimed.get(sessionId) === epoch) this.#claimed.delete(sessionId);
  }

  async #use<T>(call: (store: SqliteStore) => Promise<T>): Promise<T> {
    const store = await this.#begin();
    try {
      return await call(store);
    } finally {
      this.#end();
    }
  }

  /** One store at a time: what the last one closes must not be what the next one has just opened. */
  async #begin(): Promise<SqliteStore> {
    this.#calls += 1;
    clearTimeout(this.#timer);
    await this.#closing;
    this.#store ??= this.options.open();
    return this.#store;
  }

  #end(): void {
    this.#calls -= 1;
    if (this.#calls === 0) this.#wait();
  }

  #wait(): void {
    this.#timer = setTimeout(() => this.#idleOrClose(), this.options.idleMilliseconds).unref();
  }

  #idleOrClose(): void {
    const store = this.#store;
    if (!store) return;
    if (this.#claimed.size === 0) {
      this.#store = undefined;
      this.#closing = store.close();
    } else if (!store.idle()) {
      this.#wait();
      return;
    }
    this.options.onClosed?.();
  }
}
