import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { WorkerJobName } from './worker-jobs.js';

export interface WorkerTask {
  readonly name: WorkerJobName;
  readonly input: unknown;
}

/** Why a worker did not answer. */
export interface WorkerFailure {
  readonly type: 'time' | 'memory' | 'aborted' | 'ended';
  readonly message: string;
}

/** What a worker answers: what the job made, or why it refused. */
export type WorkerAnswer =
  | { readonly type: 'done'; readonly output: unknown }
  | { readonly type: 'failed'; readonly message: string };

/** One child that does one job at a time. It ends with us, also when we are killed while it works. */
export class WorkerProcess {
  /** Resolves when the process is gone. */
  readonly ended: Promise<NodeJS.Signals | null>;
  isAlive = true;
  readonly #child: ChildProcess;
  #startError: Error | undefined;

  /** @param entry the program of the process, which calls `serveJobs`; TypeScript is read as such. */
  constructor(entry: string) {
    this.#child = spawn(process.execPath, parametersFor(entry), {
      cwd: dirname(entry),
      // A job needs no environment, and so gets no keys.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
      windowsHide: true,
    });
    this.ended = new Promise((resolve) => {
      const end = (signal: NodeJS.Signals | null) => {
        this.isAlive = false;
        resolve(signal);
      };
      this.#child.once('exit', (_, signal) => end(signal));
      this.#child.on('error', (error) => {
        this.#startError = error;
        if (this.#child.pid === undefined) end(null);
      });
    });
    this.#waitForJob();
  }

  /** Resolves with the answer, or, when the process was ended at a limit, with why. */
  run(task: WorkerTask, milliseconds: number, signal?: AbortSignal): Promise<WorkerAnswer | WorkerFailure> {
    this.#child.ref();
    this.#child.channel?.ref();
    return new Promise((resolve) => {
      let stopped: WorkerFailure | undefined;
      const stop = (reason: WorkerFailure) => {
        stopped ??= reason;
        void this.kill();
      };
      const abort = () => stop({ type: 'aborted', message: 'the work was aborted' });
      const timer = setTimeout(() => stop({ type: 'time', message: tooLong(milliseconds) }), milliseconds);
      const settle = (outcome: WorkerAnswer | WorkerFailure) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#child.off('message', answered);
        this.#waitForJob();
        resolve(stopped ?? outcome);
      };
      const answered = (answer: unknown) => settle(answer as WorkerAnswer); // our own program is at the other end
      this.#child.once('message', answered);
      signal?.addEventListener('abort', abort, { once: true });
      void this.ended.then((reason) => settle(this.#failureOf(reason)));
      if (this.isAlive) this.#child.send(task, () => undefined); // what cannot be sent, `ended` reports
    });
  }

  /** Resolves when the process is gone. */
  async kill(): Promise<void> {
    if (this.isAlive) this.#child.kill('SIGKILL');
    await this.ended;
  }

  #failureOf(signal: NodeJS.Signals | null): WorkerFailure {
    if (signal === memorySignal)
      return { type: 'memory', message: `it took more than ${workerMegabytes} MB of memory and was stopped` };
    const why = this.#startError ? ` (${this.#startError.message})` : '';
    return { type: 'ended', message: `the process that did the work ended${why}; try again` };
  }

  /** An idle worker keeps no program from ending. */
  #waitForJob(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }
}

/** What a worker's process may take in all. */
export const workerMegabytes = 384;

/** What a worker ends itself with that has taken too much memory. */
export const memorySignal = 'SIGUSR2';

function tooLong(milliseconds: number): string {
  return `it took longer than ${Math.round(milliseconds / 100) / 10} s and was stopped`;
}

function parametersFor(entry: string): readonly string[] {
  const bounded = [`--max-old-space-size=${workerMegabytes / 2}`, '--no-warnings'];
  if (!entry.endsWith('.ts')) return [...bounded, entry];
  const loader = pathToFileURL(createRequire(entry).resolve('tsx')).href;
  return [...bounded, '--import', loader, entry];
}
