import { diskKinds, StoreError, type StoreErrorKind } from '@groundcrew/store';

/** Another connection holds the lock; the same call may work a moment later. */
export function isBusy(error: unknown): boolean {
  return kindOf(error) === 'busy';
}

/** Gives a failure of SQLite or of the file system its kind and a text that says what to do. */
export function storeFault(error: unknown, file: string): StoreError {
  if (error instanceof StoreError) return error;
  const kind = kindOf(error);
  const detail = error instanceof Error ? error.message : String(error);
  return new StoreError(kind, advice[kind](file, detail), { cause: error });
}

/** The file holds something else than what was written. */
export function damaged(file: string, detail: string): StoreError {
  return storeFault(new Damage(detail), file);
}

/** What went wrong, without the advice that `storeFault` puts around it. */
export function reasonOf(error: unknown): string {
  const reason = error instanceof StoreError ? (error.cause ?? error) : error;
  return reason instanceof Error ? reason.message : String(reason);
}

/** Found by our own checks rather than by SQLite's. */
class Damage extends Error {
  override readonly name = 'Damage';
}

type FaultKind = Extract<StoreErrorKind, 'busy' | 'full' | 'read_only' | 'damaged' | 'io'>;

const advice: Record<FaultKind, (file: string, detail: string) => string> = {
  busy: (file) => `The session store ${file} is locked by another process; nothing was written. Try again.`,
  full: (file) =>
    `There is no space left for the session store ${file}; nothing was written. Free some space and try again.`,
  read_only: (file, detail) =>
    `The session store ${file} cannot be written (${detail}). Make the file and its directory writable and try again.`,
  damaged: (file, detail) => `The session store ${file} is damaged (${detail}). Run \`groundcrew doctor\`.`,
  io: (file, detail) =>
    `The session store ${file} cannot be used (${detail}). Check the disk, then run \`groundcrew doctor\`.`,
};

/** Primary result codes of SQLite. */
const sqliteKinds: Readonly<Record<number, FaultKind>> = {
  3: 'read_only',
  5: 'busy',
  6: 'busy',
  8: 'read_only',
  11: 'damaged',
  13: 'full',
  19: 'damaged',
  26: 'damaged',
};

/** SQLite's own words: the package for Node 20 gives no number to what fails between two rows. */
const sqliteWords: Readonly<Record<string, FaultKind>> = {
  'attempt to write a readonly database': 'read_only',
  'database disk image is malformed': 'damaged',
  'database is locked': 'busy',
  'database or disk is full': 'full',
  'file is not a database': 'damaged',
};

/** Growing the shared-memory file of the WAL fails with this code when the disk is full. */
const sharedMemoryTooSmall = 4874;

function kindOf(error: unknown): FaultKind {
  if (!(error instanceof Error)) return 'io';
  if (error instanceof SyntaxError || error instanceof Damage) return 'damaged';
  if ('errcode' in error && typeof error.errcode === 'number') {
    if (error.errcode === sharedMemoryTooSmall) return 'full';
    return sqliteKinds[error.errcode & 0xff] ?? 'io';
  }
  if ('code' in error && typeof error.code === 'string')
    return diskKinds[error.code] ?? sqliteWords[error.message] ?? 'io';
  return 'io';
}
