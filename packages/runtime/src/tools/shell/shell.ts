import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, readSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import type { OutputBuffer } from './output-buffer.js';
import type { Pipe } from './pipes.js';
import type { ProcessSessions } from './process-sessions.js';

/** What a command is started with. */
export interface ShellStart {
  readonly shellId: string;
  readonly command: string;
  readonly mode: 'sync' | 'async';
  readonly program: string;
  readonly parameters: readonly string[];
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly output: OutputBuffer;
}

/** One command that runs, or ran, in a process session of its own. */
export class Shell {
  readonly startedAt = performance.now();
  /** Resolves when its first process has ended and all that it wrote is in the buffer; never rejects. */
  readonly ended: Promise<void>;
  exitCode: number | undefined;
  /** Why it could not be started. */
  failure: Error | undefined;
  /** Output before this place has been shown to the model. */
  shown = 0;
  private readonly child: ChildProcess;
  private readonly reader: Socket;
  private readonly listeners = new Set<() => void>();

  constructor(
    readonly start: ShellStart,
    pipe: Pipe,
    private readonly sessions: ProcessSessions,
  ) {
    this.child = spawnWith(start, pipe);
    if (this.child.pid !== undefined) sessions.add(this.child.pid);
    this.reader = new Socket({ fd: pipe.readEnd, readable: true, writable: false });
    this.reader.on('data', (chunk: Buffer) => this.hear(chunk));
    // Reading a pipe does not fail; if it ever does, the output ends there.
    this.reader.on('error', () => this.reader.destroy());
    this.ended = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => resolve(this.end(code ?? codeOf(signal), pipe.readEnd)));
      this.child.once('error', (error) => resolve(this.fail(error)));
    });
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

  /** Hears of new output until it is undone. */
  onOutput(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Ends it with all that it has started. */
  async stop(): Promise<void> {
    const { pid } = this;
    if (pid === undefined) return;
    await this.sessions.end([pid]);
    this.reader.destroy();
    await this.ended;
  }

  private hear(chunk: Buffer): void {
    if (!this.isRunning) return;
    this.output.append(chunk);
    for (const listener of this.listeners) listener();
  }

  /** What its first process wrote is in the pipe by now; what others may still write to it is read and not kept. */
  private end(exitCode: number, readEnd: number): void {
    if (!this.reader.destroyed) for (const chunk of waitingIn(readEnd)) this.hear(chunk);
    this.exitCode = exitCode;
    this.output.close();
    this.reader.unref();
    if (this.pid !== undefined) this.sessions.leaderEnded(this.pid);
  }

  private fail(error: Error): void {
    const { workingDirectory } = this.start;
    const isThere = statSync(workingDirectory, { throwIfNoEntry: false })?.isDirectory();
    this.failure = isThere ? error : new Error(`The working directory does not exist: ${workingDirectory}`);
    this.output.close();
    this.reader.destroy();
  }
}

function spawnWith(start: ShellStart, { writeEnd }: Pipe): ChildProcess {
  try {
    return spawn(start.program, [...start.parameters], {
      cwd: start.workingDirectory,
      detached: true,
      env: { ...start.environment, PWD: start.workingDirectory },
      stdio: ['ignore', writeEnd, writeEnd],
    });
  } finally {
    closeSync(writeEnd);
  }
}

/** A pipe holds so much at most on any system; more can only come from processes that go on writing. */
const largestPipe = 1024 * 1024;

function* waitingIn(readEnd: number): Iterable<Buffer> {
  for (let total = 0; total < largestPipe; ) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const size = readNow(readEnd, chunk);
    if (size === 0) return;
    total += size;
    yield chunk.subarray(0, size);
  }
}

/** Bytes that are there at this moment; none at the end, too. */
function readNow(readEnd: number, chunk: Buffer): number {
  try {
    return readSync(readEnd, chunk);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return 0;
    throw error;
  }
}

/** As shells say it: 128 and the number of the signal. */
function codeOf(signal: NodeJS.Signals | null): number {
  return 128 + (signal === null ? 0 : constants.signals[signal]);
}
