import { readFileSync } from 'node:fs';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { stampOf } from './auth-file.js';
import { AuthFault, type IssuerSettings, isTenantName, knownAlgorithms } from './auth-settings.js';
import type { TenantIdentity } from './tenant-identity.js';

/** A token without this form is no JSON Web Token. */
const shape = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Whether a token may be a JSON Web Token. */
export function looksSigned(token: string): boolean {
  return token.length <= longestToken && shape.test(token);
}

const longestToken = 16 * 1024;
const clockToleranceSeconds = 5;

/** Believes the tokens of one issuer, by its public keys. */
export class Issuer {
  private keys: { readonly stamp: string; readonly find: JWTVerifyGetKey } | undefined;

  constructor(private readonly settings: IssuerSettings) {
    if (isAddress(settings.jwks)) requireSafe(settings.jwks);
  }

  get name(): string {
    return this.settings.issuer;
  }

  /** Throws where the file of the keys cannot be read or is none. */
  async check(): Promise<void> {
    await this.find();
  }

  /** Who the token speaks for; undefined unless all of it is right. */
  async verify(token: string): Promise<TenantIdentity | undefined> {
    const { jwtVerify } = await import('jose');
    const { issuer, audience, algorithms = knownAlgorithms } = this.settings;
    try {
      const { payload } = await jwtVerify(token, await this.find(), {
        issuer,
        audience,
        algorithms: [...algorithms],
        clockTolerance: clockToleranceSeconds,
        requiredClaims: ['exp'],
      });
      return this.identityOf(payload);
    } catch (error) {
      if (error instanceof AuthFault) throw error;
      return undefined;
    }
  }

  private identityOf(payload: JWTPayload): TenantIdentity | undefined {
    const { tenantClaim = 'tenant', roleClaim = 'role', roles, defaultRole, issuer } = this.settings;
    const tenant = claimOf(payload, tenantClaim);
    const said = claimOf(payload, roleClaim);
    const role = said === undefined ? defaultRole : roleOf(said, roles);
    if (!isTenantName(tenant) || role === undefined || payload.exp === undefined) return undefined;
    const subject = typeof payload.sub === 'string' ? payload.sub.slice(0, longestSubject) : 'unnamed';
    return { tenant, role, subject, key: `jwt ${issuer} ${subject}`, expiresAt: payload.exp * 1000 };
  }

  private async find(): Promise<JWTVerifyGetKey> {
    const { jwks } = this.settings;
    const { createLocalJWKSet, createRemoteJWKSet } = await import('jose');
    if (isAddress(jwks)) {
      this.keys ??= { stamp: '', find: createRemoteJWKSet(new URL(jwks), { timeoutDuration: 5_000 }) };
      return this.keys.find;
    }
    const stamp = stampOf(jwks);
    if (stamp === undefined) throw new AuthFault(`The keys of ${this.name} are not there: ${jwks}`);
    if (this.keys?.stamp !== stamp) this.keys = { stamp, find: createLocalJWKSet(keysIn(jwks)) };
    return this.keys.find;
  }
}

const longestSubject = 200;

/** A claim by its name, or by a path with dots where there is none of the name. */
function claimOf(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  return name.split('.').reduce<unknown>((value, part) => {
    const isInside = typeof value === 'object' && value !== null && Object.hasOwn(value, part);
    return isInside ? (value as Record<string, unknown>)[part] : undefined;
  }, payload);
}

/** Of several values the one that may do most. */
function roleOf(said: unknown, roles: IssuerSettings['roles']): TenantIdentity['role'] | undefined {
  const words = (Array.isArray(said) ? said : [said]).filter((word) => typeof word === 'string');
  const roleBy = (word: string) => (roles && Object.hasOwn(roles, word) ? roles[word] : undefined);
  const meant = words.map((word) => (roles ? roleBy(word) : word));
  return (['admin', 'member', 'observer'] as const).find((role) => meant.includes(role));
}

function isAddress(jwks: string): boolean {
  return /^https?:\/\//i.test(jwks);
}

/** Keys that come over the network in the clear could be anyone's. */
function requireSafe(address: string): void {
  const { protocol, hostname } = new URL(address);
  const isLocal = hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
  if (protocol !== 'https:' && !isLocal)
    throw new AuthFault(`jwt.jwks: ${address} needs https: keys would come over the network unprotected`);
}

function keysIn(file: string): Parameters<typeof import('jose').createLocalJWKSet>[0] {
  try {
    const keys: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof keys === 'object' && keys !== null && 'keys' in keys && Array.isArray(keys.keys))
      return { keys: keys.keys };
  } catch {
    // Said below.
  }
  throw new AuthFault(`${file} has no set of keys (JWKS)`);
}
