export type { Accounts, KnownUser, McpConfig, ServerEnvironment, UserSettings } from './environment.js';
export { Server } from './server.js';
