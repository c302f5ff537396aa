import type { Environment, KeyHold } from '@groundcrew/models';
import type { SandboxSettings } from '@groundcrew/runtime';
import type { AuditEntry, Identity } from '@groundcrew/server';
import type { DayUse, TenantSettings } from '@groundcrew/tenants';
import type { EndpointOptions, Following } from '@groundcrew/webhooks';
import type { ClusterChoice } from '../config/cluster-choice.js';

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
  /** Which webhooks its sessions cause; the door has their secrets, and sends them. */
  readonly webhooks: readonly EndpointOptions[];
  /** What it has used of its quotas of the day. */
  readonly used: DayUse;
  readonly sessionIdleSeconds: number;
  /** The PostgreSQL that has its sessions, by an address with a schema of its own; default: a file of its home. */
  readonly store?: string;
  /** It is one of several nodes of this tenant. */
  readonly cluster?: ClusterChoice;
  readonly gitHubToken?: string;
  readonly protocol?: 1 | 2 | 3;
  readonly sandbox?: SandboxSettings;
}

/** What the door sends to the runtime of a tenant. */
export type ToTenant =
  | TenantStart
  | { readonly kind: 'settings'; readonly settings: TenantSettings }
  /** The answer to a call of the outbox. */
  | { readonly kind: 'kept'; readonly call: number; readonly value?: unknown; readonly failure?: string }
  /** A model service has refused another process: calls with this key wait. */
  | { readonly kind: 'held'; readonly held: KeyHold }
  /** Hands its sessions over to other nodes, within so many milliseconds; it answers `drained`. */
  | { readonly kind: 'drain'; readonly milliseconds: number }
  /** Ends it, unless it has clients or open sessions. */
  | { readonly kind: 'stop-if-idle' }
  | { readonly kind: 'stop' };

/** What the runtime of a tenant sends to the door. */
export type FromTenant =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'warning'; readonly message: string }
  | { readonly kind: 'usage'; readonly use: DayUse }
  | { readonly kind: 'held'; readonly held: KeyHold }
  | { readonly kind: 'drained' }
  /** A model call was refused, because a quota is used up. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** A call of the outbox, which the door keeps where no command of the tenant can change it. */
  | {
      readonly kind: 'keep';
      readonly call: number;
      readonly method: keyof Following;
      readonly values: readonly unknown[];
    }
  | { readonly kind: 'audit'; readonly entry: AuditEntry; readonly identity: Identity };

/** By which the door shows the runtime of a tenant which client a request is of. */
export function passOf(secret: string, { tenant, role, subject }: Identity): string {
  return `${secret}.${Buffer.from(JSON.stringify({ tenant, role, subject })).toString('base64url')}`;
}

/** The path of a socket whose bytes are messages of the protocol. */
export const channelPath = '/channel';
/** What the door calls the runtime of a tenant. */
export const tenantHost = 'tenant';
