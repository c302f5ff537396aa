import type { SessionFiles } from '@groundcrew/store';
import type { Connection } from './connection.js';

const recordsPerStatement = 1_000;

/**
 * Moves the files of a removed session out of the way of a new one. The row is locked meanwhile, so that of several
 * processes one does it, and none moves what a new session has made; may be done again.
 */
export async function detachFiles(
  connection: Connection,
  { number, files, isReused }: { number: number; files: SessionFiles | undefined; isReused: boolean },
): Promise<void> {
  await connection.transaction(async () => {
    const [row] = await connection.all<{ readonly id: string }>({
      text: 'SELECT id FROM gc_removed WHERE number = $1 AND id IS NOT NULL FOR UPDATE',
      values: [number],
    });
    if (!row) return;
    files?.detach({ number, id: row.id }, { isReused });
    await connection.all({ text: 'UPDATE gc_removed SET id = NULL WHERE number = $1', values: [number] });
  });
}

/** Sessions that were removed and are not yet erased, with the id while their files are in their place. */
export function removedSessions(
  connection: Connection,
): Promise<readonly { readonly number: number; readonly id: string | null }[]> {
  return connection.all({ text: 'SELECT number, id FROM gc_removed WHERE NOT is_erased ORDER BY number' });
}

/** Deletes some rows of a removed session; false when none are left. */
export async function deleteSome(connection: Connection, number: number): Promise<boolean> {
  for (const [table, key] of [
    ['gc_record', 'seq'],
    ['gc_body', 'hash'],
  ]) {
    const rows = await connection.all({
      text: `DELETE FROM ${table} WHERE session = $1 AND ${key} IN (
          SELECT ${key} FROM ${table} WHERE session = $1 ORDER BY ${key} LIMIT ${recordsPerStatement}) RETURNING 1`,
      values: [number],
    });
    if (rows.length > 0) return true;
  }
  return false;
}

/** Notes that nothing is left of it. The row stays for an hour: a process that removed it and lost the answer looks for it. */
export async function markErased(connection: Connection, number: number): Promise<void> {
  await connection.all({
    text: 'UPDATE gc_removed SET is_erased = true WHERE number = $1',
    values: [number],
  });
  await connection.all({
    text: `DELETE FROM gc_removed WHERE is_erased AND removed_at < clock_timestamp() - interval '1 hour'`,
  });
}
