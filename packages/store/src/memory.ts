import { firstEpoch } from './epoch.js';
import { matches, newestFirst, pageOf } from './query.js';
import { inUse, requireConsecutive, seqConflict, staleOwner, unknownSession } from './refusals.js';
import { indexTerms, searchTerms } from './search-terms.js';
import type {
  AppendRequest,
  Claim,
  ClaimRequest,
  LogRecord,
  NewRecord,
  Owner,
  OwnerSince,
  Page,
  SearchHit,
  SearchRequest,
  SessionHead,
  SessionQuery,
  SessionStore,
  SessionSummary,
} from './session-store.js';

/** A store that ends with the process: for tests and throw-away sessions. Every owner counts as alive by default. */
export function memoryStore(options: { readonly isAlive?: (owner: Owner) => boolean } = {}): SessionStore {
  return new MemoryStore(options.isAlive ?? (() => true));
}

interface StoredSession {
  epoch: number;
  head: SessionHead;
  owner: OwnerSince | undefined;
  readonly records: LogRecord[];
}

const recordsPerBatch = 256;

class MemoryStore implements SessionStore {
  readonly #sessions = new Map<string, StoredSession>();
  readonly #isAlive: (owner: Owner) => boolean;

  constructor(isAlive: (owner: Owner) => boolean) {
    this.#isAlive = isAlive;
  }

  async claim(request: ClaimRequest): Promise<Claim> {
    const { sessionId, owner, create } = request;
    const known = this.#sessions.get(sessionId);
    if (!known && !create) throw unknownSession(sessionId);
    if (known && !request.force) this.#requireFree(known, request);
    if (create && !known) requireConsecutive(sessionId, { records: create.records, after: 0 });
    const session = known ?? this.#create(request);
    if (known) session.epoch += 1;
    session.owner = { ...owner, since: new Date().toISOString() };
    return { epoch: session.epoch, seq: session.records.length, head: session.head, isNew: !known };
  }

  async append(request: AppendRequest): Promise<void> {
    const { sessionId, epoch, expectedSeq, records, head } = request;
    const session = this.#sessions.get(sessionId);
    if (!session) throw unknownSession(sessionId);
    if (session.epoch !== epoch) throw staleOwner(sessionId);
    const actual = session.records.length;
    if (actual !== expectedSeq) throw seqConflict(sessionId, { expected: expectedSeq, actual });
    requireConsecutive(sessionId, { records, after: expectedSeq });
    session.records.push(...records.map(withoutHint));
    session.head = head;
  }

  async release(request: { readonly sessionId: string; readonly epoch: number }): Promise<void> {
    const session = this.#sessions.get(request.sessionId);
    if (session?.epoch === request.epoch) session.owner = undefined;
  }

  async *read(sessionId: string, after = 0): AsyncIterable<readonly LogRecord[]> {
    const session = this.#sessions.get(sessionId);
    if (!session) return;
    for (let start = after; start < session.records.length; start += recordsPerBatch) {
      yield session.records.slice(start, start + recordsPerBatch);
    }
  }

  async size(sessionId: string): Promise<number> {
    const records = this.#sessions.get(sessionId)?.records ?? [];
    return records.reduce((bytes, { json }) => bytes + Buffer.byteLength(json), 0);
  }

  async list(query: SessionQuery = {}): Promise<Page<SessionSummary>> {
    const summaries = [...this.#sessions].map(([sessionId, session]) => this.#summarize(sessionId, session));
    return pageOf(summaries.filter((summary) => matches(summary, query)).sort(newestFirst), query);
  }

  async search(request: SearchRequest): Promise<readonly SearchHit[]> {
    const terms = searchTerms(request.words);
    const found = [...this.#sessions].flatMap(([sessionId, session]) => {
      const best = bestPassage(session, terms, request);
      return best ? [{ ...best, sessionId, modifiedAt: session.head.modifiedAt }] : [];
    });
    const whole = found.filter(({ score }) => score === terms.length);
    return (whole.length > 0 ? whole : found)
      .sort((one, other) => other.score - one.score || (one.modifiedAt < other.modifiedAt ? 1 : -1))
      .slice(0, request.limit)
      .map(({ sessionId, seq, text }) => ({ sessionId, seq, text }));
  }

  async remove(sessionId: string, by?: Owner): Promise<boolean> {
    const session = this.#sessions.get(sessionId);
    if (session && by) this.#requireFree(session, { sessionId, owner: by });
    return this.#sessions.delete(sessionId);
  }

  async erased(): Promise<void> {
    // Nothing is ever left.
  }

  #requireFree({ owner, head }: StoredSession, claim: Pick<ClaimRequest, 'sessionId' | 'owner'>): void {
    if (!owner || !head.hasWork || owner.runtimeId === claim.owner.runtimeId) return;
    if (this.#isAlive(owner)) throw inUse(claim.sessionId, owner);
  }

  #create({ sessionId, create }: ClaimRequest): StoredSession {
    if (!create) throw unknownSession(sessionId);
    const { head } = create;
    const session: StoredSession = {
      epoch: firstEpoch(),
      head,
      owner: undefined,
      records: create.records.map(withoutHint),
    };
    this.#sessions.set(sessionId, session);
    return session;
  }

  #summarize(sessionId: string, session: StoredSession): SessionSummary {
    const { head, owner, records } = session;
    const isOwned = owner !== undefined && this.#isAlive(owner);
    return { sessionId, seq: records.length, head, ...(isOwned && { owner }) };
  }
}

/** Texts that are the same take memory once as it is. */
function withoutHint({ sameAs: _, ...record }: NewRecord): LogRecord {
  return record;
}

/** The passage that has the most of the terms. */
function bestPassage(
  { head, records }: StoredSession,
  terms: readonly string[],
  { textOf }: Pick<SearchRequest, 'textOf'>,
): { readonly seq: number; readonly text: string; readonly score: number } | undefined {
  let best: { readonly seq: number; readonly text: string; readonly score: number } | undefined;
  for (const record of records) {
    const isRemoved = head.removed?.some(([first, last]) => record.seq >= first && record.seq <= last);
    const text = isRemoved ? undefined : textOf(record);
    if (text === undefined) continue;
    const known = new Set(indexTerms(text));
    const score = terms.filter((term) => known.has(term)).length;
    if (score > (best?.score ?? 0)) best = { seq: record.seq, text, score };
  }
  return best;
}
