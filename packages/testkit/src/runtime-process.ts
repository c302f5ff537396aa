import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Channel, connectTcp, stdioChannel } from '@groundcrew/rpc';

/** How a runtime is started; everything else of the environment is left out. */
export interface RuntimeProcessOptions {
  readonly flags: readonly string[];
  readonly home: string;
  readonly workingDirectory?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Another program than the one of this tree, such as an older version. */
  readonly program?: string;
  /** A command that becomes the one given to it, such as `ip netns exec NAME`. */
  readonly launcher?: readonly string[];
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const program = fileURLToPath(new URL('../../cli/bin/groundcrew.js', import.meta.url));

/** The built program of worker processes: from source each would take seconds to start. */
export function workerEntry(): string {
  const load = createRequire(import.meta.url);
  (load('../../cli/scripts/ensure-built.cjs') as { readonly ensureBuilt: () => void }).ensureBuilt();
  return fileURLToPath(new URL('../../cli/dist/worker.cjs', import.meta.url));
}

/** The program as clients start it: a real process with a home of its own. */
export class RuntimeProcess {
  readonly exited: Promise<Exit>;
  stdout = '';
  stderr = '';
  private readonly child: ChildProcess;
  private isOver = false;

  constructor(readonly options: RuntimeProcessOptions) {
    const { flags, home, workingDirectory = home, environment } = options;
    const command = [...(options.launcher ?? []), process.execPath, options.program ?? program, ...flags];
    const [first = process.execPath, ...words] = command;
    this.child = spawn(first, words, {
      cwd: workingDirectory,
      env: { PATH: process.env.PATH, HOME: home, COPILOT_HOME: home, ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    if (!this.isStdio)
      this.child.stdout?.on('data', (chunk: Buffer) => {
        this.stdout += chunk.toString();
      });
    this.exited = once(this.child, 'close').then(([code, signal]) => {
      this.isOver = true;
      return { code, signal } as Exit;
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** The channel on stdin and stdout; on a port, a new connection each time. */
  async connect(): Promise<Channel> {
    const { stdin, stdout } = this.child;
    if (!stdin || !stdout) throw new Error('The process was started without pipes');
    if (this.isStdio) return stdioChannel({ input: stdout, output: stdin });
    return connectTcp({ port: await this.port() });
  }

  /** The port it announced. */
  async port(): Promise<number> {
    for (;;) {
      const announced = /^CLI server listening on port (\d+)\n/.exec(this.stdout)?.[1];
      if (announced) return Number(announced);
      if (this.isOver) throw new Error(`The runtime ended before it listened: ${this.stderr}`);
      await Promise.race([this.child.stdout && once(this.child.stdout, 'data'), this.exited]);
    }
  }

  /** Says that nothing more comes on stdin. */
  endInput(): void {
    this.child.stdin?.end();
  }

  /** Sends a signal and, unless the process only pauses or goes on, waits for its end. */
  async signal(name: NodeJS.Signals): Promise<Exit | undefined> {
    this.child.kill(name);
    return name === 'SIGSTOP' || name === 'SIGCONT' ? undefined : this.exited;
  }

  /** Sends a signal and waits for nothing. */
  kill(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Ends the process if it has not ended by itself. */
  async stop(): Promise<void> {
    if (!this.isOver) await this.signal('SIGKILL');
  }

  private get isStdio(): boolean {
    return this.options.flags.includes('--stdio');
  }
}

/** A new empty directory, and how to remove it. */
export function temporaryDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'groundcrew-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}
