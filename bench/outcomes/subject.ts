import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectTcp, stdioChannel } from '@groundcrew/rpc';
import { WireClient } from '@groundcrew/testkit';

/** A runtime to be looked at from outside: a name for the table and the command that starts it. */
export interface Subject {
  readonly name: string;
  readonly command: readonly string[];
}

/** How one process of it is started. */
export interface StartOptions {
  readonly home: string;
  readonly door: 'stdio' | 'port';
}

/** Clients wait so long for the port to be announced. */
const startPatience = 30_000;

/** One process of a runtime, on a home that outlives it. */
export class SubjectProcess {
  readonly startedAt = performance.now();
  private readonly mark = randomUUID();
  private readonly child: ChildProcess;
  private readonly closed: Promise<unknown>;
  private stdout = '';
  private stderr = '';

  constructor(
    { command }: Subject,
    private readonly options: StartOptions,
  ) {
    const { home, door } = options;
    const [program = '', ...rest] = command;
    const isScript = /\.[cm]?js$/.test(program);
    const flags = ['--headless', '--no-auto-update', '--log-level', 'error', '--no-auto-login'];
    const line = [
      ...(isScript ? [program] : []),
      ...rest,
      ...flags,
      ...(door === 'stdio' ? ['--stdio'] : []),
    ];
    mkdirSync(join(home, 'work'), { recursive: true });
    this.child = spawn(isScript ? process.execPath : program, line, {
      cwd: join(home, 'work'),
      env: { ...process.env, ...withoutLogins, COPILOT_HOME: home, [markName]: this.mark },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.closed = once(this.child, 'close');
    if (door === 'port')
      this.child.stdout?.on('data', (chunk: Buffer) => {
        this.stdout += chunk.toString();
      });
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
  }

  /** A client that has said hello; on a port, another one each time. */
  async connect(): Promise<WireClient> {
    const { stdin, stdout } = this.child;
    if (!stdin || !stdout) throw new Error('The runtime was started without pipes');
    const channel =
      this.options.door === 'stdio'
        ? stdioChannel({ input: stdout, output: stdin })
        : await connectTcp({ port: await this.port() });
    const client = new WireClient(channel);
    await client.call('connect', {});
    return client;
  }

  /** The port it announced. */
  async port(): Promise<number> {
    const limit = AbortSignal.timeout(startPatience);
    for (;;) {
      const port = /listening on port (\d+)/i.exec(this.stdout)?.[1];
      if (port) return Number(port);
      if (!this.child.stdout || this.child.exitCode !== null)
        throw new Error(`The runtime ended before it listened: ${this.stderr.slice(-300)}`);
      await once(this.child.stdout, 'data', { signal: limit });
    }
  }

  /** Resident memory of the process and its children, in megabytes. */
  get memory(): number {
    return this.family().reduce((sum, pid) => sum + residentMegabytes(pid), 0);
  }

  /** Processor time that the process and its children have used so far. */
  get cpuSeconds(): number {
    return this.family().reduce((sum, pid) => sum + usedSeconds(pid), 0);
  }

  /** kill -9, of this process alone. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.closed;
  }

  /** Processes that it started and that are still there. */
  survivors(): readonly number[] {
    return this.family().filter((pid) => pid !== this.child.pid);
  }

  /** Ends it and all that it left behind. */
  async end(): Promise<void> {
    const left = this.survivors();
    await this.kill();
    for (const pid of new Set([...left, ...this.survivors()])) endProcess(pid);
  }

  /** Known by a variable of their environment, which children inherit. */
  private family(): readonly number[] {
    const needle = `${markName}=${this.mark}`;
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => readProcess(pid, 'environ').includes(needle));
  }
}

const markName = 'OUTCOMES_PROCESS';

/** No runtime may find a login of the user who runs this. */
const withoutLogins = { GH_TOKEN: '', GITHUB_TOKEN: '', COPILOT_DISABLE_KEYTAR: '1' };

function residentMegabytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readProcess(pid, 'status'))?.[1] ?? 0) / 1024;
}

/** Fields 14 and 15 of the line are ticks of a hundredth of a second; the name before them may hold anything but `)`. */
function usedSeconds(pid: number): number {
  const fields = readProcess(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100;
}

/** Empty when the process is gone or belongs to another user. */
function readProcess(pid: number, file: 'environ' | 'stat' | 'status'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
