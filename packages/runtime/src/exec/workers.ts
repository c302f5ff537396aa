import type { WorkerJobName, WorkerJobs } from './worker-jobs.js';
import { type WorkerFailure, WorkerProcess } from './worker-process.js';

/** What a job may take. */
export interface JobLimits {
  /** Counted from the moment a worker takes it up. */
  readonly milliseconds: number;
}

/** Runs named jobs outside the main thread, each with limits. */
export interface JobRunner {
  /** Rejects with JobStopped at a limit, with the signal's reason when aborted; the job has ended by then, whatever it did. */
  run<N extends WorkerJobName>(
    name: N,
    input: WorkerJobs[N]['input'],
    limits: JobLimits,
    signal?: AbortSignal,
  ): Promise<WorkerJobs[N]['output']>;
}

/** A job that did not come to its own end. */
export class JobStopped extends Error {
  override readonly name = 'JobStopped';

  constructor(
    readonly reason: WorkerFailure['type'],
    message: string,
  ) {
    super(message);
  }
}

export interface WorkersOptions {
  /** The program of the processes, which calls `serveJobs`. */
  readonly entry: string;
  /** How many processes there may be at once; 4 unless given. */
  readonly most?: number;
  /** How long an idle process is kept; 10 s unless given. */
  readonly idleMilliseconds?: number;
}

/**
 * Worker processes: started when first needed, used again, ended when idle. They are no threads: only the end
 * of a process stops SQLite in the middle of a statement. Their memory is not ours, either.
 */
export class Workers implements JobRunner {
  readonly #entry: string;
  readonly #most: number;
  readonly #idleMilliseconds: number;
  readonly #all = new Set<WorkerProcess>();
  readonly #idle: { readonly worker: WorkerProcess; readonly timer: NodeJS.Timeout }[] = [];
  /** The kind of job of each worker that is in use or about to be. */
  readonly #running: WorkerJobName[] = [];
  readonly #waiting: { readonly name: WorkerJobName; go(): void }[] = [];
  #isClosed = false;

  constructor({ entry, most = 4, idleMilliseconds = 10_000 }: WorkersOptions) {
    this.#entry = entry;
    this.#most = most;
    this.#idleMilliseconds = idleMilliseconds;
  }

  async run<N extends WorkerJobName>(
    name: N,
    input: WorkerJobs[N]['input'],
    limits: JobLimits,
    signal?: AbortSignal,
  ): Promise<WorkerJobs[N]['output']> {
    signal?.throwIfAborted();
    await this.#turn(name, signal);
    let worker: WorkerProcess | undefined;
    try {
      worker = this.#take();
      const outcome = await worker.run({ name, input }, limits.milliseconds, signal);
      if (outcome.type === 'done') return outcome.output as WorkerJobs[N]['output']; // the table pairs name and output
      if (outcome.type === 'failed') throw new Error(outcome.message);
      signal?.throwIfAborted();
      throw new JobStopped(outcome.type, outcome.message);
    } finally {
      this.#running.splice(this.#running.indexOf(name), 1);
      this.#give(worker);
    }
  }

  /** Ends every process; jobs that run are stopped. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer);
    for (const { name, go } of this.#waiting.splice(0)) {
      this.#running.push(name);
      go();
    }
    await Promise.all([...this.#all].map((worker) => worker.kill()));
  }

  /** Resolves when a worker is free. One kind of job never takes the last one: the others go on. */
  #turn(name: WorkerJobName, signal: AbortSignal | undefined): Promise<void> {
    if (this.#start(name)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const entry = {
        name,
        go: () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        },
      };
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push(entry);
    });
  }

  #start(name: WorkerJobName): boolean {
    const alike = this.#running.filter((running) => running === name).length;
    const mayRun = this.#running.length < this.#most && alike < Math.max(1, this.#most - 1);
    if (mayRun) this.#running.push(name);
    return mayRun;
  }

  #take(): WorkerProcess {
    if (this.#isClosed) throw new Error('the runtime is closing');
    const idle = this.#idle.pop();
    clearTimeout(idle?.timer);
    if (idle?.worker.isAlive) return idle.worker;
    const worker = new WorkerProcess(this.#entry);
    this.#all.add(worker);
    void worker.ended.then(() => this.#all.delete(worker));
    return worker;
  }

  #give(worker: WorkerProcess | undefined): void {
    if (worker?.isAlive && !this.#isClosed) {
      const timer = setTimeout(() => this.#end(worker), this.#idleMilliseconds).unref();
      this.#idle.push({ worker, timer });
    }
    const next = this.#waiting.findIndex(({ name }) => this.#start(name));
    if (next !== -1) this.#waiting.splice(next, 1)[0]?.go();
  }

  #end(worker: WorkerProcess): void {
    const at = this.#idle.findIndex((one) => one.worker === worker);
    if (at !== -1) this.#idle.splice(at, 1);
    void worker.kill();
  }
}
