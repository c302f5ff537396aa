import { type SessionStore, StoreError } from '@groundcrew/store';
import { withoutRemoved } from '../log/removed-records.js';
import { replay } from '../log/replay.js';
import { FileSnapshots } from '../workspace/file-snapshots.js';
import { sessionDirectoryIn } from '../workspace/session-directory.js';
import { describePlanned, planRewind, type RewindFile } from './rewind-plan.js';
import { promptCut, type RewindPoint, rewindPoints } from './rewind-points.js';

/** Where a session that need not be open can be taken back to: nothing is changed, and work that was broken off stays open. */
export async function readPoints(store: SessionStore, sessionId: string): Promise<readonly RewindPoint[]> {
  const state = await stateOf(store, sessionId);
  const isTracking = state.fixed.tracksFiles ?? false;
  async function* records() {
    for await (const batch of store.read(sessionId)) yield withoutRemoved(batch, state.removed);
  }
  return rewindPoints(records(), { state, isTracking });
}

/** What a rewind would do to the files; undefined where they are not tracked. Throws CannotRewind. */
export async function readPreview(
  store: SessionStore,
  {
    sessionId,
    eventId,
    home,
  }: { readonly sessionId: string; readonly eventId: string; readonly home: string },
): Promise<readonly RewindFile[] | undefined> {
  const state = await stateOf(store, sessionId);
  const { before } = await promptCut(store.read(sessionId), eventId, state.removed);
  if (!state.fixed.tracksFiles) return undefined;
  const snapshots = new FileSnapshots(sessionDirectoryIn(home, sessionId));
  return describePlanned(await planRewind({ now: state, before }, snapshots));
}

async function stateOf(store: SessionStore, sessionId: string) {
  const { items } = await store.list({ sessionId, includeEmpty: true });
  if (!items[0]) throw new StoreError('unknown_session', `There is no session ${sessionId}`);
  const { state, damage } = await replay({ store, sessionId, snapshotSeq: items[0].head.snapshotSeq });
  if (damage) throw damage;
  return state;
}
