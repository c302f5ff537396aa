import { serveJobs } from '@groundcrew/runtime';
import { openDatabase, StoreSearcher } from '@groundcrew/store-sqlite';

const searcher = new StoreSearcher();

serveJobs({
  openDatabase,
  searchStep: (request, textOf) => searcher.step(request, textOf),
  // Loaded when it is first asked for.
  offlineReply: async (request) => (await import('@groundcrew/offline-model')).offlineReply(request),
});
