export { BackupRefused, backupStore } from './backup.js';
export { inspectStore } from './inspect.js';
export { countRuntimes, tidyFiles } from './inspect-files.js';
export { recoverStore } from './recover.js';
export { finishDeletions, finishRecovered, rewriteStore, sessionIds } from './tidy-store.js';
