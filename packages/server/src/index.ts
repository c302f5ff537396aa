export type { Accounts, KnownUser, McpConfig, ServerEnvironment, UserSettings } from './environment.js';
export type { ExtensionHost, FoundExtension, RunningExtension } from './extensions.js';
export { Server } from './server.js';
