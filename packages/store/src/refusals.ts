import { type LogRecord, type OwnerSince, StoreError } from './session-store.js';

/** The caller named a session that this store does not have, or no longer has. */
export function unknownSession(sessionId: string): StoreError {
  return new StoreError('unknown_session', `Session ${sessionId} is unknown`);
}

/** A live runtime has work in the session; only `force` takes it. */
export function inUse(sessionId: string, owner: OwnerSince): StoreError {
  const { pid, host, since } = owner;
  const message = `Session ${sessionId} is in use by process ${pid} on ${host} since ${since}`;
  return new StoreError('in_use', message, { owner });
}

/** Whether another process has the session: it is there, and not the caller's. */
export function isInUse(error: unknown): boolean {
  return error instanceof StoreError && error.kind === 'in_use';
}

/** Another claim raised the epoch, so the caller is no longer the writer. */
export function staleOwner(sessionId: string): StoreError {
  return new StoreError('stale_owner', `Session ${sessionId} was taken over by another claim`);
}

/** Whether that is why something could not be written. */
export function isStale(error: unknown): boolean {
  return error instanceof StoreError && error.kind === 'stale_owner';
}

/** Whether the caller's copy of the session is of no use: another claim went on with it, or a failover of the store lost its end. */
export function isOutdated(error: unknown): boolean {
  return isStale(error) || (error instanceof StoreError && error.kind === 'seq_conflict');
}

/** The caller's idea of the log's end is not the log's end. */
export function seqConflict(
  sessionId: string,
  seqs: { readonly expected: number; readonly actual: number },
): StoreError {
  const message = `Session ${sessionId} ends at seq ${seqs.actual}, not at ${seqs.expected}`;
  return new StoreError('seq_conflict', message);
}

/** Throws unless the records carry on after `after` without a gap. */
export function requireConsecutive(
  sessionId: string,
  { records, after }: { readonly records: readonly LogRecord[]; readonly after: number },
): void {
  const wrong = records.findIndex((record, index) => record.seq !== after + 1 + index);
  if (wrong === -1) return;
  const message = `Session ${sessionId}: record ${wrong} of the append must have seq ${after + 1 + wrong}`;
  throw new StoreError('seq_conflict', message);
}
