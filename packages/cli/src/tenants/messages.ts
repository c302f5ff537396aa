import type { Environment } from '@groundcrew/models';
import type { SandboxSettings } from '@groundcrew/runtime';
import type { AuditEntry, Identity } from '@groundcrew/server';
import type { DayUse, TenantSettings } from '@groundcrew/tenants';
import type { EndpointWishes, Following } from '@groundcrew/webhooks';

/** What the runtime of a tenant is started with. It is sent, and not put into the environment, which its commands could read. */
export interface TenantStart {
  readonly kind: 'start';
  readonly tenant: string;
  /** Opens the socket; the door has it, and nothing else. */
  readonly secret: string;
  /** Where the runtime listens, by the name that it has in its box. */
  readonly socketPath: string;
  readonly homeDirectory: string;
  readonly workingDirectory: string;
  readonly environment: Environment;
  readonly settings: TenantSettings;
  /** What of its sessions is told; the door has the addresses' secrets, and tells. */
  readonly webhooks: readonly EndpointWishes[];
  /** What it has used of its quotas of the day. */
  readonly used: DayUse;
  readonly sessionIdleSeconds: number;
  readonly gitHubToken?: string;
  readonly protocol?: 1 | 2 | 3;
  readonly sandbox?: SandboxSettings;
}

/** What the door says to the runtime of a tenant. */
export type ToTenant =
  | TenantStart
  | { readonly kind: 'settings'; readonly settings: TenantSettings }
  /** The answer to a call of the outbox. */
  | { readonly kind: 'kept'; readonly call: number; readonly value?: unknown; readonly failure?: string }
  /** Ends when nothing is open in it. */
  | { readonly kind: 'rest' }
  | { readonly kind: 'stop' };

/** What the runtime of a tenant says to the door. */
export type FromTenant =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'warning'; readonly message: string }
  | { readonly kind: 'usage'; readonly use: DayUse }
  /** A call of the outbox, which the door keeps where no command of the tenant can change it. */
  | {
      readonly kind: 'keep';
      readonly call: number;
      readonly method: keyof Following;
      readonly values: readonly unknown[];
    }
  | { readonly kind: 'audit'; readonly entry: AuditEntry; readonly identity: Identity };

/** How the door shows the runtime of a tenant whose request it is. */
export function passOf(secret: string, { tenant, role, subject }: Identity): string {
  return `${secret}.${Buffer.from(JSON.stringify({ tenant, role, subject })).toString('base64url')}`;
}

/** The path of a socket whose bytes are messages of the protocol. */
export const channelPath = '/channel';
/** What the door calls the runtime of a tenant. */
export const tenantHost = 'tenant';
