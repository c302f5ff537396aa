import { createHash, timingSafeEqual } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { readAuthFile, stampOf } from './auth-file.js';
import type { AuthSettings, TenantSettings, TokenEntry } from './auth-settings.js';
import { settingsOfTenant } from './auth-settings.js';
import { Issuer, KeyAddresses, looksSigned } from './jwt.js';
import type { TenantIdentity } from './tenant-identity.js';

/** What a changed file means for a client that is connected. */
export type Standing = 'same' | 'gone' | { readonly role: TenantIdentity['role'] };

/** What became of a static token. */
export interface TokenChange {
  readonly name: string;
  readonly tenant: string;
  /** Absent for a new one. */
  readonly before?: TenantIdentity['role'];
  /** Absent for one that was taken away. */
  readonly after?: TenantIdentity['role'];
}

/** Finds the tenant and role that a token stands for, by a file that is read again when it has changed. */
export class Authenticator {
  private settings: AuthSettings = {};
  private issuers: readonly Issuer[] = [];
  private readonly addresses = new KeyAddresses();
  private stamp: string | undefined;
  /** The claims of the JSON Web Token by which a client connected. */
  private readonly claims = new WeakMap<TenantIdentity, JWTPayload>();
  private listener: ((changes: readonly TokenChange[]) => void) | undefined;

  private constructor(
    private readonly file: string,
    private readonly warn: (message: string) => void,
  ) {}

  /** Throws AuthFault. */
  static async open(file: string, warn: (message: string) => void): Promise<Authenticator> {
    const made = new Authenticator(file, warn);
    made.read();
    await Promise.all(made.issuers.map((issuer) => issuer.check()));
    return made;
  }

  /** Whether any credential could let someone in. */
  get isEmpty(): boolean {
    return (this.settings.tokens ?? []).length === 0 && this.issuers.length === 0;
  }

  /** What is set for a tenant now. */
  tenant(name: string): TenantSettings {
    return settingsOfTenant(this.settings, name);
  }

  /** The tenants that the file names. */
  get tenantNames(): readonly string[] {
    const named = [
      ...Object.keys(this.settings.tenants ?? {}),
      ...(this.settings.tokens ?? []).map(({ tenant }) => tenant),
    ];
    return [...new Set(named)];
  }

  /** The directories in which sessions of tenants may work, as the file names them. */
  get directories(): readonly string[] {
    return Object.values(this.settings.tenants ?? {}).flatMap(({ directories = [] }) => directories);
  }

  /** The files with secrets that the file names. */
  get secretFiles(): readonly string[] {
    const { tenants = {}, defaults } = this.settings;
    const webhooks = [...Object.values(tenants), defaults].flatMap((each) => each?.webhooks ?? []);
    return webhooks.map(({ secretFile }) => secretFile);
  }

  /** Whose token it is; undefined for one that is not known, or no longer. */
  async authenticate(token: string): Promise<TenantIdentity | undefined> {
    this.refresh();
    const entry = this.entryOf(token);
    if (entry) return identityOf(entry);
    if (!looksSigned(token)) return undefined;
    const { iss } = claimsIn(token);
    // An issuer may have several entries, of other audiences.
    for (const issuer of this.issuers.filter(({ name }) => name === iss)) {
      const verified = await issuer.verify(token);
      if (!verified) continue;
      this.claims.set(verified.identity, verified.claims);
      return verified.identity;
    }
    return undefined;
  }

  /** When the credential of a client expires, by the file as it is now. */
  expiryOf(identity: TenantIdentity): number | undefined {
    const entry = this.tokenOf(identity);
    return entry ? expiryIn(entry) : identity.expiresAt;
  }

  /** Called when the file has changed, with what that means for tokens. */
  onChange(listener: (changes: readonly TokenChange[]) => void): void {
    this.listener = listener;
  }

  /** Reads the file if it has changed; a mistake in it is a warning, and what was read before holds. */
  refresh(): void {
    if (stampOf(this.file) === this.stamp) return;
    const before = this.settings.tokens ?? [];
    try {
      this.read();
    } catch (error) {
      this.stamp = stampOf(this.file);
      this.warn(
        `${(error as Error).message}. The settings from before stay in force until this is corrected.`,
      );
      return;
    }
    this.listener?.(changesOf(before, this.settings.tokens ?? []));
  }

  /** What the file means now for a client that connected before. */
  standingOf(identity: TenantIdentity): Standing {
    const claims = this.claims.get(identity);
    const now = claims ? this.identityBy(claims) : this.tokenOf(identity);
    if (!now || now.tenant !== identity.tenant) return 'gone';
    if ('sha256' in now && isOver(now)) return 'gone';
    return now.role === identity.role ? 'same' : { role: now.role };
  }

  private tokenOf({ key }: TenantIdentity): TokenEntry | undefined {
    return (this.settings.tokens ?? []).find(({ sha256 }) => keyOf(sha256) === key);
  }

  private identityBy(claims: JWTPayload): TenantIdentity | undefined {
    for (const issuer of this.issuers) {
      const identity = issuer.identityOf(claims);
      if (identity) return identity;
    }
    return undefined;
  }

  private read(): void {
    const stamp = stampOf(this.file);
    const settings = readAuthFile(this.file);
    const entries = settings.jwt ?? [];
    this.issuers = entries.map((each) => new Issuer(each, this.addresses));
    this.addresses.keepOnly(new Set(entries.map(({ jwks }) => jwks)));
    this.settings = settings;
    this.stamp = stamp;
  }

  /** Looks at every entry, so that it takes the same time whichever it is. */
  private entryOf(token: string): TokenEntry | undefined {
    const shown = createHash('sha256').update(token).digest();
    let found: TokenEntry | undefined;
    for (const entry of this.settings.tokens ?? [])
      if (timingSafeEqual(shown, Buffer.from(entry.sha256, 'hex'))) found = entry;
    return found && !isOver(found) ? found : undefined;
  }
}

const tokenKey = 'token ';

/** A part of the hash identifies it, and reveals nothing. */
function keyOf(sha256: string): string {
  return `${tokenKey}${sha256.slice(0, 16)}`;
}

function identityOf({ tenant, role, name, sha256, expires }: TokenEntry): TenantIdentity {
  return {
    tenant,
    role,
    subject: name,
    key: keyOf(sha256),
    ...(expires !== undefined && { expiresAt: Date.parse(expires) }),
  };
}

function expiryIn({ expires }: TokenEntry): number | undefined {
  return expires === undefined ? undefined : Date.parse(expires);
}

function isOver(entry: TokenEntry): boolean {
  return (expiryIn(entry) ?? Number.POSITIVE_INFINITY) <= Date.now();
}

function changesOf(before: readonly TokenEntry[], after: readonly TokenEntry[]): readonly TokenChange[] {
  const find = (entries: readonly TokenEntry[], { sha256, tenant }: TokenEntry) =>
    entries.find((each) => each.sha256 === sha256 && each.tenant === tenant);
  const kept = after.map((entry) => ({ entry, was: find(before, entry) }));
  return [
    ...kept
      .filter(({ entry, was }) => was?.role !== entry.role)
      .map(({ entry: { name, tenant, role }, was }) => ({
        name,
        tenant,
        after: role,
        ...(was && { before: was.role }),
      })),
    ...before
      .filter((entry) => !find(after, entry))
      .map(({ name, tenant, role }) => ({ name, tenant, before: role })),
  ];
}

/** The claims in a token whose signature was not checked: they only say which issuer to ask. */
function claimsIn(token: string): { readonly iss?: unknown } {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    return typeof claims === 'object' && claims !== null ? claims : {};
  } catch {
    return {};
  }
}
