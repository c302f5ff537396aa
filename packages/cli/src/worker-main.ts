import { serveJobs } from '@groundcrew/runtime';

// What a job needs, it loads when it is first asked for.
serveJobs({
  openDatabase: async () => (await import('@groundcrew/store-sqlite')).openDatabase,
  offlineReply: async (request) => (await import('@groundcrew/offline-model')).offlineReply(request),
});
