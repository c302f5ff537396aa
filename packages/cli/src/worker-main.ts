import { serveJobs } from '@groundcrew/runtime';
import { openDatabase } from '@groundcrew/store-sqlite';

serveJobs({
  openDatabase,
  // Loaded when it is first asked for.
  offlineReply: async (request) => (await import('@groundcrew/offline-model')).offlineReply(request),
});
