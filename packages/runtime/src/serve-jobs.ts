import { Worker } from 'node:worker_threads';
import type { OpenDatabase, RunSearchStep } from '@groundcrew/store';
import type { WorkerJobName, WorkerJobs } from './exec/worker-jobs.js';
import { memorySignal, type WorkerAnswer, type WorkerTask, workerMegabytes } from './exec/worker-process.js';

/** What jobs need that the engine does not know itself. */
export interface JobPorts {
  readonly openDatabase: OpenDatabase;
  readonly searchStep: RunSearchStep;
  /** What the offline model says to a request that its provider has sent here. */
  offlineReply(request: unknown): Promise<unknown>;
}

type Jobs = {
  readonly [N in WorkerJobName]: (
    input: WorkerJobs[N]['input'],
  ) => WorkerJobs[N]['output'] | Promise<WorkerJobs[N]['output']>;
};

/** Makes this process a worker: it does the jobs that its parent sends, and ends with it. */
export function serveJobs(ports: JobPorts): void {
  const jobs = jobsWith(ports);
  process.on('message', (task: WorkerTask) => {
    void answer(task, jobs).then((outcome) => process.send?.(outcome));
  });
  // The process that started us is gone.
  process.on('disconnect', () => process.exit());
  // A terminal sends it to every process in the foreground; the one that started us decides.
  process.on('SIGINT', () => undefined);
  watchOver();
}

/** What each job loads, it loads when it is first asked for. */
function jobsWith({ openDatabase, searchStep, offlineReply }: JobPorts): Jobs {
  return {
    sql: async (input) => (await import('./tools/sql-script.js')).runScript(input, openDatabase),
    markdown: async ({ html }) => (await import('./tools/html-text.js')).markdownOf(html),
    todos: async ({ sessionDirectory }) =>
      (await import('./workspace/todos.js')).readTodos(sessionDirectory, openDatabase),
    glob: async (search) => (await import('./workspace/glob-pattern.js')).matchingNames(search),
    fit: async ({ value, schema }) => {
      const misfit = (await import('./turn/output-schema.js')).misfitOf(value, schema);
      return misfit === undefined ? {} : { misfit };
    },
    search: async (request) => searchStep(request, (await import('./log/search-text.js')).searchText),
    offline: offlineReply,
  };
}

async function answer({ name, input }: WorkerTask, jobs: Jobs): Promise<WorkerAnswer> {
  try {
    const job = jobs[name] as (input: unknown) => unknown; // the table pairs name and input
    return { type: 'done', output: await job(input) };
  } catch (error) {
    return { type: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

/** While SQLite works, no event arrives here: a thread beside it sees when our parent is gone or too much memory is taken. */
function watchOver(): void {
  const script = `
    setInterval(() => {
      if (process.ppid !== ${process.ppid}) process.kill(process.pid, 'SIGKILL');
      if (process.memoryUsage.rss() > ${workerMegabytes * 1024 * 1024}) process.kill(process.pid, '${memorySignal}');
    }, 25);`;
  new Worker(script, { eval: true, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 16 } }).unref();
}
