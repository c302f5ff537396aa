import { waitKinds, webhookEvents } from '@groundcrew/protocol';
import { z } from 'zod';

/** A tenant's name becomes a directory and a part of a database: nothing that could lead elsewhere. */
const tenantName = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?$/, 'a tenant is up to 40 of a-z, 0-9, - and _');

/** The tenant that is the operator's own: its admins may end the server. */
export const operatorsTenant = 'default';

const role = z.enum(['observer', 'member', 'admin']);

const absolutePath = z.string().regex(/^\//, 'expected a whole path');

/** Tokens are checked by public keys only: a program that checks tokens cannot make one. */
export const knownAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

const algorithm = z.enum(knownAlgorithms);

const token = z.strictObject({
  name: z.string().min(1).max(100),
  tenant: tenantName,
  role,
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 in hexadecimal'),
  /** When it expires. */
  expires: z.optional(z.iso.datetime({ offset: true })),
});

const issuer = z.strictObject({
  issuer: z.string().min(1),
  audience: z.string().min(1),
  /** A file, or an address: https, or http on this machine. */
  jwks: z.string().min(1),
  algorithms: z.optional(z.array(algorithm).min(1)),
  tenantClaim: z.optional(z.string().min(1)),
  roleClaim: z.optional(z.string().min(1)),
  /** What a value of the claim means; without it the claim is the role itself. */
  roles: z.optional(z.record(z.string(), role)),
  /** The role of a token without the claim; default: such a token is refused. */
  defaultRole: z.optional(role),
  /** Its tokens may name the tenant `default`; without it, a user who names an organisation so would be the operator. */
  mayBeOperator: z.optional(z.boolean()),
});

const quotas = z.strictObject({
  sessions: z.optional(z.int().min(0)),
  concurrentTurns: z.optional(z.int().min(0)),
  tokensPerDay: z.optional(z.int().min(0)),
  /** In US dollars. */
  costPerDay: z.optional(z.number().min(0)),
});

const webhook = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  /** The key that signs; only its owner may read the file. */
  secretFile: absolutePath,
  events: z.optional(z.array(z.enum(webhookEvents)).min(1)),
  waitingOn: z.optional(z.array(z.enum(waitKinds)).min(1)),
  allowPrivate: z.optional(z.boolean()),
  retry: z.optional(
    z
      .array(
        z
          .int()
          .min(0)
          .max(24 * 60 * 60),
      )
      .max(20),
  ),
  timeout: z.optional(z.int().min(1).max(60)),
});

const tenant = z.strictObject({
  /** Where its sessions may work; default: its own directory in the home. */
  directories: z.optional(z.array(absolutePath).min(1)),
  /** What else its sessions may read. */
  readOnly: z.optional(z.array(absolutePath)),
  quotas: z.optional(quotas),
  /** The receivers of webhooks about its sessions. */
  webhooks: z.optional(z.array(webhook).max(10)),
});

const settings = z.strictObject({
  tokens: z.optional(z.array(token)),
  jwt: z.optional(z.array(issuer)),
  tenants: z.optional(z.record(tenantName, tenant)),
  /** What holds for tenants that say nothing of it. */
  defaults: z.optional(tenant.pick({ quotas: true, readOnly: true, webhooks: true })),
});

/** Which tokens are accepted, and what each tenant may do and use. */
export type AuthSettings = z.infer<typeof settings>;

/** One static token, by its hash. */
export type TokenEntry = z.infer<typeof token>;

/** An issuer whose JSON Web Tokens are accepted. */
export type IssuerSettings = z.infer<typeof issuer>;

/** What a tenant may use up. */
export type Quotas = z.infer<typeof quotas>;

/** What is set for one tenant. */
export type TenantSettings = z.infer<typeof tenant>;

/** What is wrong with a file of tokens and tenants, and where. */
export class AuthFault extends Error {
  override readonly name = 'AuthFault';
}

/** Reads the text of a file. Throws AuthFault, which names the field and repeats no value. */
export function readAuthSettings(text: string, file: string): AuthSettings {
  const parsed = settings.safeParse(parseJson(text, file));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new AuthFault(`${file}: ${issue?.path.join('.') || 'the file'}: ${issue?.message}`);
  }
  const names = (parsed.data.tokens ?? []).map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new AuthFault(`${file}: two tokens have the name ${JSON.stringify(twice)}`);
  if (parsed.data.tenants?.default?.webhooks)
    throw new AuthFault(
      `${file}: tenants.default.webhooks: those of the operator's own sessions are in config.json`,
    );
  return parsed.data;
}

/** Whether a text may be the name of a tenant. */
export function isTenantName(text: unknown): text is string {
  return tenantName.safeParse(text).success;
}

/** What holds for a tenant, by its own entry and the defaults. */
export function settingsOfTenant(
  { tenants = {}, defaults = {} }: AuthSettings,
  name: string,
): TenantSettings {
  const own = Object.hasOwn(tenants, name) ? tenants[name] : undefined;
  return { ...defaults, ...own, quotas: { ...defaults.quotas, ...own?.quotas } };
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new AuthFault(`${file} is no JSON`);
  }
}
