import {
  type AppendRequest,
  type Claim,
  type ClaimRequest,
  firstEpoch,
  inUse,
  type Owner,
  type OwnerSince,
  requireConsecutive,
  type SessionHead,
  seqConflict,
  staleOwner,
  unknownSession,
} from '@groundcrew/store';
import type { Connection } from './connection.js';
import type { SqliteValue } from './driver.js';
import { type HeadColumns, headColumns, headValues, readHead } from './heads.js';
import { deleteSomeRecords, insertRecords } from './records.js';

/** The columns of `session` that name its owner. */
export interface OwnerColumns {
  readonly owner_runtime_id: string | null;
  readonly owner_pid: number | null;
  readonly owner_host: string | null;
  readonly owner_since: string | null;
}

interface SessionRow extends OwnerColumns, HeadColumns {
  readonly epoch: number;
  readonly seq: number;
}

/** The open store and the means to find live owners. */
export interface StoreScope {
  readonly connection: Connection;
  readonly isAlive: (runtimeId: string) => boolean;
  /** The head of a session is not what was written. */
  readonly onUnreadableHead: (sessionId: string) => void;
  /** A session is made under the id of one that was removed, whose files are still in its place. */
  readonly detachFiles: (removed: { readonly number: number; readonly id: string }) => void;
}

/** Makes the owner the writer; throws before it writes anything. */
export function claimSession(scope: StoreScope, request: ClaimRequest): Claim {
  const { connection, isAlive } = scope;
  const { sessionId, owner } = request;
  const row = connection.get<SessionRow>(
    `SELECT epoch, seq, ${headColumns}, owner_runtime_id, owner_pid, owner_host, owner_since
     FROM session WHERE id = ?`,
    sessionId,
  );
  if (!row) return createSession(scope, request);
  const holder = ownerOf(row);
  const isForeign = holder !== undefined && holder.runtimeId !== owner.runtimeId;
  const isGuarded = isForeign && row.has_work === 1 && !request.force;
  if (isGuarded && isAlive(holder.runtimeId)) throw inUse(sessionId, holder);
  const epoch = row.epoch + 1;
  connection.run(
    `UPDATE session SET epoch = ?, owner_runtime_id = ?, owner_pid = ?, owner_host = ?, owner_since = ?
     WHERE id = ?`,
    epoch,
    ...ownerValues(request),
    sessionId,
  );
  const head = readHead(row.head, () => {
    scope.onUnreadableHead(sessionId);
    return row;
  });
  return { epoch, seq: row.seq, head, isNew: false };
}

/** Appends under epoch and seq; throws before it writes anything. */
export function appendRecords(connection: Connection, request: AppendRequest): void {
  const { sessionId, epoch, expectedSeq, records, head } = request;
  requireConsecutive(sessionId, { records, after: expectedSeq });
  const row = connection.get<{ readonly number: number; readonly epoch: number; readonly seq: number }>(
    'SELECT number, epoch, seq FROM session WHERE id = ?',
    sessionId,
  );
  if (!row) throw unknownSession(sessionId);
  // mutation: skip the epoch check
  if (row.epoch !== epoch) throw staleOwner(sessionId);
  if (row.seq !== expectedSeq) throw seqConflict(sessionId, { expected: expectedSeq, actual: row.seq });
  // To look first and write then takes half the time of an update that returns what it found.
  connection.run(
    `UPDATE session SET seq = ?, has_work = ?, user_turns = ?, modified_at = ?, cwd = ?, git_root = ?, repository = ?,
       branch = ?, head = ?
     WHERE number = ?`,
    expectedSeq + records.length,
    ...headValues(head),
    row.number,
  );
  insertRecords(connection, { session: row.number, records });
}

/** Clears the owner, if the epoch is still the caller's. */
export function releaseSession(
  connection: Connection,
  { sessionId, epoch }: { readonly sessionId: string; readonly epoch: number },
): void {
  connection.run(
    `UPDATE session SET owner_runtime_id = NULL, owner_pid = NULL, owner_host = NULL, owner_since = NULL
     WHERE id = ? AND epoch = ?`,
    sessionId,
    epoch,
  );
}

/** What is still there of a removed session. */
export interface RemovedSession {
  readonly number: number;
  /** Set until its files are out of the way. */
  readonly id: string | null;
  /** How often bytes were overwritten for it; null when it has no words, and that is not needed. */
  readonly scrubs: number | null;
}

/**
 * Takes the session out of sight at once, and its first records with it: without them no repair can bring it back. The
 * rest is left to the `Erasure`. `mark` is called first when it has words. Throws before it writes anything.
 */
export function removeSession(
  { connection, isAlive }: StoreScope,
  { sessionId, by, mark }: { sessionId: string; by?: Owner | undefined; mark(removed: RemovedSession): void },
): boolean {
  const row = connection.get<
    OwnerColumns & { readonly number: number; readonly user_turns: number; readonly has_work: number }
  >(
    `SELECT number, user_turns, has_work, owner_runtime_id, owner_pid, owner_host, owner_since
     FROM session WHERE id = ?`,
    sessionId,
  );
  if (!row) return false;
  const holder = ownerOf(row);
  const isForeign = by !== undefined && holder !== undefined && holder.runtimeId !== by.runtimeId;
  if (isForeign && row.has_work === 1 && isAlive(holder.runtimeId)) throw inUse(sessionId, holder);
  const { number } = row;
  const removed = {
    number,
    id: sessionId,
    scrubs: row.user_turns > 0 || hasWords(connection, number) ? 0 : null,
  };
  if (removed.scrubs !== null) mark(removed);
  connection.run('DELETE FROM session WHERE number = ?', number);
  connection.run(
    'INSERT INTO removed_session (number, id, scrubs) VALUES (?, ?, ?)',
    number,
    sessionId,
    removed.scrubs,
  );
  deleteSomeRecords(connection, number);
  return true;
}

/**
 * Whether a session without a prompt has words all the same: a fork before the first prompt is called by it, and one that was taken
 * back to its beginning keeps what was said. Most have neither, come and go quickly, and need no scrub.
 */
function hasWords(connection: Connection, number: number): boolean {
  const row = connection.get(
    `SELECT 1 FROM record WHERE session = ? AND seq > 1
       AND type NOT IN ('session.start', 'session.resume', 'session.shutdown', 'session.model_change') LIMIT 1`,
    number,
  );
  return row !== undefined;
}

/** Removes a session whose deletion was broken off before it was committed, unless a live runtime has opened it since. */
export function removeMarked(scope: StoreScope, number: number): void {
  const row = scope.connection.get<OwnerColumns & { readonly id: string }>(
    'SELECT id, owner_runtime_id, owner_pid, owner_host, owner_since FROM session WHERE number = ?',
    number,
  );
  const holder = row && ownerOf(row);
  if (!row || (holder && scope.isAlive(holder.runtimeId))) return;
  removeSession(scope, { sessionId: row.id, mark: () => undefined });
}

/** Sessions that were removed and are not yet erased. */
export function removedSessions(connection: Connection): readonly RemovedSession[] {
  return connection.all<RemovedSession>('SELECT number, id, scrubs FROM removed_session ORDER BY number');
}

/** Who writes the session, by its row; whether it lives is another question. */
export function ownerOf(row: OwnerColumns): OwnerSince | undefined {
  const { owner_runtime_id: runtimeId, owner_pid: pid, owner_host: host, owner_since: since } = row;
  if (runtimeId === null || pid === null || host === null || since === null) return undefined;
  return { runtimeId, pid, host, since };
}

/** A session as it is put into a store that is made anew: without an owner, under an epoch that fences the former owner. */
export interface RestoredSession {
  readonly number: number;
  readonly sessionId: string;
  readonly epoch: number;
  readonly seq: number;
  readonly head: SessionHead;
}

/** Writes the row of a session whose records are there already. */
export function restoreSession(connection: Connection, session: RestoredSession): void {
  connection.run(
    `INSERT INTO session (seq, ${headColumns},
       number, id, epoch) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    session.seq,
    ...headValues(session.head),
    session.number,
    session.sessionId,
    session.epoch,
  );
}

function createSession(scope: StoreScope, request: ClaimRequest): Claim {
  const { connection } = scope;
  const { sessionId, create } = request;
  if (!create) throw unknownSession(sessionId);
  const { head, records } = create;
  requireConsecutive(sessionId, { records, after: 0 });
  detachFormer(scope, sessionId);
  const epoch = firstEpoch();
  const session = connection.insert(
    `INSERT INTO session (seq, ${headColumns},
       id, epoch, owner_runtime_id, owner_pid, owner_host, owner_since)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    records.length,
    ...headValues(head),
    sessionId,
    epoch,
    ...ownerValues(request),
  );
  insertRecords(connection, { session, records });
  return { epoch, seq: records.length, head, isNew: true };
}

function detachFormer({ connection, detachFiles }: StoreScope, id: string): void {
  const former = connection.get<{ readonly number: number }>(
    'SELECT number FROM removed_session WHERE id = ?',
    id,
  );
  if (!former) return;
  detachFiles({ number: former.number, id });
  connection.run('UPDATE removed_session SET id = NULL WHERE number = ?', former.number);
}

function ownerValues({ owner }: ClaimRequest): SqliteValue[] {
  return [owner.runtimeId, owner.pid, owner.host, new Date().toISOString()];
}
