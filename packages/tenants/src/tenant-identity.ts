import type { Role } from '@groundcrew/protocol';

/** A client that has shown who it is. */
export interface TenantIdentity {
  readonly tenant: string;
  readonly role: Role;
  /** The name of its token, or the subject of its JSON Web Token. */
  readonly subject: string;
  /** What distinguishes its credential from others; no secret. */
  readonly key: string;
  /** When its credential expires, in milliseconds since 1970. */
  readonly expiresAt?: number;
}
