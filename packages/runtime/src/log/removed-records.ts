import type { LogRecord, SessionHead } from '@groundcrew/store';

/** Records that no reader sees any more: from the first seq to the last. */
export type RemovedRange = NonNullable<SessionHead['removed']>[number];

/** Whether a record was cut off. */
export function isRemoved(removed: readonly RemovedRange[], seq: number): boolean {
  return removed.some(([first, last]) => seq >= first && seq <= last);
}

/** A batch without the events that were cut off; private records stay, for what they say still holds. */
export function withoutRemoved(
  batch: readonly LogRecord[],
  removed: readonly RemovedRange[],
): readonly LogRecord[] {
  if (removed.length === 0) return batch;
  return batch.filter(({ seq, isPublic }) => !isPublic || !isRemoved(removed, seq));
}
