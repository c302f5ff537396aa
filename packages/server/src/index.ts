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
export { Server } from './server.js';
