import { asRanges, type LogRecord, type SessionStore, StoreError } from '@groundcrew/store';
import { type RemovedRange, withoutRemoved } from './removed-records.js';
import type { EphemeralDraft } from './session-log.js';
import type { SessionState } from './state.js';

/** What a reader of the past needs of its session. */
export interface StoredSession {
  readonly sessionId: string;
  readonly loadedState: Pick<SessionState, 'seq' | 'removed'> | undefined;
  readonly readers: { readonly missing: Set<number> };
  emit(draft: EphemeralDraft): Promise<unknown>;
}

/**
 * Stored records after a seq, less events that were cut off. What is damaged before a snapshot costs the session nothing but that record: it is left
 * out, and clients are warned once of what is missing. Throws StoreError at damage that the state does not reach beyond.
 */
export async function* readStored(
  session: StoredSession,
  { store, after }: { readonly store: SessionStore; readonly after: number },
): AsyncGenerator<readonly LogRecord[]> {
  const { missing } = session.readers;
  const before = missing.size;
  const removed = session.loadedState?.removed ?? (await removedOf(store, session.sessionId));
  let damage: StoreError | undefined;
  let seq = after;
  for (let isDone = false; !isDone; ) {
    try {
      for await (const batch of store.read(session.sessionId, seq)) {
        yield withoutRemoved(batch, removed);
        seq = batch.at(-1)?.seq ?? seq;
      }
      isDone = true;
    } catch (error) {
      if (!isDamage(error) || seq >= (session.loadedState?.seq ?? 0)) throw error;
      damage = error;
      seq += 1;
      missing.add(seq);
    }
  }
  if (damage && missing.size > before) await session.emit(gapWarning(missing, damage));
}

/** Of a session that is not in memory, its head knows. */
async function removedOf(store: SessionStore, sessionId: string): Promise<readonly RemovedRange[]> {
  const { items } = await store.list({ sessionId, includeEmpty: true });
  return items[0]?.head.removed ?? [];
}

function gapWarning(missing: ReadonlySet<number>, { message }: StoreError): EphemeralDraft {
  const text = `What this session wrote as record ${asRanges(missing)} cannot be read and is left out; the rest is here, and the session goes on. ${message}`;
  return {
    type: 'session.warning',
    ephemeral: true,
    data: { warningType: 'store_damaged', message: text },
  };
}

function isDamage(error: unknown): error is StoreError {
  return error instanceof StoreError && error.kind === 'damaged';
}
