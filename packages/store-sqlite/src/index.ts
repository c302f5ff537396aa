export { type BackupOptions, BackupRefused, backupStore } from './doctor/backup.js';
export {
  type Finding,
  type FindingType,
  type Inspection,
  isProblem,
  type StoreContents,
  type StorePlace,
} from './doctor/finding.js';
export { inspectStore } from './doctor/inspect.js';
export { countRuntimes, tidyFiles } from './doctor/inspect-files.js';
export { type RecoverOptions, type Recovery, recoverStore } from './doctor/recover.js';
export {
  finishDeletions,
  finishRecovered,
  rewriteStore,
  sessionIds,
} from './doctor/tidy-store.js';
export { openDatabase } from './driver.js';
export { withFileLock } from './file-lock.js';
export { type IdleStore, idleStore } from './idle-store.js';
export { keptStores } from './kept-stores.js';
export { StoreSearcher } from './search-elsewhere.js';
/** The outbox of webhooks, which few runtimes have. */
export const loadOutbox = () => import('./outbox.js');
export {
  openSqliteStore,
  type SqliteStore,
  type SqliteStoreOptions,
  type SqliteStoreStats,
} from './store.js';
