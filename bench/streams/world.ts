import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Connection, stdioChannel } from '@groundcrew/rpc';
import type { Order, Report } from './generator.js';

/** Seconds for which the runtime's event loop is watched. */
export const watchedSeconds = 10;

/** What a runtime has seen of its own event loop, in milliseconds. */
export interface Seen {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Of one core. */
  readonly share: number;
}

const program = fileURLToPath(new URL('../../packages/cli/bin/groundcrew.js', import.meta.url));
const preload = fileURLToPath(new URL('./loop-delay.cjs', import.meta.url));

/** Three processes: a model service, a runtime, and this one, its only client. */
export class World implements AsyncDisposable {
  readonly generator = fork(fileURLToPath(new URL('./generator.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  });
  deltas = 0;
  baseUrl = '';
  private readonly root = mkdtempSync(join(tmpdir(), 'groundcrew-streams-'));
  private readonly file = join(this.root, 'loop-delay.json');
  private readonly runtime = spawn(
    process.execPath,
    ['--require', preload, program, '--headless', '--stdio'],
    {
      cwd: this.root,
      env: {
        PATH: process.env.PATH,
        HOME: this.root,
        COPILOT_HOME: this.root,
        LOOP_DELAY_FILE: this.file,
        LOOP_DELAY_SECONDS: String(watchedSeconds),
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  private readonly connection: Connection;
  private readonly idle = new Map<string, () => void>();

  static async open(wire: string): Promise<World> {
    const world = new World(wire);
    const opened = world.next('opened');
    world.generator.send({ type: 'open' } satisfies Order);
    world.baseUrl = (await opened).baseUrl;
    return world;
  }

  private constructor(private readonly wire: string) {
    const { stdin, stdout } = this.runtime;
    this.connection = new Connection(stdioChannel({ input: stdout, output: stdin }), {
      onRequest: async (method) => Promise.reject(new Error(`Unhandled method ${method}`)),
      onNotification: (method, params) => {
        if (method === 'session.event') this.hear(params as Notice);
      },
    });
  }

  /** Where the wire posts its calls. */
  get path(): string {
    const paths: Readonly<Record<string, string>> = { responses: '/responses', anthropic: '/v1/messages' };
    return paths[this.wire] ?? '/chat/completions';
  }

  async create(): Promise<string> {
    const type = this.wire === 'anthropic' ? { type: 'anthropic' } : { type: 'openai', wireApi: this.wire };
    const provider = { ...type, baseUrl: this.baseUrl, apiKey: 'key' };
    const settings = { model: 'm', provider, streaming: true, requestPermission: false };
    const { sessionId } = (await this.connection.request('session.create', settings)) as {
      sessionId: string;
    };
    return sessionId;
  }

  async turn(sessionId: string): Promise<void> {
    const ended = new Promise<void>((resolve) => this.idle.set(sessionId, resolve));
    await this.connection.request('session.send', { sessionId, prompt: 'Go on' });
    await ended;
  }

  /** What the runtime says of its own event loop, in some seconds. */
  async watch(): Promise<Seen> {
    this.runtime.kill('SIGUSR2');
    while (!existsSync(this.file)) await pause(50);
    return JSON.parse(readFileSync(this.file, 'utf8')) as Seen;
  }

  async next<T extends Report['type']>(type: T): Promise<Extract<Report, { type: T }>> {
    for (;;) {
      const [report] = (await once(this.generator, 'message')) as [Report];
      if (report.type === type) return report as Extract<Report, { type: T }>;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.generator.disconnect();
    this.runtime.kill('SIGKILL');
    await once(this.runtime, 'close');
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }

  private hear({ sessionId, event }: Notice): void {
    if (event.type === 'assistant.message_delta') this.deltas += 1;
    if (event.type === 'session.idle') this.idle.get(sessionId)?.();
  }
}

interface Notice {
  readonly sessionId: string;
  readonly event: { readonly type: string };
}
