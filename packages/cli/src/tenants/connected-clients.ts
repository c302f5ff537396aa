import type { AuditLog, Authenticator, TenantIdentity, TokenChange } from '@groundcrew/tenants';

/** The longest time that a timer of Node can wait. */
const longestTimer = 2 ** 31 - 1;
const lookEveryMs = 1_000;
const loginAgainMs = 60 * 60_000;

interface Present {
  readonly identity: TenantIdentity;
  timer: NodeJS.Timeout | undefined;
  close(): void;
}

/** The connected clients. One whose token expires, is revoked or gets another role is disconnected. */
export class ConnectedClients {
  private readonly present = new Set<Present>();
  private readonly lately = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly authenticator: Authenticator,
    private readonly audit: AuditLog,
    private readonly onSettings: () => void,
  ) {
    authenticator.onChange((changes) => this.changed(changes));
    this.timer = setInterval(() => authenticator.refresh(), lookEveryMs).unref();
  }

  /** A connection of a client began; the result is called when it is over. */
  enter(
    identity: TenantIdentity,
    about: { readonly door: 'tcp' | 'http'; readonly address: string },
    close: () => void,
  ): () => void {
    this.audit.write({ event: 'login', ...identityOf(identity), ...about });
    return this.follow(identity, close);
  }

  /** Closes the connection when its token is not valid any more. */
  follow(identity: TenantIdentity, close: () => void): () => void {
    const present: Present = { identity, timer: undefined, close };
    this.present.add(present);
    this.watch(present);
    return () => {
      clearTimeout(present.timer);
      this.present.delete(present);
    };
  }

  /** A single request; the audit has one line an hour for requests of the same token, role and address. */
  visited(identity: TenantIdentity, about: { readonly door: 'http'; readonly address: string }): void {
    const key = `${identity.key} ${identity.tenant} ${identity.role} ${about.address}`;
    const now = Date.now();
    if (now - (this.lately.get(key) ?? 0) < loginAgainMs) return;
    if (this.lately.size > mostLately) this.lately.clear();
    this.lately.set(key, now);
    this.audit.write({ event: 'login', ...identityOf(identity), ...about });
  }

  refused(about: { readonly door: 'tcp' | 'http'; readonly address: string }): void {
    this.audit.write({ event: 'login_failed', ...about });
  }

  close(): void {
    clearInterval(this.timer);
    for (const { timer } of this.present) clearTimeout(timer);
  }

  private changed(changes: readonly TokenChange[]): void {
    for (const { name, tenant, before, after } of changes) {
      const event = after === undefined ? 'revoked' : 'role_changed';
      const detail = `${before ?? 'none'} to ${after ?? 'none'}`;
      this.audit.write({ event, tenant, subject: name, detail });
    }
    const audited = new Set<string>();
    for (const present of [...this.present]) {
      const { identity, close } = present;
      const standing = this.authenticator.standingOf(identity);
      if (standing === 'same') this.watch(present);
      else {
        this.auditSigned(identity, standing, audited);
        close();
      }
    }
    this.onSettings();
  }

  /** Audits a JSON Web Token here, at its clients: the file, which has the static tokens, knows nothing of it. */
  private auditSigned(
    identity: TenantIdentity,
    standing: 'gone' | { readonly role: TenantIdentity['role'] },
    audited: Set<string>,
  ): void {
    if (identity.key.startsWith('token ') || audited.has(identity.key)) return;
    audited.add(identity.key);
    const { tenant, role, subject } = identity;
    const isGone = standing === 'gone';
    const detail = `${role} to ${isGone ? 'none' : standing.role}`;
    this.audit.write({ event: isGone ? 'revoked' : 'role_changed', tenant, subject, detail });
  }

  /** Waits for the end of the token, by the file as it is now; a timer of Node cannot wait for all of a month. */
  private watch(present: Present): void {
    clearTimeout(present.timer);
    const expiresAt = this.authenticator.expiryOf(present.identity);
    if (expiresAt === undefined) return;
    const left = Math.max(0, expiresAt - Date.now());
    const next = left > longestTimer ? () => this.watch(present) : () => this.expire(present);
    present.timer = setTimeout(next, Math.min(left, longestTimer)).unref();
  }

  private expire(present: Present): void {
    if (!this.present.has(present)) return;
    this.audit.write({ event: 'logout', ...identityOf(present.identity), detail: 'the token has expired' });
    present.close();
  }
}

const mostLately = 10_000;

function identityOf({
  tenant,
  role,
  subject,
}: TenantIdentity): Pick<TenantIdentity, 'tenant' | 'role' | 'subject'> {
  return { tenant, role, subject };
}
