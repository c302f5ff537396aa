import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import type { Outlet } from './outlets.js';
import type { OutputBuffer } from './output-buffer.js';

/** What a command is started with. */
export interface ShellStart {
  readonly shellId: string;
  readonly command: string;
  readonly mode: 'sync' | 'async';
  /** Outlives its session and the runtime. */
  readonly isDetached: boolean;
  readonly program: string;
  readonly parameters: readonly string[];
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly output: OutputBuffer;
  readonly outlet: Outlet;
  /** By which all that it starts is known, unless it is detached. */
  readonly mark: string;
}

/** One command that runs, or ran, in a process session of its own. */
export class Shell {
  readonly startedAt = performance.now();
  /** Resolves when its first process has ended and all that it wrote is in the buffer; never rejects. */
  readonly ended: Promise<void>;
  exitCode: number | undefined;
  /** A signal ended it. */
  wasKilled = false;
  /** Why it could not be started. */
  failure: Error | undefined;
  /** The model waits for its end: it need not be told. */
  isAwaited = false;
  /** Output before this place has been shown to the model. */
  shown = 0;
  private readonly child: ChildProcess;
  private readonly listeners = new Set<() => void>();

  constructor(readonly start: ShellStart) {
    this.child = spawnWith(start);
    start.outlet.listen((chunk) => this.hear(chunk));
    this.ended = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => {
        this.wasKilled = signal !== null;
        resolve(this.end(code ?? codeOf(signal)));
      });
      this.child.once('error', (error) => resolve(this.fail(error)));
    });
    if (start.isDetached) this.child.unref();
  }

  get shellId(): string {
    return this.start.shellId;
  }

  get output(): OutputBuffer {
    return this.start.output;
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get isRunning(): boolean {
    return this.exitCode === undefined && this.failure === undefined;
  }

  get hasUnread(): boolean {
    return this.output.size > this.shown;
  }

  /** Hears of new output until it is undone. */
  onOutput(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Takes in what is there and has not been heard of. */
  refresh(): void {
    if (!this.isRunning) return;
    for (const chunk of this.start.outlet.pull()) this.hear(chunk);
  }

  /** Nobody reads its output any more. */
  close(): void {
    this.start.outlet.close();
  }

  private hear(chunk: Buffer): void {
    if (!this.isRunning) return;
    this.output.append(chunk);
    for (const listener of this.listeners) listener();
  }

  /** What its first process wrote is there by now; what others may still write is read and not kept. */
  private end(exitCode: number): void {
    this.refresh();
    this.exitCode = exitCode;
    this.output.close();
    this.start.outlet.settle();
  }

  private fail(error: Error): void {
    const { workingDirectory } = this.start;
    const isThere = statSync(workingDirectory, { throwIfNoEntry: false })?.isDirectory();
    this.failure = isThere ? error : new Error(`The working directory does not exist: ${workingDirectory}`);
    this.output.close();
    this.close();
  }
}

function spawnWith(start: ShellStart): ChildProcess {
  const { descriptor } = start.outlet;
  try {
    return spawn(start.program, [...start.parameters], {
      cwd: start.workingDirectory,
      detached: true,
      env: { ...start.environment, PWD: start.workingDirectory },
      stdio: ['ignore', descriptor, descriptor],
    });
  } finally {
    closeSync(descriptor);
  }
}

/** As shells say it: 128 and the number of the signal. */
function codeOf(signal: NodeJS.Signals | null): number {
  return 128 + (signal === null ? 0 : constants.signals[signal]);
}
