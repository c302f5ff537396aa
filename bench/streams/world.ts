import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Order, Report } from './generator.js';
import { LightClient } from './light-client.js';

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
  baseUrl = '';
  private readonly root = mkdtempSync(join(tmpdir(), 'groundcrew-streams-'));
  private readonly runtime = this.watched('runtime', program, '--headless', '--stdio');
  /** Does nothing: what it sees is the machine's own delay. */
  private readonly sleeper = this.watched('sleeper', '--eval', 'setInterval(() => undefined, 1e6)');
  private readonly client: LightClient;

  static async open(wire: string): Promise<World> {
    const world = new World(wire);
    const opened = world.next('opened');
    world.generator.send({ type: 'open' } satisfies Order);
    world.baseUrl = (await opened).baseUrl;
    return world;
  }

  private constructor(private readonly wire: string) {
    this.client = new LightClient(this.runtime.stdout, this.runtime.stdin);
  }

  /** Pieces of text heard so far. */
  get deltas(): number {
    return this.client.deltas;
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
    const { sessionId } = (await this.client.request('session.create', settings)) as {
      sessionId: string;
    };
    return sessionId;
  }

  async turn(sessionId: string): Promise<void> {
    const ended = this.client.nextIdle(sessionId);
    await this.client.request('session.send', { sessionId, prompt: 'Go on' });
    await ended;
  }

  /** What the runtime, and one that does nothing, say of their own event loops, in some seconds. */
  async watch(): Promise<{ readonly runtime: Seen; readonly sleeper: Seen }> {
    this.runtime.kill('SIGUSR2');
    this.sleeper.kill('SIGUSR2');
    return { runtime: await this.seenBy('runtime'), sleeper: await this.seenBy('sleeper') };
  }

  async next<T extends Report['type']>(type: T): Promise<Extract<Report, { type: T }>> {
    for (;;) {
      const [report] = (await once(this.generator, 'message')) as [Report];
      if (report.type === type) return report as Extract<Report, { type: T }>;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.generator.disconnect();
    this.sleeper.kill('SIGKILL');
    this.runtime.kill('SIGKILL');
    await once(this.runtime, 'close');
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }

  private watched(name: string, ...args: readonly string[]) {
    return spawn(process.execPath, ['--require', preload, ...args], {
      cwd: this.root,
      env: {
        PATH: process.env.PATH,
        HOME: this.root,
        COPILOT_HOME: this.root,
        LOOP_DELAY_FILE: this.fileOf(name),
        LOOP_DELAY_SECONDS: String(watchedSeconds),
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
  }

  private async seenBy(name: string): Promise<Seen> {
    const file = this.fileOf(name);
    while (!existsSync(file)) await pause(50);
    return JSON.parse(readFileSync(file, 'utf8')) as Seen;
  }

  private fileOf(name: string): string {
    return join(this.root, `${name}.json`);
  }
}
