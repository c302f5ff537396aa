import { join } from 'node:path';
import type { Environment, KeyHold } from '@groundcrew/models';
import type { SandboxSettings } from '@groundcrew/runtime';
import { defaultTenant } from '@groundcrew/server';
import { AuditLog, Authenticator, AuthFault, UsageLedger } from '@groundcrew/tenants';
import type { ClusterChoice } from '../config/cluster-choice.js';
import { readWebhooksSetting } from '../config/config-file.js';
import { configPath } from '../config/home.js';
import { UsageError } from '../flags/arguments.js';
import type { Protocol } from '../flags/protocol.js';
import { type Bwrap, findBwrap } from './find-bwrap.js';
import { type OwnProgram, OwnRuntime } from './own-runtime.js';
import { TenantQuotas } from './quotas.js';
import { TenantDoor } from './tenant-door.js';
import { tenantFlag } from './tenant-flag.js';
import { TenantRuntimes } from './tenant-runtimes.js';
import type { TenantStores } from './tenant-store.js';
import { TenantWebhooks } from './tenant-webhooks.js';

/** How a server of several tenants is started. */
export interface TenantsOptions {
  /** The file of tokens and tenants. */
  readonly auth: string;
  /** The file that the audit is written to; default: `audit.jsonl` in the home. */
  readonly audit?: string;
  /** The file with the key of the certificate. */
  readonly tlsKey?: string;
  readonly homeDirectory: string;
  readonly environment: Environment;
  readonly sessionIdleSeconds: number;
  readonly version: string;
  readonly protocol?: Protocol;
  readonly sandbox?: SandboxSettings;
  /** The PostgreSQL that has all sessions, each tenant's in a schema of its own; default: files of their homes. */
  readonly store?: string;
  /** This server is one of several nodes. */
  readonly cluster?: ClusterChoice;
  /** The operator has said that nothing but the runtime keeps tenants apart on the disk. */
  readonly sharesFiles: boolean;
  warn(message: string): void;
}

/** The door of several tenants, the audit and the runtimes behind it. */
export interface Tenants {
  readonly door: TenantDoor;
  readonly audit: AuditLog;
  /** Of the operator's own tenant. */
  readonly quotas: TenantQuotas;
  /** Connects the runtimes of tenants with the operator's own: held keys, quotas, work without a node. */
  join(program: OwnProgram): void;
  /** A model service has refused a call of the operator's own runtime. */
  hold(held: KeyHold): void;
  /** Hands the sessions of all tenants over to other nodes. */
  drain(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

/** Reads the file and prepares for clients. Throws UsageError. */
export async function openTenants(options: TenantsOptions): Promise<Tenants> {
  const { homeDirectory, warn } = options;
  const authenticator = await openAuthenticator(options);
  const audit = new AuditLog(options.audit ?? join(homeDirectory, 'audit.jsonl'), warn);
  const ledger = new UsageLedger(join(homeDirectory, 'tenants', 'usage.jsonl'));
  const stores = await storesOf(options);
  const webhooks = new TenantWebhooks({
    directoryOf: (tenant) => join(homeDirectory, 'tenants', tenant),
    settingsOf: (tenant) => authenticator.tenant(tenant),
    version: options.version,
    ...(stores && { storeOf: stores.of }),
    warn: (tenant, message) => warn(`tenant ${tenant}: ${message}`),
  });
  const bwrap = options.sharesFiles ? undefined : await requireBwrap(options.environment);
  const runtimes = runtimesOf(options, {
    ...{ authenticator, audit, ledger, stores, webhooks, bwrap },
    onHold: (held, tenant) => own.hold(held, tenant),
  });
  const own = new OwnRuntime({ runtimes, schemaPrefix: stores?.prefix, warn });
  void runtimes
    .wake(await owingTenants(authenticator, webhooks))
    .catch((error: Error) => warn(error.message));
  const door = new TenantDoor({ authenticator, audit, runtimes, warn });
  const quotas = new TenantQuotas({
    quotas: () => authenticator.tenant(defaultTenant).quotas ?? {},
    used: () => ledger.of(defaultTenant),
    add: (use) => ledger.add(defaultTenant, use),
    onRefused: (detail) => audit.write({ event: 'quota', tenant: defaultTenant, detail }),
    shared: () => own.meter,
  });
  return {
    door,
    audit,
    quotas,
    join: (program) => own.join(program),
    hold: (held) => own.hold(held),
    drain: (milliseconds) => own.drain(milliseconds),
    close: async () => {
      await own.close();
      door.close();
      await runtimes.close();
      await webhooks.close();
    },
  };
}

interface RuntimesParts {
  readonly bwrap: Bwrap | undefined;
  readonly authenticator: Authenticator;
  readonly audit: AuditLog;
  readonly ledger: UsageLedger;
  readonly stores: TenantStores | undefined;
  readonly webhooks: TenantWebhooks;
  onHold(held: KeyHold, tenant: string): void;
}

function runtimesOf(
  options: TenantsOptions,
  { authenticator, audit, ledger, stores, webhooks, bwrap, onHold }: RuntimesParts,
): TenantRuntimes {
  const { homeDirectory, environment, warn } = options;
  const files = [options.auth, options.audit, options.tlsKey, environment.GROUNDCREW_PROVIDERS];
  const gitHubToken = environment.GH_TOKEN || environment.GITHUB_TOKEN;
  return new TenantRuntimes({
    homeDirectory,
    webhooks,
    environment,
    bwrap,
    program: [join(import.meta.dirname, 'cli.cjs'), tenantFlag],
    sessionIdleSeconds: options.sessionIdleSeconds,
    ...(stores && { storeOf: stores.of }),
    ...(options.cluster && { cluster: options.cluster }),
    ...(gitHubToken && { gitHubToken }),
    ...(options.protocol !== undefined && { protocol: options.protocol }),
    ...(options.sandbox && { sandbox: options.sandbox }),
    secretFiles: () => [
      ...files.flatMap((file) => file || []),
      ...readWebhooksSetting(configPath(homeDirectory)).flatMap(({ secretFile }) => secretFile ?? []),
      ...authenticator.secretFiles,
    ],
    directories: () => authenticator.directories,
    settingsOf: (tenant) => authenticator.tenant(tenant),
    usedBy: (tenant) => ledger.of(tenant),
    onMessage: (tenant, message) => {
      if (message.kind === 'warning') warn(`tenant ${tenant}: ${message.message}`);
      if (message.kind === 'usage') ledger.add(tenant, message.use);
      if (message.kind === 'refused') audit.write({ event: 'quota', tenant, detail: message.reason });
      if (message.kind === 'held') onHold(message.held, tenant);
      if (message.kind === 'audit') {
        const { role, subject } = message.identity;
        audit.write({ ...message.entry, tenant, role, subject });
      }
    },
  });
}

/** Its code is loaded only where sessions are in PostgreSQL. */
async function storesOf({ store, cluster, environment }: TenantsOptions): Promise<TenantStores | undefined> {
  if (store === undefined) return undefined;
  const { tenantStores, requireClosedBus } = await import('./tenant-store.js');
  if (cluster) requireClosedBus(cluster.nats);
  return tenantStores(store, environment);
}

/** Tenants whose outbox may lack messages after a kill. Throws UsageError for a mistake in any tenant's webhooks. */
async function owingTenants(
  { tenantNames }: Authenticator,
  webhooks: TenantWebhooks,
): Promise<readonly string[]> {
  const owing: string[] = [];
  for (const tenant of tenantNames.filter((name) => name !== defaultTenant)) {
    await webhooks.endpoints(tenant);
    if (await webhooks.owes(tenant)) owing.push(tenant);
  }
  return owing;
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

async function requireBwrap(environment: Environment): Promise<Bwrap> {
  const found = await findBwrap(environment);
  if (!('problem' in found)) return found;
  throw new UsageError(
    `--auth: each tenant's runtime runs in a sandbox, so that it reads no file of another, and there is none: ${found.problem}. --tenants-share-files does without it.`,
  );
}
