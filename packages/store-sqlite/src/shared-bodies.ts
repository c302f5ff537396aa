import type { NewRecord } from '@groundcrew/store';
import type { Connection } from './connection.js';
import { fromStored } from './stored-text.js';

/** A record that has a body of its own. */
export interface BodyPlace {
  readonly session: number;
  readonly seq: number;
}

interface SourceRow extends BodyPlace {
  readonly json: string | Uint8Array | null;
  readonly blob_hash: Uint8Array | null;
  readonly body_session: number | null;
  readonly body_seq: number | null;
}

/** Shorter bodies take no more than a reference to them. */
const shortestShared = 256;

/**
 * The record whose body this one can share, inside the caller's transaction: always one that has it itself, so that no
 * reference leads to another. Undefined when the other record is gone, or is not the same.
 */
export function sharedPlace(
  connection: Connection,
  { sameAs, json }: Pick<NewRecord, 'sameAs' | 'json'>,
): BodyPlace | undefined {
  if (!sameAs || json.length < shortestShared) return undefined;
  const row = connection.get<SourceRow>(
    `SELECT ${sourceColumns} FROM record r JOIN session s ON s.number = r.session WHERE s.id = ? AND r.seq = ?`,
    sameAs.sessionId,
    sameAs.seq,
  );
  const source = row && (sourceOf(connection, row) ?? row);
  const body = source && bodyOf(connection, source);
  if (!source || body === undefined || fromStored(body) !== json) return undefined;
  return { session: source.session, seq: source.seq };
}

/** What a record shares, with the place it is at; undefined when it is not there. */
export function sharedBody(connection: Connection, place: BodyPlace): string | Uint8Array | undefined {
  const row = rowAt(connection, place);
  return row && bodyOf(connection, row);
}

/**
 * Before a record is deleted: the oldest session that shares its body, and is there to stay, gets it, and the others share
 * it with that one. Says how many bytes were moved.
 */
export function handOver(connection: Connection, { session, seq }: BodyPlace): number {
  const heir = connection.get<BodyPlace>(
    `SELECT session, seq FROM record WHERE body_session = ? AND body_seq = ?
       AND session NOT IN (SELECT number FROM removed_session) ORDER BY session, seq LIMIT 1`,
    session,
    seq,
  );
  const row = heir && rowAt(connection, { session, seq });
  if (!heir || !row) return 0;
  if (row.blob_hash)
    connection.run(
      'INSERT OR IGNORE INTO blob (session, hash, json) SELECT ?, hash, json FROM blob WHERE session = ? AND hash = ?',
      heir.session,
      session,
      row.blob_hash,
    );
  connection.run(
    `UPDATE record SET json = ?, blob_hash = ?, body_session = NULL, body_seq = NULL WHERE session = ? AND seq = ?`,
    row.json,
    row.blob_hash,
    heir.session,
    heir.seq,
  );
  connection.run(
    'UPDATE record SET body_session = ?, body_seq = ? WHERE body_session = ? AND body_seq = ?',
    heir.session,
    heir.seq,
    session,
    seq,
  );
  return sizeOf(bodyOf(connection, row));
}

/** Whether any other session shares a body with this one. */
export function isShared(connection: Connection, session: number): boolean {
  return connection.get('SELECT 1 FROM record WHERE body_session = ? LIMIT 1', session) !== undefined;
}

const sourceColumns = 'r.session, r.seq, r.json, r.blob_hash, r.body_session, r.body_seq';

function sourceOf(connection: Connection, { body_session, body_seq }: SourceRow): SourceRow | undefined {
  if (body_session === null || body_seq === null) return undefined;
  return rowAt(connection, { session: body_session, seq: body_seq });
}

function rowAt(connection: Connection, { session, seq }: BodyPlace): SourceRow | undefined {
  return connection.get<SourceRow>(
    `SELECT ${sourceColumns} FROM record r WHERE r.session = ? AND r.seq = ?`,
    session,
    seq,
  );
}

function bodyOf(
  connection: Connection,
  { session, json, blob_hash }: SourceRow,
): string | Uint8Array | undefined {
  if (!blob_hash) return json ?? undefined;
  return connection.get<{ readonly json: string | Uint8Array }>(
    'SELECT json FROM blob WHERE session = ? AND hash = ?',
    session,
    blob_hash,
  )?.json;
}

function sizeOf(body: string | Uint8Array | undefined): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : (body?.byteLength ?? 0);
}
