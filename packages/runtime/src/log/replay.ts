import { type SessionStore, StoreError } from '@groundcrew/store';
import { entryOf } from './entry.js';
import { reduce } from './fold.js';
import { initialState, type SessionState } from './state.js';

/** What could be read of a log, and why there is no more of it. */
export interface Replayed {
  readonly state: SessionState;
  readonly damage?: StoreError;
}

/** Where a log is, and the seq of its newest snapshot; 0 when it has none. */
export interface ReplayRequest {
  readonly store: SessionStore;
  readonly sessionId: string;
  readonly snapshotSeq: number;
}

/**
 * Folds a stored log from its newest snapshot on. A damaged snapshot is ignored, because the records before it say the
 * same. Throws StoreError when not even the beginning can be read.
 */
export async function replay(request: ReplayRequest): Promise<Replayed> {
  const { snapshotSeq } = request;
  const usual = await fold(request, initialState, Math.max(0, snapshotSeq - 1));
  if (!usual.damage || usual.state.seq > 0) return usual;
  const whole = await fold(request, initialState, 0);
  if (whole.state.seq === 0) throw usual.damage;
  if (whole.state.seq !== snapshotSeq - 1) return whole;
  return fold(request, { ...whole.state, seq: snapshotSeq, snapshotSeq }, snapshotSeq);
}

/** To the end, or to the first record that cannot be read. */
async function fold(
  { store, sessionId }: ReplayRequest,
  before: SessionState,
  after: number,
): Promise<Replayed> {
  let state = before;
  try {
    for await (const batch of store.read(sessionId, after)) {
      for (const record of batch) state = reduce(state, entryOf(record));
    }
    return { state };
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'damaged') return { state, damage: error };
    throw error;
  }
}
