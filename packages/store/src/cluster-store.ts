import type { Lack, NodeWait, Owner, SessionHead, SessionNeeds } from './session-store.js';

/** A runtime that serves clients of a cluster, as the others see it. */
export interface NodeEntry {
  readonly runtimeId: string;
  /** Where others reach it. */
  readonly address: string;
  readonly labels: readonly string[];
  /** Model services that it knows by name. */
  readonly providers: readonly string[];
}

/** What a node shows of itself with each renewal of its lease. */
export interface NodeAnnouncement extends Omit<NodeEntry, 'runtimeId'> {
  readonly figures: NodeFigures;
}

/** What a node does now; counts go from its start. */
export interface NodeFigures {
  readonly version: string;
  readonly startedAt: string;
  readonly isDraining: boolean;
  /** Connected to it, those of other nodes not counted. */
  readonly clients: number;
  /** Clients of other nodes that it serves, and its own that others serve. */
  readonly links: number;
  /** Open at it, and of them those whose turn runs. */
  readonly sessions: number;
  readonly running: number;
  /** Prompts that turns have taken up so far. */
  readonly turns: number;
  /** Prompts that wait for their turn, and questions that wait for an answer. */
  readonly prompts: number;
  readonly questions: number;
  readonly memoryBytes: number;
}

/** A text that all nodes share, and that changes from one version to the next. */
export interface SharedBook {
  /** The text, if there is one later than this version; any by default. */
  read(after?: number): Promise<{ readonly version: number; readonly text: string } | undefined>;
  /** Takes the place of this version, 0 for the first text; false when another text has already. */
  write(text: string, version: number): Promise<boolean>;
}

/** The cluster at one moment. */
export interface ClusterOverview {
  readonly at: string;
  readonly nodes: readonly NodeOverview[];
  readonly sessions: {
    readonly total: number;
    readonly withWork: number;
    /** With work, and no live runtime has them. */
    readonly orphaned: number;
    /** Of these, those that no live node can go on with. */
    readonly waiting: number;
    /** With prompts that come by themselves. */
    readonly scheduled: number;
    /** Prompts of all sessions that are stored. */
    readonly turns: number;
  };
}

/** A runtime as others see it. */
export interface NodeOverview {
  readonly runtimeId: string;
  readonly host: string;
  readonly pid: number;
  readonly labels: readonly string[];
  readonly providers: readonly string[];
  /** It is one of several nodes; others use the store alone. */
  readonly isNode: boolean;
  /** How long its lease is still valid, in milliseconds; negative when it has ended. Absent where a lock says that it lives. */
  readonly leaseMs?: number;
  readonly owned: number;
  readonly withWork: number;
  readonly figures?: NodeFigures;
}

/** Where a session is. */
export interface SessionPlace {
  /** Where its log ends. */
  readonly seq: number;
  /** The node that owns it, if it lives. */
  readonly node?: NodeEntry;
  /** What a node must have to work on it. */
  readonly needs?: SessionNeeds;
}

/** A session with work, or with a prompt that is due, whose node is gone. */
export interface OrphanedSession {
  readonly sessionId: string;
  readonly seq: number;
  readonly head: SessionHead;
}

/** What is used of a day by all nodes; the day is one of UTC, by the clock of the store. */
export interface SharedUse {
  readonly day: string;
  readonly tokens: number;
  /** In US dollars. */
  readonly cost: number;
}

/** Bounds that hold for all nodes together. */
export interface SharedQuotas {
  /**
   * Takes one of `most` places if one is free: for a session that is to be made, or that is to begin a turn. Sessions that there
   * are, or that are at work, take one each by themselves. Resolves with how many the others take. A place of a node whose lease
   * has ended is free.
   */
  take(place: SharedPlace, most: number): Promise<{ readonly isTaken: boolean; readonly others: number }>;
  /** Gives it back: what it was taken for is in the store by now, or did not come about. */
  leave(place: SharedPlace): Promise<void>;
  used(): Promise<SharedUse>;
  /** What this runtime has used of that day in all: said again, it counts once. */
  use(owner: Owner, use: SharedUse): Promise<void>;
}

/** A place that a runtime takes up for a session. */
export interface SharedPlace {
  readonly kind: 'session' | 'turn';
  readonly sessionId: string;
  readonly owner: Owner;
}

/**
 * What a store says that several nodes share, besides what every store does. None of it decides who may write: that is
 * the epoch. After `announce`, claims take no session from a node that lives, be it idle: clients are attached to it there.
 */
export interface ClusterStore {
  /** Shows this runtime to the other nodes from now on, for as long as its lease is renewed. */
  announce(owner: Owner, announcement: () => NodeAnnouncement): Promise<void>;
  /** The nodes that live. */
  nodes(): Promise<readonly NodeEntry[]>;
  /** Where a session is; undefined when there is none of this id. */
  placeOf(sessionId: string): Promise<SessionPlace | undefined>;
  /**
   * Sessions with work that a node was working on whose lease ended so many milliseconds ago, or that one handed over; and
   * those whose scheduled prompt is due while no live runtime has them.
   */
  orphans(query: { readonly limit: number; readonly since: number }): Promise<readonly OrphanedSession[]>;
  /** Notes what this node lacks to go on with an orphan, until some runtime claims it. */
  lack(owner: Owner, sessionId: string, missing: readonly Lack[]): Promise<void>;
  /** What is missing everywhere; undefined where a live runtime has the session, or may take it. */
  waitOf(sessionId: string): Promise<NodeWait | undefined>;
  overview(): Promise<ClusterOverview>;
  /** The approvals that all nodes go by. */
  readonly book: SharedBook;
  readonly quotas: SharedQuotas;
  /** Of schemas with names that begin so, those with work that no live node has: `orphans` of each would find some. */
  schemasWithOrphans(prefix: string): Promise<readonly string[]>;
  /** Of these sessions, those that another runtime has claimed. */
  taken(owner: Owner, sessionIds: readonly string[]): Promise<readonly string[]>;
  /** Gives up a session that has work, so that another node takes it over at once; a stale epoch is ignored. */
  handOver(request: { readonly sessionId: string; readonly epoch: number }): Promise<void>;
  /** Called when the lease had ended before it was renewed: others may have taken sessions over meanwhile. */
  onLapse(listener: () => void): void;
}
