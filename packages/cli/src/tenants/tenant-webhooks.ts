import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { NoticeOutbox, OutboxMessage } from '@groundcrew/store';
import type { TenantSettings } from '@groundcrew/tenants';
import type { EndpointOptions, Following } from '@groundcrew/webhooks';
import { deliveriesOf, endpointsOf, woken } from '../config/webhooks.js';
import type { FromTenant, ToTenant } from './tenant-messages.js';

/** What the webhooks of all tenants need. */
export interface TenantWebhooksOptions {
  /** The directory of a tenant's directories; nothing of it is in the tenant's box but those. */
  directoryOf(tenant: string): string;
  settingsOf(tenant: string): TenantSettings;
  /** The PostgreSQL with the sessions of a tenant: its outbox is there too, and any node sends its messages. */
  storeOf?(tenant: string): string;
  readonly version: string;
  warn(tenant: string, message: string): void;
}

interface TenantOutbox {
  readonly settings: string;
  readonly outbox: Following;
  readonly endpoints: readonly EndpointOptions[];
  close(): Promise<void>;
}

/** Signs and sends the webhooks of all tenants. Secrets and outboxes are here, out of reach of tenants' commands. */
export class TenantWebhooks {
  private readonly open = new Map<string, TenantOutbox>();

  constructor(private readonly options: TenantWebhooksOptions) {}

  /** The addresses of a tenant's webhooks, by the settings as they are now. Throws UsageError. */
  async endpoints(tenant: string): Promise<readonly EndpointOptions[]> {
    return (await this.of(tenant))?.endpoints ?? [];
  }

  /** Whether sessions of a tenant were open when the server was killed: their messages may be missing. */
  async owes(tenant: string): Promise<boolean> {
    if (!this.options.storeOf && !existsSync(this.fileOf(tenant))) return false;
    const { outbox } = (await this.of(tenant)) ?? {};
    return outbox !== undefined && (await outbox.followed()).length > 0;
  }

  /** Answers a call of a tenant's runtime. */
  async answer(
    tenant: string,
    { call, method, values }: Extract<FromTenant, { kind: 'keep' }>,
  ): Promise<Extract<ToTenant, { kind: 'kept' }>> {
    try {
      const { outbox, endpoints } = this.open.get(tenant) ?? {};
      if (!outbox || !endpoints) throw new Error('this tenant has no webhooks');
      if (!Object.hasOwn(outbox, method)) throw new Error('there is no such call');
      if (method === 'put') requireOwn(values[1], { tenant, endpoints });
      const work = outbox[method] as (...all: readonly unknown[]) => Promise<unknown>;
      return { kind: 'kept', call, value: await work(...values) };
    } catch (error) {
      return { kind: 'kept', call, failure: (error as Error).message };
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.open.values()].map((each) => each.close()));
    this.open.clear();
  }

  private async of(tenant: string): Promise<TenantOutbox | undefined> {
    const { webhooks = [] } = this.options.settingsOf(tenant);
    const settings = JSON.stringify(webhooks);
    const known = this.open.get(tenant);
    if (known?.settings === settings) return known;
    this.open.delete(tenant);
    await known?.close();
    if (webhooks.length === 0) return undefined;
    const endpoints = await endpointsOf({ webhooks });
    const opener = await deliveriesOf(endpoints, `tenant ${tenant}`);
    const { version, warn, storeOf } = this.options;
    const { outbox, deliveries } = opener({
      outbox: storeOf ? await outboxIn(storeOf(tenant)) : this.fileOf(tenant),
      version,
      warn: (message) => warn(tenant, message),
    });
    deliveries.start();
    const made: TenantOutbox = {
      settings,
      endpoints: endpoints.map(({ url, events, waitingOn }) => ({ url, events, waitingOn })),
      outbox: woken(outbox, deliveries),
      close: () => deliveries.close(),
    };
    this.open.set(tenant, made);
    return made;
  }

  private fileOf(tenant: string): string {
    return join(this.options.directoryOf(tenant), 'webhooks.db');
  }
}

const longestBody = 16_384;

/**
 * A message is signed only where it names the tenant that it came from, and one of that tenant's addresses: a manipulated
 * runtime cannot send for others.
 */
function requireOwn(
  messages: unknown,
  { tenant, endpoints }: { readonly tenant: string; readonly endpoints: readonly EndpointOptions[] },
): void {
  const addresses = new Set(endpoints.map(({ url }) => new URL(url).href));
  const isOwn = ({ endpoint, body }: OutboxMessage) =>
    addresses.has(endpoint) && body.length <= longestBody && tenantIn(body) === tenant;
  if (!(messages as readonly OutboxMessage[]).every(isOwn))
    throw new Error('a message is not one of this tenant');
}

function tenantIn(body: string): unknown {
  return (JSON.parse(body) as { readonly data?: { readonly tenant?: unknown } }).data?.tenant;
}

/** An outbox in PostgreSQL with a connection of its own, which is closed when it is not used. */
async function outboxIn(url: string): Promise<NoticeOutbox> {
  const { openPostgresStore } = await import('@groundcrew/store-postgres');
  const store = openPostgresStore({ url, connections: { writers: 1, readers: 1 } });
  return { ...store.outbox, close: () => store.close() };
}
