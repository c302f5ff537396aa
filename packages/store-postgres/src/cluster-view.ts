import type {
  ClusterOverview,
  ClusterStore,
  Lack,
  NodeAnnouncement,
  NodeEntry,
  NodeWait,
  OrphanedSession,
  Owner,
  SessionPlace,
  SharedBook,
  SharedQuotas,
} from '@groundcrew/store';
import { readBook, writeBook } from './book.js';
import {
  handOverSession,
  liveNodes,
  orphanedSessions,
  placeOfSession,
  takenSessions,
} from './cluster-queries.js';
import { columnText } from './columns.js';
import type { Connection } from './connection.js';
import { noteLack, waitsOf } from './lacks.js';
import type { Lease } from './lease.js';
import { overviewOf } from './overview.js';
import { countUse, leavePlace, takePlace, usedToday } from './quotas.js';
import { schemasOf, withOrphans } from './tenant-schemas.js';

type Work<T> = (connection: Connection) => Promise<T>;

/** What the view has of its store. */
export interface ClusterViewParts {
  readonly lease: Lease;
  /** The server was away: no owner of a lease is taken for dead. */
  isGraceTime(): boolean;
  /** On a connection for reads, again until it is answered. */
  read<T>(work: Work<T>): Promise<T>;
  /** Again until it is done or the store's patience is over. */
  again<T>(attempt: (deadline: number) => Promise<T>): Promise<T>;
  /** When all that was written before of a session is done. */
  inTurn<T>(sessionId: string, work: (deadline: number) => Promise<T>): Promise<T>;
  /** The session is no longer written under this claim. */
  endClaim(sessionId: string, epoch: number): void;
  /** On a connection for writes, again until the deadline. */
  write<T>(work: Work<T>, deadline: number): Promise<T>;
}

/** Which schemas there are is asked so seldom: a new one has no work that is lost already. */
const schemasKnownMs = 3_000;

/** The same store as several nodes see it. */
export class ClusterView implements ClusterStore {
  #isNode = false;
  #schemas: { readonly prefix: string; readonly names: readonly string[]; readonly until: number } = {
    prefix: '',
    names: [],
    until: 0,
  };

  constructor(private readonly parts: ClusterViewParts) {}

  /** Other nodes forward to this one, and it to them. */
  get isNode(): boolean {
    return this.#isNode;
  }

  announce(owner: Owner, announcement: () => NodeAnnouncement): Promise<void> {
    const { again, lease } = this.parts;
    this.#isNode = true;
    return again((deadline) => lease.announce({ owner, announcement }, deadline));
  }

  nodes(): Promise<readonly NodeEntry[]> {
    return this.parts.read(liveNodes);
  }

  async placeOf(sessionId: string): Promise<SessionPlace | undefined> {
    const { read, isGraceTime } = this.parts;
    // No other id is kept as it is.
    if (columnText(sessionId) !== sessionId) return undefined;
    return read((connection) => placeOfSession(connection, { sessionId, isGraceTime: isGraceTime() }));
  }

  async orphans(query: {
    readonly limit: number;
    readonly since: number;
  }): Promise<readonly OrphanedSession[]> {
    if (this.parts.isGraceTime()) return [];
    return this.parts.read((connection) => orphanedSessions(connection, query));
  }

  lack(owner: Owner, sessionId: string, missing: readonly Lack[]): Promise<void> {
    return this.parts.read((connection) => noteLack(connection, { owner, sessionId, missing }));
  }

  async waitOf(sessionId: string): Promise<NodeWait | undefined> {
    const waits = await this.parts.read((connection) => waitsOf(connection, [columnText(sessionId)]));
    return waits.get(sessionId);
  }

  readonly book: SharedBook = {
    read: (after = 0) => this.parts.read((connection) => readBook(connection, after)),
    write: (text, version) => this.parts.read((connection) => writeBook(connection, { text, version })),
  };

  readonly quotas: SharedQuotas = {
    take: async (place, most) => {
      // A place counts while its runtime has a lease.
      await this.parts.again((deadline) => this.parts.lease.hold(place.owner, deadline));
      return this.parts.read((connection) => takePlace(connection, place, most));
    },
    leave: (place) => this.parts.read((connection) => leavePlace(connection, place)),
    used: () => this.parts.read(usedToday),
    use: (owner, use) => this.parts.read((connection) => countUse(connection, owner, use)),
  };

  async schemasWithOrphans(prefix: string): Promise<readonly string[]> {
    const { read, isGraceTime } = this.parts;
    if (isGraceTime()) return [];
    if (performance.now() > this.#schemas.until || this.#schemas.prefix !== prefix) {
      const names = await read((connection) => schemasOf(connection, prefix));
      this.#schemas = { prefix, names, until: performance.now() + schemasKnownMs };
    }
    const { names } = this.#schemas;
    return read((connection) => withOrphans(connection, names));
  }

  overview(): Promise<ClusterOverview> {
    return this.parts.read(overviewOf);
  }

  taken(owner: Owner, sessionIds: readonly string[]): Promise<readonly string[]> {
    return this.parts.read((connection) => takenSessions(connection, { owner, sessionIds }));
  }

  handOver(request: { readonly sessionId: string; readonly epoch: number }): Promise<void> {
    const { inTurn, endClaim, write } = this.parts;
    const { sessionId, epoch } = request;
    return inTurn(sessionId, async (deadline) => {
      endClaim(sessionId, epoch);
      await write((connection) => handOverSession(connection, request), deadline);
    });
  }

  onLapse(listener: () => void): void {
    this.parts.lease.onLapse(listener);
  }
}
