export type { ServerEnvironment } from './environment.js';
export { Server } from './server.js';
