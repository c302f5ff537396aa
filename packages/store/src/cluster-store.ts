import type { Owner, SessionHead } from './session-store.js';

/** A runtime that serves clients of a cluster, as the others see it. */
export interface NodeEntry {
  readonly runtimeId: string;
  /** Where others reach it. */
  readonly address: string;
  readonly labels: readonly string[];
}

/** Where a session is. */
export interface SessionPlace {
  /** Where its log ends. */
  readonly seq: number;
  /** The node that owns it, if it lives. */
  readonly node?: NodeEntry;
}

/** A session with work whose node is gone. */
export interface OrphanedSession {
  readonly sessionId: string;
  readonly seq: number;
  readonly head: SessionHead;
}

/**
 * What a store says that several nodes share, besides what every store does. None of it decides who may write: that is
 * the epoch. After `announce`, claims take no session from a node that lives, be it idle: clients are attached to it there.
 */
export interface ClusterStore {
  /** Shows this runtime to the other nodes from now on, for as long as its lease is renewed. */
  announce(owner: Owner, entry: Pick<NodeEntry, 'address' | 'labels'>): Promise<void>;
  /** The nodes that live. */
  nodes(): Promise<readonly NodeEntry[]>;
  /** Where a session is; undefined when there is none of this id. */
  placeOf(sessionId: string): Promise<SessionPlace | undefined>;
  /** Sessions with work that a node was working on whose lease ended so many milliseconds ago, or that one handed over. */
  orphans(query: { readonly limit: number; readonly since: number }): Promise<readonly OrphanedSession[]>;
  /** Of these sessions, those that another runtime has claimed. */
  taken(owner: Owner, sessionIds: readonly string[]): Promise<readonly string[]>;
  /** Gives up a session that has work, so that another node takes it over at once; a stale epoch is ignored. */
  handOver(request: { readonly sessionId: string; readonly epoch: number }): Promise<void>;
  /** Called when the lease had ended before it was renewed: others may have taken sessions over meanwhile. */
  onLapse(listener: () => void): void;
}
