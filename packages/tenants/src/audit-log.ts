import { appendFileSync, chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { TenantIdentity } from './tenant-identity.js';

/** What an audit has a line of. */
export interface AuditLine {
  readonly event:
    | 'login'
    | 'login_failed'
    | 'logout'
    | 'denied'
    | 'approval'
    | 'delete'
    | 'role_changed'
    | 'revoked'
    | 'quota';
  readonly tenant?: string;
  readonly subject?: string;
  readonly role?: TenantIdentity['role'];
  /** The address that it came from, where that is known. */
  readonly address?: string;
  /** By which door it came. */
  readonly door?: 'tcp' | 'http';
  readonly method?: string;
  readonly sessionId?: string;
  readonly detail?: string;
}

/**
 * One line of JSON for each event, in the file when the call returns. The file is opened for each line, so that it may be
 * renamed at any time: the next line makes a new one.
 */
export class AuditLog {
  constructor(
    private readonly file: string,
    private readonly warn: (message: string) => void,
  ) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // Now, and not at the first line: a server that cannot write its audit does not start.
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
  }

  write(line: AuditLine): void {
    try {
      const text = JSON.stringify({ time: new Date().toISOString(), ...line });
      appendFileSync(this.file, `${text}\n`, { mode: 0o600 });
    } catch (error) {
      this.warn(`The audit ${this.file} cannot be written: ${(error as Error).message}`);
    }
  }
}
