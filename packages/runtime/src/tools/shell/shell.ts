import { closeSync, statSync } from 'node:fs';
import type { Child, Executor, ExitStatus } from '../../exec/executor.js';
import type { OutputBuffer } from './output-buffer.js';
import type { OutputCapture } from './output-capture.js';

/** What a command is started with. */
export interface ShellStart {
  readonly shellId: string;
  readonly command: string;
  /** What it is for, in a few words for users. */
  readonly description?: string;
  readonly mode: 'sync' | 'async';
  /** Outlives its session and the runtime. */
  readonly isDetached: boolean;
  readonly program: string;
  readonly parameters: readonly string[];
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly output: OutputBuffer;
  readonly capture: OutputCapture;
  /** By which all that it starts is known, unless it is detached. */
  readonly mark: string;
  /** What starts it. */
  readonly executor: Executor;
}

/** One command that runs, or ran, in a process session of its own. */
export class Shell {
  readonly startedAt = performance.now();
  /** The same as a date. */
  readonly startedOn = new Date();
  /** When it ended. */
  endedOn: Date | undefined;
  /** Resolves when its first process has ended and all that it wrote is in the buffer; never rejects. */
  readonly ended: Promise<void>;
  exitCode: number | undefined;
  /** A signal ended it. */
  wasKilled = false;
  /** Why it could not be started. */
  failure: Error | undefined;
  /** The model waits for its end: no notice is needed. */
  isAwaited = false;
  /** Output before this place has been shown to the model. */
  shown = 0;
  private readonly child: Child;
  private readonly listeners = new Set<() => void>();

  constructor(readonly start: ShellStart) {
    this.child = childOf(start);
    start.capture.listen((chunk) => this.receive(chunk));
    this.ended = this.child.ended.then((exit) => this.end(exit));
    if (start.isDetached) this.child.process.unref();
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

  /** It runs in a sandbox. */
  get isConfined(): boolean {
    return this.start.executor.kind !== 'host';
  }

  get isRunning(): boolean {
    return this.exitCode === undefined && this.failure === undefined;
  }

  get hasUnread(): boolean {
    return this.output.size > this.shown;
  }

  /** Learns of new output until it is undone. */
  onOutput(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Takes in output that has not been reported. */
  refresh(): void {
    if (!this.isRunning) return;
    for (const chunk of this.start.capture.pull()) this.receive(chunk);
  }

  /** Its output is read no more. */
  close(): void {
    this.start.capture.close();
  }

  private receive(chunk: Buffer): void {
    if (!this.isRunning) return;
    this.output.append(chunk);
    for (const listener of this.listeners) listener();
  }

  /** What its first process wrote is there by now; what others may still write is read and not kept. */
  private end(exit: ExitStatus): void {
    this.refresh();
    this.endedOn = new Date();
    if (exit.type === 'failed') {
      this.fail(exit.error);
      return;
    }
    this.wasKilled = exit.signal !== undefined;
    this.exitCode = exit.exitCode;
    this.output.close();
    this.start.capture.settle();
  }

  private fail(error: Error): void {
    const { workingDirectory } = this.start;
    const isThere = statSync(workingDirectory, { throwIfNoEntry: false })?.isDirectory();
    const outputStart = this.isConfined ? this.output.beginning().trim() : '';
    const reason = outputStart === '' ? error : new Error(`${error.message}: ${outputStart}`);
    this.failure = isThere ? reason : new Error(`The working directory does not exist: ${workingDirectory}`);
    this.output.close();
    this.close();
  }
}

function childOf(start: ShellStart): Child {
  const { program, parameters, workingDirectory, environment, executor } = start;
  const { descriptor } = start.capture;
  const stdio = ['ignore', descriptor, descriptor] as const;
  try {
    return executor.start({ program, parameters, workingDirectory, environment, stdio });
  } finally {
    closeSync(descriptor);
  }
}
