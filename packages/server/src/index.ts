export type { McpConfig, ServerEnvironment } from './environment.js';
export { Server } from './server.js';
