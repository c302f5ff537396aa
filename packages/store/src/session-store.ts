/** One line of a session's log. `json` is written and read as it stands; the store never looks inside. */
export interface LogRecord {
  /** Position in the session's log, counted from 1 without gaps. */
  readonly seq: number;
  /** Public records are the events users see; private ones are the session's own notes. */
  readonly isPublic: boolean;
  readonly type: string;
  readonly json: string;
}

/** A record that is to be written. */
export interface NewRecord extends LogRecord {
  /** A record with the very same `json`, maybe of another session; a store may then keep that text once for both. */
  readonly sameAs?: { readonly sessionId: string; readonly seq: number };
}

/** Who writes a session: one runtime process, distinguished from every other by its `runtimeId`. */
export interface Owner {
  readonly runtimeId: string;
  readonly pid: number;
  readonly host: string;
}

/** What lists, claims and resumes need to know of a session without reading its log. */
export interface SessionHead {
  readonly createdAt: string;
  readonly modifiedAt: string;
  /** A turn runs, a question is open or a prompt waits: another live process may not take the session over. */
  readonly hasWork: boolean;
  /** Sessions without a user turn are not listed. */
  readonly userTurns: number;
  /** Public records so far. */
  readonly eventCount: number;
  /** Seq of the newest `snapshot` record; 0 when there is none. */
  readonly snapshotSeq: number;
  readonly name?: string;
  /** A user gave it its name. */
  readonly isNamed?: boolean;
  readonly summary?: string;
  readonly clientName?: string;
  /** The model that it talks to. */
  readonly model?: string;
  /** Tokens that its model calls took, and what they cost in US dollars; null when some price is not known. */
  readonly tokens?: number;
  readonly cost?: number | null;
  /** Stretches of the log, by their first and last seq, whose events readers no longer see. */
  readonly removed?: readonly (readonly [first: number, last: number])[];
  /** A fork or an import that is being written; what is left of one that was broken off is deleted. */
  readonly isUnfinished?: boolean;
  /** When its next scheduled prompt is due, in milliseconds since 1970; absent when it has none. */
  readonly dueAt?: number;
  /** What a node must have to go on with it; absent when nothing. */
  readonly needs?: SessionNeeds;
  readonly context: SessionContext;
}

/** What a node must have to go on with a session. */
export interface SessionNeeds {
  /** A model service that is known by this name. */
  readonly providerRef?: string;
  readonly labels?: readonly string[];
  /** Keys that only its client has. */
  readonly secrets?: true;
}

/** What a node lacks to go on with a session. */
export interface Lack {
  readonly kind: 'label' | 'provider' | 'directory' | 'client';
  /** The label, the name of the provider or the path; what only a client has is called by what it is. */
  readonly name: string;
}

/** A session with work that no live node can go on with: what each of them lacks. */
export interface NodeWait {
  readonly since: string;
  readonly nodes: readonly { readonly node: string; readonly missing: readonly Lack[] }[];
}

/** Where a session works; what `session.list` filters by. */
export interface SessionContext {
  readonly cwd: string;
  readonly gitRoot?: string;
  readonly repository?: string;
  readonly branch?: string;
}

export interface SessionSummary {
  readonly sessionId: string;
  readonly seq: number;
  readonly head: SessionHead;
  /** The runtime that writes it now, if it is alive. */
  readonly owner?: OwnerSince;
  /** It has work, and no live node can go on with it. */
  readonly waitsForNode?: NodeWait;
}

export interface OwnerSince extends Owner {
  readonly since: string;
}

export interface SessionQuery {
  readonly sessionId?: string;
  readonly context?: Partial<SessionContext>;
  /** Also those without a user turn. */
  readonly includeEmpty?: boolean;
  readonly limit?: number;
  readonly cursor?: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly cursor?: string;
}

export interface ClaimRequest {
  readonly sessionId: string;
  readonly owner: Owner;
  /** Takes the session even from a live owner that has work. */
  readonly force?: boolean;
  /** Makes the session with these first records when it is unknown, in the same commit as the claim. */
  readonly create?: { readonly records: readonly NewRecord[]; readonly head: SessionHead };
}

export interface Claim {
  readonly epoch: number;
  readonly seq: number;
  readonly head: SessionHead;
  /** True when this claim made the session. */
  readonly isNew: boolean;
}

export interface AppendRequest {
  readonly sessionId: string;
  readonly epoch: number;
  readonly expectedSeq: number;
  readonly records: readonly NewRecord[];
  /** The head after these records; written in the same commit. */
  readonly head: SessionHead;
}

/** What is looked for in all sessions. */
export interface SearchRequest {
  /** What users typed; see `searchTerms`. */
  readonly words: string;
  /** At most so many sessions are found. */
  readonly limit: number;
  /** What of a record is searched; undefined for one that is not. The same record always has the same text. */
  textOf(record: LogRecord): string | undefined;
  /** Called while sessions are read that no search has read before. */
  onProgress?(progress: { readonly done: number; readonly of: number }): void;
}

/** A session that was found, by the best of its passages. */
export interface SearchHit {
  readonly sessionId: string;
  readonly seq: number;
  readonly text: string;
}

/**
 * Where session logs live. The log is the session; everything else is derived from it.
 *
 * **Order.** Calls of `append`, `release` and `remove` for one session take effect, and are acknowledged, in the order in
 * which they are called, also when the caller does not wait in between. An append called behind one that failed fails as
 * well, because `expectedSeq` is not the end of the log. Calls for different sessions have no order among them.
 *
 * **Ownership.** The epoch decides who writes, and the store compares it in the same commit as the records. How a store
 * knows that an owner lives is its own affair: the embedded one asks a lock that the kernel drops, one with leases asks
 * the lease, and nothing above this port takes or asks a file lock for a session.
 */
export interface SessionStore {
  /** Makes `owner` the writer and raises the epoch. Throws StoreError `unknown_session` or `in_use`. */
  claim(request: ClaimRequest): Promise<Claim>;
  /** Appends after `expectedSeq` under `epoch`, all or nothing, synced; throws StoreError `stale_owner` or `seq_conflict`. */
  append(request: AppendRequest): Promise<void>;
  /** Gives the session up; a stale epoch is ignored. */
  release(request: { readonly sessionId: string; readonly epoch: number }): Promise<void>;
  /** Records with seq greater than `after`, in order, in batches. An unknown session yields nothing. */
  read(sessionId: string, after?: number): AsyncIterable<readonly LogRecord[]>;
  /** Bytes that the records of a session take, less what it shares with an older one; 0 of an unknown one. */
  size(sessionId: string): Promise<number>;
  /** Newest first. */
  list(query?: SessionQuery): Promise<Page<SessionSummary>>;
  /**
   * Sessions with a passage that has all the words, the best first; those with one that has any of them where there are none.
   * What was appended since the last search is read first. Nothing that readers no longer see is found.
   */
  search(request: SearchRequest): Promise<readonly SearchHit[]>;
  /**
   * Takes the session out of sight, for good; false when there was none. Throws StoreError `in_use` while a live runtime
   * other than `by` has work in it; one that merely has it open finds it gone.
   */
  remove(sessionId: string, by?: Owner): Promise<boolean>;
  /** Resolves when nothing is left of what was removed; rejects with StoreError when that has to wait. */
  erased(): Promise<void>;
}

/** The files that sessions keep beside the store. */
export interface SessionFiles {
  /**
   * Puts what a removed session kept where no new session of its id will look; the store is locked meanwhile. `isReused`:
   * one is being made at this moment.
   */
  detach(
    removed: { readonly number: number; readonly id: string },
    options?: { readonly isReused?: boolean },
  ): void;
  /** Deletes what was put there. */
  discard(number: number): Promise<void>;
}

export type StoreErrorKind =
  | 'unknown_session'
  | 'in_use'
  | 'stale_owner'
  | 'seq_conflict'
  | 'busy'
  | 'full'
  | 'read_only'
  | 'damaged'
  | 'newer_schema'
  | 'io';

/** Every failure of a store. `busy`, `full` and `read_only` may pass; nothing was written when one is thrown. */
export class StoreError extends Error {
  override readonly name = 'StoreError';

  constructor(
    readonly kind: StoreErrorKind,
    message: string,
    options?: ErrorOptions & { readonly owner?: OwnerSince },
  ) {
    super(message, options);
    this.owner = options?.owner;
  }

  /** Set for `in_use`: who has the session. */
  readonly owner: OwnerSince | undefined;
}
