import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { AuthFault, type AuthSettings, readAuthSettings, type TokenEntry } from './auth-settings.js';

/** Reads a file of tokens and tenants. Throws AuthFault, also when users other than its owner may read or write it. */
export function readAuthFile(file: string): AuthSettings {
  const descriptor = open(file);
  try {
    const { mode } = fstatSync(descriptor);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new AuthFault(`${file} may be read by others than its owner: chmod 600 ${file}`);
    return readAuthSettings(readFileSync(descriptor, 'utf8'), file);
  } finally {
    closeSync(descriptor);
  }
}

/** What distinguishes one state of a file from another; undefined while there is none. */
export function stampOf(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats && [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs, stats.mode].join(' ');
}

/** Replaces the file whole, so that a reader finds the old one or the new one; makes it where there is none. Throws AuthFault. */
export function changeAuthFile(file: string, change: (before: AuthSettings) => AuthSettings): void {
  const before = stampOf(file) === undefined ? {} : readAuthFile(file);
  const text = `${JSON.stringify(change(before), undefined, 2)}\n`;
  readAuthSettings(text, file);
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
  chmodSync(draft, 0o600);
  const descriptor = openSync(draft, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
}

/** A token that cannot be guessed, so that its hash may be kept as it is. */
export function newToken(): string {
  return `gct_${randomBytes(32).toString('base64url')}`;
}

/** How a token is kept. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The entry of a new token. */
export function tokenEntry(
  token: string,
  about: Pick<TokenEntry, 'name' | 'tenant' | 'role' | 'expires'>,
): TokenEntry {
  return { ...about, sha256: hashOf(token) };
}

function open(file: string): number {
  try {
    return openSync(file, 'r');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new AuthFault(
      code === 'ENOENT'
        ? `There is no ${file}: groundcrew token add --auth ${file} makes it`
        : `${file} cannot be read: ${code}`,
    );
  }
}
