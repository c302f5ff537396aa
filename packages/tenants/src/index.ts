export { type AuditLine, AuditLog } from './audit-log.js';
export { changeAuthFile, newToken, readAuthFile, tokenEntry } from './auth-file.js';
export {
  AuthFault,
  isTenantName,
  type TenantSettings,
} from './auth-settings.js';
export { Authenticator, type TokenChange } from './authenticator.js';
export type { Guest } from './guest.js';
