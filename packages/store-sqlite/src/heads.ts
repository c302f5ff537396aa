import { parseHead, type SessionHead } from '@groundcrew/store';
import type { SqliteValue } from './driver.js';

/** A head as a row has it: whole, and what queries ask for once more in columns of its own. */
export interface HeadColumns {
  readonly has_work: number;
  readonly user_turns: number;
  readonly modified_at: string;
  readonly cwd: string;
  readonly git_root: string | null;
  readonly repository: string | null;
  readonly branch: string | null;
  readonly head: string;
}

/** The columns, as a statement names them; `headValues` gives their values in the same order. */
export const headColumns = 'has_work, user_turns, modified_at, cwd, git_root, repository, branch, head';

/** In the order of `headColumns`. */
export function headValues(head: SessionHead): SqliteValue[] {
  const { cwd, gitRoot = null, repository = null, branch = null } = head.context;
  const work = head.hasWork ? 1 : 0;
  return [work, head.userTurns, head.modifiedAt, cwd, gitRoot, repository, branch, JSON.stringify(head)];
}

/**
 * The head of a row. When its text cannot be read, `columns` is called and what they say speaks for it: a head is
 * only ever taken from the log, and is written anew with the next record.
 */
export function readHead(json: string, columns: () => HeadColumns): SessionHead {
  try {
    return parseHead(json);
  } catch {
    return headFromColumns(columns());
  }
}

/** Without a snapshot to start from, opening the session folds its whole log. */
function headFromColumns(row: HeadColumns): SessionHead {
  return {
    createdAt: row.modified_at,
    modifiedAt: row.modified_at,
    hasWork: row.has_work === 1,
    userTurns: row.user_turns,
    eventCount: 0,
    snapshotSeq: 0,
    context: {
      cwd: row.cwd,
      ...(row.git_root !== null && { gitRoot: row.git_root }),
      ...(row.repository !== null && { repository: row.repository }),
      ...(row.branch !== null && { branch: row.branch }),
    },
  };
}
