import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection, stdioChannel } from '@groundcrew/rpc';
import type { RuleModel } from '@groundcrew/testkit';

const program = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));
const tool = { name: 'echo', description: 'Echoes', parameters: { type: 'object' }, skipPermission: true };

interface Notice {
  readonly sessionId: string;
  readonly event: { readonly type: string; readonly data: { readonly requestId: string } };
}

/** The program as clients start it, with a client that does no more than it must. */
export class BenchRuntime {
  private readonly child: ChildProcess;
  private readonly connection: Connection;
  private readonly idle = new Map<string, () => void>();
  readonly home: string;

  constructor(
    private readonly model: RuleModel,
    options: {
      readonly root: string;
      readonly home?: string;
      readonly environment?: Readonly<Record<string, string>>;
    },
  ) {
    this.home = options.home ?? mkdtempSync(join(options.root, 'home-'));
    this.child = spawn(process.execPath, [program, '--headless', '--stdio'], {
      cwd: this.home,
      env: { PATH: process.env.PATH, HOME: this.home, COPILOT_HOME: this.home, ...options.environment },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const { stdin, stdout } = this.child;
    if (!stdin || !stdout) throw new Error('The runtime was started without pipes');
    this.connection = new Connection(stdioChannel({ input: stdout, output: stdin }), {
      onRequest: async (method) => {
        // A hook that answers at once, without an opinion.
        if (method === 'hooks.invoke') return {};
        throw new Error(`Unhandled method ${method}`);
      },
      onNotification: (method, params) => {
        if (method === 'session.event') this.receive(params as Notice);
      },
    });
  }

  async connect(): Promise<void> {
    await this.call('connect', {});
  }

  /** A new session; the answer is its id. */
  async create(more: object = {}): Promise<string> {
    const settings = { ...this.settings, ...more };
    const { sessionId } = (await this.call('session.create', settings)) as { sessionId: string };
    return sessionId;
  }

  async resume(sessionId: string): Promise<void> {
    await this.call('session.resume', { sessionId, ...this.settings });
  }

  /** A prompt, answered to its end. */
  async turn(sessionId: string, prompt: string): Promise<void> {
    const ended = new Promise<void>((resolve) => this.idle.set(sessionId, resolve));
    await this.call('session.send', { sessionId, prompt });
    await ended;
  }

  /** Resident memory in megabytes, as the kernel counts it. */
  get memory(): number {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes) / 1024;
  }

  /** Processor time so far in milliseconds, as the kernel counts it, in hundredths of a second. */
  get processorTime(): number {
    const stat = readFileSync(`/proc/${this.child.pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  async stop(): Promise<void> {
    this.child.kill('SIGKILL');
    await once(this.child, 'close');
  }

  private get settings(): object {
    return { ...this.model.settings, streaming: true, requestPermission: false, tools: [tool] };
  }

  private call(method: string, params: object): Promise<unknown> {
    return this.connection.request(method, params);
  }

  private receive({ sessionId, event }: Notice): void {
    if (event.type === 'session.idle') this.idle.get(sessionId)?.();
    if (event.type !== 'external_tool.requested') return;
    const { requestId } = event.data;
    void this.call('session.tools.handlePendingToolCall', { sessionId, requestId, result: 'echo' });
  }
}
