import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScriptedApi, type ScriptedModel, type ScriptedReply, temporaryDirectory } from '@groundcrew/testkit';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';

/** How a program ended and what it said. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a program is started; nothing else of the environment is there. */
export interface StartOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Written by a shell's pipe; without it stdin is empty. */
  readonly input?: string;
  /** Leaves stdin open and says nothing. */
  readonly staysOpen?: boolean;
}

const program = join(import.meta.dirname, '../bin/groundcrew.js');

/** In a source checkout a start may build the program first, and says so. */
const buildLine = /^groundcrew: (?:built dist\/main\.cjs in|waiting for process) .*\n/gm;

/** A program that runs, as a user would start it. */
export class Program {
  stdout = '';
  stderr = '';
  readonly ended: Promise<Ended>;
  readonly child: ChildProcess;

  constructor(
    world: CliWorld,
    args: readonly string[],
    { environment = {}, input, staysOpen = false }: StartOptions = {},
  ) {
    const env = {
      PATH: process.env.PATH,
      HOME: world.home.path,
      GROUNDCREW_HOME: world.homePath,
      ...environment,
    };
    const command = [process.execPath, program, ...args];
    const [file = '', ...rest] =
      input === undefined ? command : ['sh', '-c', 'printf %s "$0" | exec "$@"', input, ...command];
    const stdin = staysOpen ? 'pipe' : 'ignore';
    this.child = spawn(file, rest, { cwd: world.workingDirectory, env, stdio: [stdin, 'pipe', 'pipe'] });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr = (this.stderr + text).replaceAll(buildLine, '');
    });
    this.ended = once(this.child, 'close').then(([code]) => ({
      code: code as number | null,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  /** Resolves when stdout contains the words; rejects when the program ends without them. */
  async says(words: string): Promise<void> {
    while (!this.stdout.includes(words)) {
      const isOver = await Promise.race([
        this.child.stdout && once(this.child.stdout, 'data').then(() => false),
        this.ended.then(() => true),
      ]);
      if (isOver && !this.stdout.includes(words)) throw new Error(`Ended without "${words}": ${this.stderr}`);
    }
  }
}

/** A home, a working directory and a scripted model service for the tests of one file. */
export class CliWorld {
  readonly home = temporaryDirectory();
  readonly workingDirectory = join(this.home.path, 'work');
  homePath = join(this.home.path, 'groundcrew');
  private homes = 0;
  private api: ScriptedApi | undefined;
  private readonly programs: Program[] = [];
  private readonly models: ScriptedModel[] = [];

  async open(): Promise<void> {
    mkdirSync(this.workingDirectory);
    this.api = await ScriptedApi.open();
  }

  /** A home without sessions and settings. */
  newHome(): void {
    this.homePath = join(this.home.path, `groundcrew-${this.homes++}`);
    mkdirSync(this.homePath, { mode: 0o700 });
  }

  /** Writes settings, as they are or as they are to be in JSON. */
  configure(config: object | string): string {
    const path = join(this.homePath, 'config.json');
    writeFileSync(path, typeof config === 'string' ? config : JSON.stringify(config), { mode: 0o600 });
    return path;
  }

  script(...replies: readonly ScriptedReply[]): ScriptedModel {
    if (!this.api) throw new Error('The world is not open');
    const model = this.api.script(...replies);
    this.models.push(model);
    return model;
  }

  /** Starts the program. */
  start(args: readonly string[], options?: StartOptions): Program {
    const started = new Program(this, args, options);
    this.programs.push(started);
    return started;
  }

  /** Starts the program and waits for its end. */
  run(args: readonly string[], options?: StartOptions): Promise<Ended> {
    return this.start(args, options).ended;
  }

  check(): void {
    expect(this.models.flatMap((model) => model.refusals)).toEqual([]);
  }

  async close(): Promise<void> {
    for (const { child, ended } of this.programs) {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    }
    await this.api?.close();
    this.home.remove();
  }
}

/** The world of one file. Each test has a home of its own. */
export function cliWorld(): CliWorld {
  const world = new CliWorld();
  beforeAll(async () => {
    await world.open();
    world.newHome();
  });
  afterEach(() => {
    world.check();
    world.newHome();
  });
  afterAll(() => world.close());
  return world;
}
