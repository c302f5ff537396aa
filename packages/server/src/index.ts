export { Server } from './server.js';
export type { ServerSurroundings } from './surroundings.js';
