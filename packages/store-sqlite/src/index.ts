export {
  type Finding,
  type FindingType,
  type Inspection,
  isProblem,
  type StoreContents,
  type StorePlace,
} from './doctor/finding.js';
export type { Recovery } from './doctor/recover.js';
export { openDatabase } from './driver.js';
export { withFileLock } from './file-lock.js';
export { type IdleStore, idleStore } from './idle-store.js';
export { recoveryCopies } from './recovery-copies.js';
export { StoreSearcher } from './search-elsewhere.js';
/** What inspects, backs up and recovers a store: few processes do. */
export const loadDoctor = () => import('./doctor/doctor.js');
/** The outbox of webhooks, which few runtimes have. */
export const loadOutbox = () => import('./outbox.js');
export {
  openSqliteStore,
  type SqliteStore,
  type SqliteStoreOptions,
  type SqliteStoreStats,
} from './store.js';
