import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  RuntimeProcess,
  ScriptedApi,
  type ScriptedModel,
  type ScriptedReply,
  temporaryDirectory,
} from '@groundcrew/testkit';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { type ScreenOptions, TestScreen } from './screen.js';

/** A scripted model, a runtime on a port, and screens that attach to it or start their own. */
export class TerminalWorld {
  readonly home = temporaryDirectory();
  readonly directory = join(this.home.path, 'work');
  private api: ScriptedApi | undefined;
  private scripted: ScriptedModel | undefined;
  private server: RuntimeProcess | undefined;
  private readonly screens: TestScreen[] = [];
  private common: TestScreen | undefined;

  async open(): Promise<void> {
    mkdirSync(this.directory);
    // A title by the model would take a reply that is meant for a prompt.
    const settings = join(this.home.path, 'groundcrew');
    mkdirSync(settings, { mode: 0o700 });
    writeFileSync(join(settings, 'config.json'), '{ "titles": "prompt" }', { mode: 0o600 });
    this.api = await ScriptedApi.open();
    this.scripted = this.api.script();
    this.server = this.startServer();
  }

  get model(): ScriptedModel {
    if (!this.scripted) throw new Error('The world is not open');
    return this.scripted;
  }

  /** The environment of every program here. */
  get environment(): Readonly<Record<string, string>> {
    return {
      PATH: process.env.PATH ?? '',
      HOME: this.home.path,
      GROUNDCREW_HOME: join(this.home.path, 'groundcrew'),
      GROUNDCREW_BASE_URL: this.model.baseUrl,
      GROUNDCREW_MODEL: 'scripted',
      GROUNDCREW_TOKEN: 'open sesame',
      COPILOT_CONNECTION_TOKEN: 'open sesame',
    };
  }

  /** A server, on any port or on that of one before. */
  startServer(port = 0): RuntimeProcess {
    return new RuntimeProcess({
      flags: ['--headless', '--port', String(port)],
      home: join(this.home.path, 'groundcrew'),
      workingDirectory: this.directory,
      environment: this.environment,
    });
  }

  /** The port of the runtime that runs here. */
  port(): Promise<number> {
    if (!this.server) throw new Error('The world is not open');
    return this.server.port();
  }

  /** A screen of a runtime of its own. */
  start(options: Partial<ScreenOptions> = {}): TestScreen {
    const { environment = {}, directory = this.directory, ...rest } = options;
    const screen = new TestScreen({
      ...rest,
      directory,
      environment: { ...this.environment, ...environment },
    });
    this.screens.push(screen);
    return screen;
  }

  /** The screen that tests share, with a model that plays these replies next. Only what comes now is looked at. */
  async shared(...replies: readonly ScriptedReply[]): Promise<TestScreen> {
    if (!this.common?.isAlive) {
      this.common = await this.attach();
      this.screens.splice(this.screens.indexOf(this.common), 1);
    }
    this.model.play(...replies);
    this.common.mark();
    return this.common;
  }

  /** A new screen of the runtime that runs here, with a model that plays these replies next. */
  async attach(
    replies: readonly ScriptedReply[] = [],
    { args = [], ...options }: Partial<ScreenOptions> = {},
  ): Promise<TestScreen> {
    if (!this.server) throw new Error('The world is not open');
    this.model.play(...replies);
    const port = await this.server.port();
    const screen = this.start({ args: ['--connect', String(port), ...args], ...options });
    await screen.sees('/help for help');
    return screen;
  }

  async check(): Promise<void> {
    for (const screen of this.screens.splice(0)) await screen.kill();
    expect(this.model.refusals).toEqual([]);
  }

  async close(): Promise<void> {
    await this.common?.kill();
    await this.server?.stop();
    await this.api?.close();
    this.home.remove();
  }
}

/** The world of one file. */
export function terminalWorld(): TerminalWorld {
  const world = new TerminalWorld();
  beforeAll(() => world.open());
  afterEach(() => world.check());
  afterAll(() => world.close());
  return world;
}
