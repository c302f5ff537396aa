import { randomUUID } from 'node:crypto';
import { isBuiltin } from 'node:module';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { Environment } from '@groundcrew/models';
import type { RuntimeOptions } from '@groundcrew/runtime';
import type { Owner, SessionStore } from '@groundcrew/store';
import {
  type IdleStore,
  idleStore,
  type SqliteStore,
  type SqliteStoreOptions,
} from '@groundcrew/store-sqlite';
import { openStore } from './home-store.js';
import { filesOf, type SharedStore, sharedStore } from './shared-store.js';

declare const __FAILPOINTS__: boolean;

/** What homes and their stores need to know. */
export interface HomesOptions {
  readonly homeDirectory: string;
  readonly environment: Environment;
  /** The address of the PostgreSQL that holds the sessions of every home; default: each home has its own file. */
  readonly store?: string;
  /** Does a step of a search in another process. */
  readonly searchElsewhere?: NonNullable<SqliteStoreOptions['searchElsewhere']>;
  /** Watches what is stored; default: nothing does. */
  watch?(home: string, store: SessionStore): Partial<SessionStore> | undefined;
  warn(message: string): void;
}

/** The store of the home that the program was started with. */
export interface HomeStore extends SessionStore {
  /** Loads the driver now, so that the first call need not. */
  load(): void;
  /** Opens the store now, if there is one. */
  warmUp(): void;
  close(): Promise<void>;
}

/**
 * One store for each home in use: the default one, and those that sessions name by `configDir`. With PostgreSQL there is
 * one store for all, and a home is where files lie.
 */
export class Homes {
  readonly owner: Owner = { runtimeId: randomUUID(), pid: process.pid, host: hostname() };
  private readonly stores = new Map<string, SqliteStore>();
  private readonly others = new Map<string, IdleStore>();
  private closed = 0;
  private collecting: NodeJS.Timeout | undefined;
  private readonly failpoint: (() => void) | undefined;
  /** The store that all homes share, if they do. */
  readonly shared: SharedStore | undefined;
  private readonly directories = new Set<string>();
  private readonly watched = new Map<string, SessionStore>();

  constructor(private readonly options: HomesOptions) {
    if (__FAILPOINTS__) this.failpoint = killAt(options.environment.GROUNDCREW_FAILPOINT);
    const { store: url, homeDirectory } = options;
    this.directories.add(resolve(homeDirectory));
    if (url !== undefined)
      this.shared = sharedStore({ url, files: filesOf(this.directories), ...this.watchers() });
  }

  get(directory: string): ReturnType<RuntimeOptions['home']> {
    this.directories.add(directory);
    const { watch } = this.options;
    if (!watch) return { directory, store: this.plain(directory) };
    const known =
      this.watched.get(directory) ?? watchedStore(this.plain(directory), this.placeOf(directory), watch);
    this.watched.set(directory, known);
    return { directory, store: known };
  }

  /** The store of a home, without its watchers. */
  plain(directory: string): SessionStore {
    if (this.shared) return this.shared;
    const isOwn = directory === resolve(this.options.homeDirectory);
    return isOwn ? this.store(directory) : this.other(directory);
  }

  /** What all nodes call the place of a store: the shared one is the same whatever home a node has. */
  private placeOf(directory: string): string {
    return this.shared ? '' : directory;
  }

  /** The store of the home that the program was started with. */
  get main(): HomeStore {
    return this.shared ?? this.store(resolve(this.options.homeDirectory));
  }

  private store(directory: string): SqliteStore {
    const known = this.stores.get(directory);
    if (known) return known;
    const store = this.open(directory);
    this.stores.set(directory, store);
    return store;
  }

  async close(): Promise<void> {
    await this.shared?.close();
    await Promise.all([...this.stores.values(), ...this.others.values()].map((store) => store.close()));
    this.stores.clear();
    this.others.clear();
  }

  /** There may be hundreds of these: one that is unused keeps no file open. */
  private other(directory: string): IdleStore {
    const known = this.others.get(directory);
    if (known) return known;
    const store = idleStore({
      open: () => this.open(directory),
      idleMilliseconds: 1000,
      onClosed: () => this.closedOther(),
    });
    this.others.set(directory, store);
    return store;
  }

  /** On Node 20 a database that is closed keeps its files until its statements are collected. */
  private closedOther(): void {
    this.closed += 1;
    if (this.closed < worthCollecting || hasBuiltInSqlite()) return;
    this.collecting ??= setTimeout(() => {
      this.collecting = undefined;
      this.closed = 0;
      void collectGarbage();
    }, 500).unref();
  }

  private open(directory: string): SqliteStore {
    const { searchElsewhere } = this.options;
    return openStore(directory, { ...this.watchers(), ...(searchElsewhere && { searchElsewhere }) });
  }

  private watchers(): { onWarning(message: string): void; failpoint?: () => void } {
    return {
      onWarning: (message) => this.options.warn(message),
      ...(this.failpoint && { failpoint: this.failpoint }),
    };
  }
}

/** A store of which some calls are looked on. */
function watchedStore(
  store: SessionStore,
  place: string,
  watch: NonNullable<HomesOptions['watch']>,
): SessionStore {
  return {
    claim: (request) => store.claim(request),
    append: (request) => store.append(request),
    release: (request) => store.release(request),
    read: (sessionId, after) => store.read(sessionId, after),
    size: (sessionId) => store.size(sessionId),
    list: (query) => store.list(query),
    search: (request) => store.search(request),
    remove: (sessionId, by) => store.remove(sessionId, by),
    erased: () => store.erased(),
    ...watch(place, store),
  };
}

/** Fewer of them take few files. */
const worthCollecting = 8;

function hasBuiltInSqlite(): boolean {
  return isBuiltin('node:sqlite');
}

/** Ends the process without a word at the n-th write step of its stores; only chaos tests run a build that has it. */
function killAt(step: string | undefined): () => void {
  let steps = 0;
  return () => {
    steps += 1;
    if (steps === Number(step)) process.kill(process.pid, 'SIGKILL');
  };
}

/** Collects unreferenced objects now: on Node 20 a closed database keeps its files open until then. */
async function collectGarbage(): Promise<void> {
  const [{ setFlagsFromString }, { runInNewContext }] = await Promise.all([
    import('node:v8'),
    import('node:vm'),
  ]);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // what the flag is for
  setFlagsFromString('--no-expose-gc');
  collect();
}
