import { readFileSync } from 'node:fs';
import type { JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose';
import { stampOf } from './auth-file.js';
import {
  AuthFault,
  type IssuerSettings,
  isTenantName,
  knownAlgorithms,
  operatorsTenant,
} from './auth-settings.js';
import type { TenantIdentity } from './tenant-identity.js';

/** A token without this form is no JSON Web Token. */
const shape = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Whether a token may be a JSON Web Token. */
export function looksSigned(token: string): boolean {
  return token.length <= longestToken && shape.test(token);
}

const longestToken = 16 * 1024;
const clockToleranceSeconds = 5;
/** A peer has five seconds to show who it is. */
const fetchMs = 2_000;
/** An unknown key is fetched at most so often. A key that was removed at the address is believed for up to `keysFreshMs`. */
const fetchAgainMs = 1_000;
const keysFreshMs = 60_000;
/** While the address does not answer, the keys that it had serve for so long. */
const keysKeptMs = 60 * 60_000;

/** The claims of a token, and the identity that it proves. */
export interface Verified {
  readonly identity: TenantIdentity;
  readonly claims: JWTPayload;
}

/** Checks the tokens of one issuer, by its public keys. */
export class Issuer {
  private keys: { readonly stamp: string; readonly find: JWTVerifyGetKey } | undefined;

  constructor(
    private readonly settings: IssuerSettings,
    private readonly addresses: KeyAddresses,
  ) {
    if (isAddress(settings.jwks)) requireSafe(settings.jwks);
  }

  get name(): string {
    return this.settings.issuer;
  }

  /** Throws where the file of the keys cannot be read or is none. */
  async check(): Promise<void> {
    await this.find();
  }

  /** The tenant and role of a token; undefined unless every check passes. */
  async verify(token: string): Promise<Verified | undefined> {
    const { issuer, audience, algorithms = knownAlgorithms } = this.settings;
    try {
      const claims = await claimsOf(token, await this.find(), {
        issuer,
        audience,
        algorithms: [...algorithms],
        clockTolerance: clockToleranceSeconds,
        requiredClaims: ['exp'],
      });
      const identity = this.identityOf(claims);
      return identity && { identity, claims };
    } catch (error) {
      if (error instanceof AuthFault) throw error;
      return undefined;
    }
  }

  /** The identity that verified claims stand for, by the settings as they are now; undefined for none. */
  identityOf(payload: JWTPayload): TenantIdentity | undefined {
    const {
      tenantClaim = 'tenant',
      roleClaim = 'role',
      roles,
      defaultRole,
      issuer,
      audience,
    } = this.settings;
    if (payload.iss !== issuer || ![payload.aud].flat().includes(audience)) return undefined;
    const tenant = claimOf(payload, tenantClaim);
    const said = claimOf(payload, roleClaim);
    const role = said === undefined ? defaultRole : roleOf(said, roles);
    if (!isTenantName(tenant) || role === undefined || payload.exp === undefined) return undefined;
    if (tenant === operatorsTenant && !this.settings.mayBeOperator) return undefined;
    const subject = typeof payload.sub === 'string' ? payload.sub.slice(0, longestSubject) : 'unnamed';
    return {
      tenant,
      role,
      subject,
      key: `jwt ${JSON.stringify([issuer, tenant, subject])}`,
      expiresAt: payload.exp * 1000,
    };
  }

  private async find(): Promise<JWTVerifyGetKey> {
    const { jwks } = this.settings;
    if (isAddress(jwks)) return this.addresses.keysAt(jwks);
    const { createLocalJWKSet } = await import('jose');
    const stamp = stampOf(jwks);
    if (stamp === undefined) throw new AuthFault(`The keys of ${this.name} are not there: ${jwks}`);
    if (this.keys?.stamp !== stamp) this.keys = { stamp, find: createLocalJWKSet(keysIn(jwks)) };
    return this.keys.find;
  }
}

const longestSubject = 200;

/** What addresses showed of keys; a change of the settings is no reason to have to fetch them again. */
export class KeyAddresses {
  private readonly known = new Map<string, Promise<JWTVerifyGetKey>>();

  keysAt(address: string): Promise<JWTVerifyGetKey> {
    const known = this.known.get(address) ?? keysAt(address);
    this.known.set(address, known);
    return known;
  }

  /** Keys of addresses that are not in the settings any more are believed by none. */
  keepOnly(addresses: ReadonlySet<string>): void {
    for (const address of this.known.keys()) if (!addresses.has(address)) this.known.delete(address);
  }
}

/** Throws unless all of it is right. A token that names none of several keys is tried with each that fits. */
async function claimsOf(
  token: string,
  find: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  const { jwtVerify, errors } = await import('jose');
  try {
    return (await jwtVerify(token, find, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error)
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure;
      }
    throw error;
  }
}

/** The keys at an address, as it shows them now; those that it showed last while it does not answer. */
async function keysAt(address: string): Promise<JWTVerifyGetKey> {
  const { createLocalJWKSet, createRemoteJWKSet, errors } = await import('jose');
  const remote = createRemoteJWKSet(new URL(address), {
    timeoutDuration: fetchMs,
    cooldownDuration: fetchAgainMs,
    cacheMaxAge: keysFreshMs,
  });
  let answeredAt = Number.NEGATIVE_INFINITY;
  return async (header, token) => {
    try {
      const key = await remote(header, token);
      if (remote.fresh) answeredAt = performance.now();
      return key;
    } catch (error) {
      const kept = remote.jwks();
      const hasAnswered =
        error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;
      if (hasAnswered || !kept || performance.now() - answeredAt > keysKeptMs) throw error;
      return createLocalJWKSet(kept)(header, token);
    }
  };
}

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
