import { Worker } from 'node:worker_threads';
import type { WorkerJobName, WorkerJobs } from './exec/worker-jobs.js';
import { memorySignal, type WorkerAnswer, type WorkerTask, workerMegabytes } from './exec/worker-process.js';

type Jobs = {
  readonly [N in WorkerJobName]: (
    input: WorkerJobs[N]['input'],
  ) => WorkerJobs[N]['output'] | Promise<WorkerJobs[N]['output']>;
};

/** What each job loads, it loads when it is first asked for. */
const jobs: Jobs = {
  sql: async (input) => (await import('./tools/sql-script.js')).runScript(input),
  markdown: async ({ html }) => (await import('./tools/html-text.js')).markdownOf(html),
  todos: async ({ sessionDirectory }) => (await import('./workspace/todos.js')).readTodos(sessionDirectory),
  glob: async (search) => (await import('./workspace/glob-pattern.js')).matchingNames(search),
  offline: async (request) => (await import('@groundcrew/models')).offlineReply(request),
};

process.on('message', (task: WorkerTask) => {
  void answer(task).then((outcome) => process.send?.(outcome));
});
// Whoever started us is gone.
process.on('disconnect', () => process.exit());
// A terminal sends it to every process in the foreground; the one that started us decides.
process.on('SIGINT', () => undefined);
watchOver();

async function answer({ name, input }: WorkerTask): Promise<WorkerAnswer> {
  try {
    const job = jobs[name] as (input: unknown) => unknown; // the table pairs name and input
    return { type: 'done', output: await job(input) };
  } catch (error) {
    return { type: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

/** While SQLite works, no event is heard here: a thread beside it sees when our parent is gone or too much memory is taken. */
function watchOver(): void {
  const script = `
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
      if (process.memoryUsage.rss() > ${workerMegabytes * 1024 * 1024}) process.kill(process.pid, '${memorySignal}');
    }, 25);`;
  new Worker(script, { eval: true, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 16 } }).unref();
}
