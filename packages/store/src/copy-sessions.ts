import { checksumOf } from './record-text.js';
import { isInUse } from './refusals.js';
import {
  type LogRecord,
  type Owner,
  type SessionStore,
  type SessionSummary,
  StoreError,
} from './session-store.js';

/** What is copied, and for which owner. */
export interface CopyOptions {
  readonly from: SessionStore;
  readonly to: SessionStore;
  /** Claims each session in both stores while it is copied. */
  readonly owner: Owner;
  /** Called after each session. */
  onProgress(progress: CopyProgress): void;
}

/** How far a copy is. */
export interface CopyProgress {
  readonly sessionId: string;
  readonly outcome: 'copied' | 'already there' | 'left out';
  /** Why it was left out. */
  readonly reason?: string;
  readonly done: number;
  readonly of: number;
}

/** What a copy came to: every session that is counted was read again from the other store and compared. */
export interface CopyResult {
  readonly copied: number;
  readonly alreadyThere: number;
  readonly leftOut: number;
  /** Of all sessions that are now in both. */
  readonly records: number;
}

/**
 * Copies all sessions from one store to another, by nothing but the port. It may be broken off at any point and called
 * again: what is there already is compared and continued, never written twice. A session that a live runtime works in, that
 * is damaged, or that has gone on differently in the other store, is left out and reported. The source keeps everything.
 */
export async function copySessions(options: CopyOptions): Promise<CopyResult> {
  const sessions = await allSessions(options.from);
  const counts = { copied: 0, alreadyThere: 0, leftOut: 0, records: 0 };
  for (const [index, summary] of sessions.entries()) {
    const place = { sessionId: summary.sessionId, done: index + 1, of: sessions.length };
    try {
      const { isNew, records } = await copySession(summary, options);
      counts[isNew ? 'copied' : 'alreadyThere'] += 1;
      counts.records += records;
      options.onProgress({ ...place, outcome: isNew ? 'copied' : 'already there' });
    } catch (error) {
      if (!(error instanceof CopyRefused) && !isInUse(error) && !isDamaged(error)) throw error;
      counts.leftOut += 1;
      options.onProgress({ ...place, outcome: 'left out', reason: (error as Error).message });
    }
  }
  return counts;
}

/** A session cannot be copied, and nothing of it was changed. */
class CopyRefused extends Error {
  override readonly name = 'CopyRefused';
}

/** One session that cannot be read holds up no other: lists show nothing of it in the other store. */
function isDamaged(error: unknown): boolean {
  return error instanceof StoreError && error.kind === 'damaged';
}

/** Every session of a store, page by page. */
export async function allSessions(store: Pick<SessionStore, 'list'>): Promise<readonly SessionSummary[]> {
  const found: SessionSummary[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({
      includeEmpty: true,
      limit: 1_000,
      ...(cursor !== undefined && { cursor }),
    });
    found.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

async function copySession(
  { sessionId }: SessionSummary,
  { from, to, owner }: CopyOptions,
): Promise<{ readonly isNew: boolean; readonly records: number }> {
  const source = await from.claim({ sessionId, owner });
  try {
    // Without a user turn no list shows it until it is whole.
    const unlisted = { ...source.head, userTurns: 0, hasWork: false };
    const target = await to.claim({ sessionId, owner, create: { records: [], head: unlisted } });
    try {
      if (target.seq > source.seq)
        throw new CopyRefused('it has more records in the store it would be copied to');
      const same = await samePrefix({ from, to, sessionId, length: target.seq });
      if (same === undefined)
        throw new CopyRefused('it has other records in the store it would be copied to');
      await appendRest({ from, to, sessionId, epoch: target.epoch, after: target.seq, head: unlisted });
      const isComplete = JSON.stringify(target.head) === JSON.stringify(source.head);
      const isNew = target.seq < source.seq || !isComplete;
      await requireSame({ from, to, sessionId, length: source.seq });
      if (isNew)
        await to.append({
          sessionId,
          epoch: target.epoch,
          expectedSeq: source.seq,
          records: [],
          head: source.head,
        });
      return { isNew, records: source.seq };
    } finally {
      await to.release({ sessionId, epoch: target.epoch });
    }
  } finally {
    await from.release({ sessionId, epoch: source.epoch });
  }
}

interface Copy {
  readonly from: SessionStore;
  readonly to: SessionStore;
  readonly sessionId: string;
}

async function appendRest(
  copy: Copy & {
    readonly epoch: number;
    readonly after: number;
    readonly head: Parameters<SessionStore['append']>[0]['head'];
  },
): Promise<void> {
  const { from, to, sessionId, epoch, after, head } = copy;
  let expectedSeq = after;
  for await (const records of from.read(sessionId, after)) {
    await to.append({ sessionId, epoch, expectedSeq, records, head });
    expectedSeq += records.length;
  }
}

/** The number of records that both stores have at the start; undefined when one differs. */
async function samePrefix({
  from,
  to,
  sessionId,
  length,
}: Copy & { readonly length: number }): Promise<number | undefined> {
  if (length === 0) return 0;
  const mine = records(from, sessionId);
  let count = 0;
  for await (const theirs of records(to, sessionId)) {
    const { value, done } = await mine.next();
    if (done || checksumOf(value) !== checksumOf(theirs)) return undefined;
    count += 1;
  }
  return count;
}

async function requireSame(copy: Copy & { readonly length: number }): Promise<void> {
  const same = await samePrefix(copy);
  if (same === copy.length) return;
  throw new StoreError(
    'damaged',
    `Session ${copy.sessionId} is not the same in both stores after it was copied.`,
  );
}

async function* records(store: SessionStore, sessionId: string): AsyncGenerator<LogRecord> {
  for await (const batch of store.read(sessionId)) yield* batch;
}
