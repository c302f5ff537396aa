export { BadAddress, readAddresses, withSchema } from './address.js';
export { inspectServers, type ServerFinding, type ServerInspection } from './doctor.js';
export {
  openPostgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
  type PostgresStoreStats,
} from './store.js';
