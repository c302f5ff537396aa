export { type AuditLine, AuditLog } from './audit-log.js';
export { changeAuthFile, newToken, readAuthFile, tokenEntry } from './auth-file.js';
export {
  AuthFault,
  isTenantName,
  type Quotas,
  type TenantSettings,
} from './auth-settings.js';
export { Authenticator, type TokenChange } from './authenticator.js';
export type { TenantIdentity } from './tenant-identity.js';
export { type DayUse, UsageLedger } from './usage-ledger.js';
