import { randomInt } from 'node:crypto';
import {
  type Claim,
  type ClaimRequest,
  firstEpoch,
  inUse,
  type Owner,
  type OwnerSince,
  requireConsecutive,
  unknownSession,
} from '@groundcrew/store';
import { type HeadRow, headColumns, headValues, insertRecords, RecordColumns, readHead } from './columns.js';
import type { Connection } from './connection.js';
import type { ProcessMark } from './process-mark.js';

/** The columns that name a session's owner. */
export interface OwnerRow {
  readonly owner: string | null;
  readonly owner_pid: number | null;
  readonly owner_host: string | null;
  readonly owner_since: Date | null;
}

/** Who writes the session, by its row; whether it lives is another question. */
export function ownerOf(row: OwnerRow): OwnerSince | undefined {
  const { owner: runtimeId, owner_pid: pid, owner_host: host, owner_since: since } = row;
  if (runtimeId === null || pid === null || host === null || since === null) return undefined;
  return { runtimeId, pid, host, since: since.toISOString() };
}

/** What distinguishes the living from the dead besides their leases. */
export interface Living {
  /** The server was away: until its nodes have had time to come back, no owner of a lease is taken for dead. */
  isGraceTime(): boolean;
  /** Whether a process of this machine has certainly ended, even if its lease is still valid. */
  isGone(process: ProcessMark | null): boolean;
}

/** A claim, the fence of its first write, and what a former session of the id has left. */
export interface Claimed {
  readonly claim: Claim;
  readonly version: number;
  readonly former: readonly number[];
}

/** Every claim begins at a number of its own: one that a failover has lost is never given out again. */
export function newVersion(): number {
  return randomInt(1, 2 ** 47);
}

interface ClaimRow extends HeadRow {
  readonly epoch: number;
  readonly seq: number;
  readonly version: number;
  readonly former: readonly string[] | null;
}

const former = '(SELECT array_agg(number) FROM gc_removed WHERE id = $1) AS former';

const alive = `EXISTS (SELECT 1 FROM gc_node n WHERE n.id = s.owner AND (n.lease_until > clock_timestamp() OR $2))`;

const takeText = `
  UPDATE gc_session s SET epoch = s.epoch + 1, version = $3, owner = $4, owner_pid = $5, owner_host = $6,
    owner_since = clock_timestamp()
  WHERE s.id = $1 AND (s.owner IS NULL OR s.owner = $4 OR $7 OR s.owner = $8 OR NOT ${alive}
    OR (NOT s.has_work AND NOT ($9 AND EXISTS (
      SELECT 1 FROM gc_node n WHERE n.id = s.owner AND n.address IS NOT NULL))))
  RETURNING s.epoch, s.seq, s.version, ${headColumns}, ${former}`;

const headParameters = headColumns.split(', ').map((_, index) => `$${8 + index}`);

const createText = `
  WITH made AS (
    INSERT INTO gc_session (id, epoch, seq, version, owner, owner_pid, owner_host, owner_since, ${headColumns})
    VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp(), ${headParameters.join(', ')})
    ON CONFLICT (id) DO NOTHING RETURNING number, 1::bigint AS ord),
  ${insertRecords('made', 8 + headParameters.length)}
  SELECT ${former} FROM made`;

interface HolderRow extends OwnerRow {
  readonly process: ProcessMark | null;
}

/** The claim and what it is made with; the same for every attempt, so that a lost answer can be recognised. */
export interface ClaimAttempt {
  readonly request: ClaimRequest;
  readonly version: number;
  readonly epoch: number;
  readonly living: Living;
  /** The claimer is a node of a cluster: it leaves idle sessions to other nodes that live. */
  readonly isNode: boolean;
  onUnreadableHead(sessionId: string): void;
}

/** What a claim is made with. */
export function claimAttempt(
  request: ClaimRequest,
  rest: Pick<ClaimAttempt, 'living' | 'isNode' | 'onUnreadableHead'>,
): ClaimAttempt {
  const { sessionId, create } = request;
  if (create) requireConsecutive(sessionId, { records: create.records, after: 0 });
  return { request, version: newVersion(), epoch: firstEpoch(), ...rest };
}

const mostAttempts = 5;

/** Makes the owner the writer. Throws StoreError `unknown_session` or `in_use`. */
export async function claimSession(connection: Connection, attempt: ClaimAttempt): Promise<Claimed> {
  const { request } = attempt;
  let dead: string | null = null;
  for (let time = 0; ; time += 1) {
    const made = request.create && time === 0 ? await createSession(connection, attempt) : undefined;
    const claimed = made ?? (await takeSession(connection, attempt, dead));
    if (claimed) return claimed;
    const holder = await findHolder(connection, request.sessionId);
    if (!holder && !request.create) throw unknownSession(request.sessionId);
    const again = holder ? undefined : await createSession(connection, attempt);
    if (again) return again;
    const owner = holder && ownerOf(holder);
    if (holder && attempt.living.isGone(holder.process)) dead = holder.owner;
    else if (owner) throw inUse(request.sessionId, owner);
    if (time >= mostAttempts) throw unknownSession(request.sessionId);
  }
}

/** After an answer was lost: the claim, if it was made. */
export async function findClaim(
  connection: Connection,
  { request, epoch, version, onUnreadableHead }: ClaimAttempt,
): Promise<Claimed | undefined> {
  const { sessionId } = request;
  const [row] = await connection.all<ClaimRow>({
    text: `SELECT s.epoch, s.seq, s.version, ${headColumns}, ${former} FROM gc_session s WHERE s.id = $1 AND s.version = $2`,
    values: [sessionId, version],
  });
  if (!row) return undefined;
  const head = readHead(row, () => onUnreadableHead(sessionId));
  return claimedBy(row, { head, isNew: request.create !== undefined && row.epoch === epoch });
}

/** Clears the owner, if the epoch is still the caller's; may be done again. */
export async function releaseSession(
  connection: Connection,
  { sessionId, epoch }: { readonly sessionId: string; readonly epoch: number },
): Promise<void> {
  await connection.all({
    name: 'gc-release',
    text: `UPDATE gc_session SET owner = NULL, owner_pid = NULL, owner_host = NULL, owner_since = NULL
      WHERE id = $1 AND epoch = $2`,
    values: [sessionId, epoch],
  });
}

async function createSession(connection: Connection, attempt: ClaimAttempt): Promise<Claimed | undefined> {
  const { request, epoch, version } = attempt;
  const { sessionId, owner, create } = request;
  if (!create) return undefined;
  const { head, records } = create;
  const columns = new RecordColumns();
  columns.add(1, records);
  const { runtimeId, pid, host } = owner;
  const [row] = await connection.all<{ readonly former: readonly string[] | null }>({
    name: 'gc-create',
    text: createText,
    values: [
      ...[sessionId, epoch, records.length, version, runtimeId, pid, host],
      ...headValues(head),
      ...columns.values,
    ],
  });
  if (!row) return undefined;
  return claimedBy({ epoch, seq: records.length, version, former: row.former }, { head, isNew: true });
}

async function takeSession(
  connection: Connection,
  { request, version, living, isNode, onUnreadableHead }: ClaimAttempt,
  dead: string | null,
): Promise<Claimed | undefined> {
  const { sessionId, owner, force = false } = request;
  const [row] = await connection.all<ClaimRow>({
    name: 'gc-take',
    text: takeText,
    values: [
      ...[sessionId, living.isGraceTime(), version],
      ...[owner.runtimeId, owner.pid, owner.host, force, dead, isNode],
    ],
  });
  if (!row) return undefined;
  const head = readHead(row, () => onUnreadableHead(sessionId));
  return claimedBy(row, { head, isNew: false });
}

function claimedBy(
  row: Pick<ClaimRow, 'epoch' | 'seq' | 'version' | 'former'>,
  rest: Pick<Claim, 'head' | 'isNew'>,
): Claimed {
  const { epoch, seq, version } = row;
  return { claim: { epoch, seq, ...rest }, version, former: (row.former ?? []).map(Number) };
}

async function findHolder(connection: Connection, sessionId: string): Promise<HolderRow | undefined> {
  const [row] = await connection.all<HolderRow>({
    name: 'gc-holder',
    text: `SELECT s.owner, s.owner_pid, s.owner_host, s.owner_since, n.process
      FROM gc_session s LEFT JOIN gc_node n ON n.id = s.owner WHERE s.id = $1`,
    values: [sessionId],
  });
  return row;
}

/** Who removes what. */
export interface Removal {
  readonly sessionId: string;
  readonly by: Owner | undefined;
  readonly living: Living;
  /** Recognises the removal after its answer was lost. */
  readonly token: number;
}

const removeText = `
  WITH gone AS (
    DELETE FROM gc_session s WHERE s.id = $1 AND ($3::text IS NULL OR s.owner IS NULL OR s.owner = $3 OR NOT s.has_work
      OR s.owner = $4 OR NOT ${alive})
    RETURNING s.number, s.id),
  noted AS (INSERT INTO gc_removed (number, id, token) SELECT number, id, $5::bigint FROM gone),
  first AS (DELETE FROM gc_record r USING gone g WHERE r.session = g.number AND r.seq <= 256)
  SELECT number FROM gone`;

/**
 * Takes the session out of sight and its first records with it; returns its number, undefined when there was none. Throws
 * `in_use` while another live runtime works in it.
 */
export async function removeSession(connection: Connection, removal: Removal): Promise<number | undefined> {
  const { sessionId, by, living, token } = removal;
  let dead: string | null = null;
  for (let time = 0; time <= mostAttempts; time += 1) {
    const [row] = await connection.all<{ readonly number: number }>({
      name: 'gc-remove',
      text: removeText,
      values: [sessionId, living.isGraceTime(), by?.runtimeId ?? null, dead, token],
    });
    if (row) return row.number;
    const holder = await findHolder(connection, sessionId);
    const owner = holder && ownerOf(holder);
    if (!holder) return undefined;
    if (living.isGone(holder.process)) dead = holder.owner;
    else if (owner) throw inUse(sessionId, owner);
  }
  return undefined;
}

/** After an answer was lost: the number of the session, if it was removed. */
export async function findRemoval(connection: Connection, token: number): Promise<number | undefined> {
  const [row] = await connection.all<{ readonly number: number }>({
    text: 'SELECT number FROM gc_removed WHERE token = $1',
    values: [token],
  });
  return row?.number;
}
