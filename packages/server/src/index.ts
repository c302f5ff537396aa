export {
  type Access,
  type AdmittedRequest,
  type AuditEntry,
  defaultTenant,
  type Identity,
} from './access.js';
export type {
  Accounts,
  InstalledPlugin,
  KnownUser,
  McpConfig,
  Plugins,
  ServerEnvironment,
  UserSettings,
} from './environment.js';
export { type EventStreamParts, eventStream } from './event-stream.js';
export type { ExtensionHost, FoundExtension, RunningExtension } from './extensions.js';
export { QuotaExceeded } from './failure.js';
export { PeerAuthentication, type PeerAuthenticationOptions } from './peer-authentication.js';
export {
  type RoutedClient,
  type RoutedRequest,
  type Routes,
  type Routing,
  sessionMoved,
} from './routing.js';
export { Server } from './server.js';
export { lackText, nodeWait } from './session-metadata.js';
