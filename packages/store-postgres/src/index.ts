export { BadAddress, readAddresses, withSchema } from './address.js';
export { inspectServers, type ServerFinding, type ServerInspection } from './doctor.js';
export type { SessionFiles } from './removed-sessions.js';
export {
  openPostgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
  type PostgresStoreStats,
} from './store.js';
