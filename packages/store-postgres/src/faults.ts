import { StoreError, type StoreErrorKind } from '@groundcrew/store';

/** The connection ended while a statement was under way: whether the server has done it is not known. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** No server could be used until the caller's time was over; nothing was sent. */
export class NoConnection extends Error {
  override readonly name = 'NoConnection';
}

/** An answer of the server, by its five letters. */
interface ServerRefusal extends Error {
  readonly code: string;
}

/**
 * Whether the server itself has answered, so that it is certain that nothing was written. A backend that is ended may have
 * committed before it says so.
 */
export function isRefusal(error: unknown): error is ServerRefusal {
  if (!(error instanceof Error) || !('code' in error) || !('severity' in error)) return false;
  return typeof error.code === 'string' && /^[\dA-Z]{5}$/.test(error.code) && !/^(?:08|57P)/.test(error.code);
}

/** Another moment, or another server, may accept the same statement. */
export function mayPass(error: unknown): boolean {
  return isRefusal(error) && (passing.has(error.code) || error.code.startsWith('53'));
}

/** Serialization, deadlock, a lock or a statement that took too long, a primary that has become a standby. */
const passing: ReadonlySet<string> = new Set(['40001', '40P01', '55P03', '57014', '25006', '55006']);

/** The server is no longer the primary: the connection is of no use. */
export function isDemoted(error: unknown): boolean {
  return isRefusal(error) && error.code === '25006';
}

/** Gives a failure its kind and a text that says what to do; the text has no secret. */
export function storeFault(error: unknown, name: string): StoreError {
  if (error instanceof StoreError) return error;
  const kind = kindOf(error);
  const detail = error instanceof Error ? error.message : String(error);
  return new StoreError(kind, advice[kind](name, detail), { cause: error });
}

/** The database holds something else than what was written. */
export function damaged(name: string, detail: string): StoreError {
  return new StoreError('damaged', advice.damaged(name, detail));
}

/** The caller cannot know whether an append was written: its copy of the session is of no use. */
export function inDoubt(sessionId: string, name: string): StoreError {
  return new StoreError(
    'io',
    `The session store ${name} was lost while session ${sessionId} was written, and whether that was done is not known. Open the session again to see.`,
  );
}

type FaultKind = Extract<StoreErrorKind, 'busy' | 'full' | 'read_only' | 'damaged' | 'io'>;

const advice: Record<FaultKind, (name: string, detail: string) => string> = {
  busy: (name, detail) =>
    `The session store ${name} cannot be reached now (${detail}); nothing was written. Try again.`,
  full: (name, detail) =>
    `There is no space left for the session store ${name} (${detail}); nothing was written. Free some space and try again.`,
  read_only: (name, detail) =>
    `The session store ${name} cannot be written (${detail}). Name the primary, or give the role the right to write, and try again.`,
  damaged: (name, detail) => `The session store ${name} is damaged (${detail}). Run \`groundcrew doctor\`.`,
  io: (name, detail) => `The session store ${name} cannot be used (${detail}). Run \`groundcrew doctor\`.`,
};

function kindOf(error: unknown): FaultKind {
  if (error instanceof NoConnection || error instanceof ConnectionLost) return 'busy';
  if (!isRefusal(error)) return 'io';
  const { code } = error;
  if (code === '53100') return 'full';
  if (code === '25006' || code === '42501') return 'read_only';
  if (code === 'XX001' || code === 'XX002') return 'damaged';
  return mayPass(error) ? 'busy' : 'io';
}
