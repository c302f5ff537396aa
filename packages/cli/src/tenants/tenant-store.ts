import type { Environment } from '@groundcrew/models';
import { readAddresses, withSchema } from '@groundcrew/store-postgres';
import { UsageError } from '../flags/arguments.js';

/** Where the sessions of tenants are: each has a schema of its own in the database of the operator's. */
export interface TenantStores {
  /** Their schemas begin with it, and a tenant's name follows; neither can have a colon. */
  readonly prefix: string;
  of(tenant: string): string;
}

/** A tenant's name has up to 40 characters, the name of a schema up to 63. */
const longestSchema = 22;

/** By the address of the operator's own sessions. Throws UsageError. */
export function tenantStores(url: string, { PGPASSWORD }: Environment): TenantStores {
  if (/[?&]host=(?:\/|%2f)/i.test(url))
    throw new UsageError(
      '--auth: runtimes of tenants do not see the socket of PostgreSQL: name a host and a port in --store',
    );
  // Their environment has none of the operator's variables.
  const own = PGPASSWORD === undefined ? url : withPassword(url, PGPASSWORD);
  if (!readAddresses(own).every((address) => new URL(address.url).password !== ''))
    throw new UsageError(
      '--auth: commands of tenants reach PostgreSQL as the server does, so it must demand a password: name it in --store, or PGPASSWORD',
    );
  const { schema = 'groundcrew' } = readAddresses(url)[0] ?? {};
  if (schema.length > longestSchema || schema.includes(':'))
    throw new UsageError(`--auth: the schema of --store may have ${longestSchema} characters, and no colon`);
  const prefix = `${schema}:`;
  return { prefix, of: (tenant) => withSchema(own, `${prefix}${tenant}`) };
}

/** Throws UsageError where commands of tenants could listen to what nodes say to one another. */
export function requireClosedBus(nats: string): void {
  const open = nats.split(/[\s,]+/).filter((part) => part !== '' && !part.includes('@'));
  if (open.length > 0)
    throw new UsageError(
      '--auth: commands of tenants reach NATS as the server does, so it must demand a user or a token: nats://user:password@host',
    );
}

function withPassword(url: string, password: string): string {
  return url.replace(
    /(postgres(?:ql)?:\/\/)([^@/?:,]+)@/gi,
    (_, start: string, user: string) => `${start}${user}:${encodeURIComponent(password)}@`,
  );
}
