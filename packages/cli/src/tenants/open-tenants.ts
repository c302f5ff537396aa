import { join } from 'node:path';
import type { Environment } from '@groundcrew/models';
import type { SandboxSettings } from '@groundcrew/runtime';
import { AuditLog, Authenticator, AuthFault } from '@groundcrew/tenants';
import { UsageError } from '../flags/arguments.js';
import type { Protocol } from '../flags/protocol.js';
import { findBwrap } from './find-bwrap.js';
import { TenantDoor } from './tenant-door.js';
import { tenantFlag } from './tenant-flag.js';
import { TenantHouse } from './tenant-house.js';

/** How a server of several tenants is started. */
export interface TenantsOptions {
  /** The file of tokens and tenants. */
  readonly auth: string;
  /** Where the audit is written; `audit.jsonl` in the home without. */
  readonly audit?: string;
  readonly homeDirectory: string;
  readonly environment: Environment;
  readonly sessionIdleSeconds: number;
  readonly protocol?: Protocol;
  readonly sandbox?: SandboxSettings;
  /** The operator has said that nothing but the runtime keeps tenants apart on the disk. */
  readonly sharesFiles: boolean;
  warn(message: string): void;
}

/** The door of several tenants, the audit and the runtimes behind it. */
export interface Tenants {
  readonly door: TenantDoor;
  readonly audit: AuditLog;
  close(): Promise<void>;
}

/** Reads the file and prepares for clients. Throws UsageError. */
export async function openTenants(options: TenantsOptions): Promise<Tenants> {
  const { homeDirectory, warn } = options;
  const authenticator = await openAuthenticator(options);
  const audit = new AuditLog(options.audit ?? join(homeDirectory, 'audit.jsonl'), warn);
  const { GH_TOKEN, GITHUB_TOKEN } = options.environment;
  const gitHubToken = GH_TOKEN || GITHUB_TOKEN;
  const house = new TenantHouse({
    homeDirectory,
    bwrap: options.sharesFiles ? undefined : requireBwrap(options.environment),
    program: [join(import.meta.dirname, 'cli.cjs'), tenantFlag],
    environment: options.environment,
    sessionIdleSeconds: options.sessionIdleSeconds,
    ...(gitHubToken && { gitHubToken }),
    ...(options.protocol !== undefined && { protocol: options.protocol }),
    ...(options.sandbox && { sandbox: options.sandbox }),
    settingsOf: (tenant) => authenticator.tenant(tenant),
    onMessage: (tenant, message) => {
      if (message.kind === 'warning') warn(`tenant ${tenant}: ${message.message}`);
      if (message.kind === 'audit') {
        const { role, subject } = message.identity;
        audit.write({ ...message.entry, tenant, role, subject });
      }
    },
  });
  const door = new TenantDoor({ authenticator, audit, house, warn });
  return {
    door,
    audit,
    close: async () => {
      door.close();
      await house.close();
    },
  };
}

async function openAuthenticator({ auth, warn }: TenantsOptions): Promise<Authenticator> {
  try {
    const authenticator = await Authenticator.open(auth, warn);
    if (authenticator.isEmpty)
      throw new AuthFault(
        `${auth} has no tokens and no issuer of them: groundcrew token add --auth ${auth} …`,
      );
    return authenticator;
  } catch (error) {
    throw error instanceof AuthFault ? new UsageError(`--auth: ${error.message}`) : error;
  }
}

function requireBwrap(environment: Environment): string {
  const found = findBwrap(environment);
  if (found.problem === undefined) return found.program;
  throw new UsageError(
    `--auth: each tenant's runtime runs in a sandbox, so that it reads no file of another, and there is none: ${found.problem}. --tenants-share-files does without it.`,
  );
}
