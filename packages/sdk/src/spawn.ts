import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClientOptions } from './client-options.js';
import type { ChildProcessRuntimeConnection } from './connection-options.js';
import { GroundcrewError } from './errors.js';
import { findRuntime } from './find-runtime.js';
import { telemetryVariables } from './telemetry.js';

/** How to start a runtime. */
export interface SpawnOptions {
  readonly connection: ChildProcessRuntimeConnection;
  readonly client: ClientOptions;
  /** `--stdio`, or a port. */
  readonly transport: readonly string[];
  /** What clients of its port must show. */
  readonly connectionToken?: string;
}

/** A runtime that this process started. */
export class RuntimeChild {
  /** Resolves with how it ended; never rejects. */
  readonly ended: Promise<string>;
  private readonly child: ChildProcess;
  private readonly stopWatching: () => void;
  private errors = '';
  private isOver = false;

  /** Throws when there is no runtime to start, or no directory to start it in. */
  constructor(options: SpawnOptions) {
    checkDirectory(options.client.workingDirectory);
    const environment = environmentFor(options);
    const path = findRuntime(options.connection.path, environment);
    const args = [...(options.connection.args ?? []), ...flagsFor(options.client), ...options.transport];
    const isScript = /\.[cm]?js$/.test(path);
    const isStdio = options.transport.includes('--stdio');
    this.child = spawn(isScript ? process.execPath : path, isScript ? [path, ...args] : args, {
      cwd: options.client.workingDirectory,
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.errors = (this.errors + chunk.toString()).slice(-mostErrorText);
    });
    // A runtime on a port reads nothing there: the end of its stdin shows it that this process is gone.
    if (!isStdio) this.child.stdin?.on('error', () => undefined);
    this.stopWatching = isStdio ? () => undefined : killAtExit(this.child);
    this.ended = this.watch();
  }

  get input(): Writable {
    return pipe(this.child.stdin);
  }

  get output(): Readable {
    return pipe(this.child.stdout);
  }

  /** The port it announces; rejects when it ends or says nothing for half a minute. */
  async port(signal: AbortSignal): Promise<number> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(announcementMs)]);
    const announced = await Promise.race([announcedPort(this.output), this.ended, whenAborted(limit)]);
    signal.throwIfAborted();
    if (typeof announced === 'number') return announced;
    if (typeof announced === 'string') throw new GroundcrewError('start_failed', announced);
    throw new GroundcrewError('start_failed', `The runtime announced no port in time${this.lastWords()}`);
  }

  /** Waits for the end, and helps it along when it does not come. */
  async end(): Promise<void> {
    for (const step of [
      () => undefined,
      () => this.child.kill('SIGTERM'),
      () => this.child.kill('SIGKILL'),
    ]) {
      step();
      if (await this.endsWithin(patienceMs)) return;
    }
  }

  async kill(): Promise<void> {
    if (!this.isOver) this.child.kill('SIGKILL');
    await this.ended;
  }

  /** How it ended, or that it did not although its channel did. */
  async explain(): Promise<string> {
    if (await this.endsWithin(patienceMs)) return this.ended;
    return `The runtime closed its connection${this.lastWords()}`;
  }

  private watch(): Promise<string> {
    return new Promise((resolve) => {
      const end = (how: string) => {
        this.isOver = true;
        this.stopWatching();
        resolve(`The runtime ${how}${this.lastWords()}`);
      };
      this.child.once('error', (error) => {
        if (this.child.pid === undefined) end(`could not be started: ${error.message}`);
      });
      this.child.once('close', (code, signal) =>
        end(signal ? `was ended by ${signal}` : `exited with code ${code}`),
      );
    });
  }

  private async endsWithin(milliseconds: number): Promise<boolean> {
    const timer = new AbortController();
    const late = delay(milliseconds, false, { signal: timer.signal }).catch(() => false);
    const isOver = await Promise.race([this.ended.then(() => true), late]);
    timer.abort();
    return isOver;
  }

  private lastWords(): string {
    const text = this.errors.trim();
    return text === '' ? '' : `: ${text}`;
  }
}

const announcementMs = 30_000;
const patienceMs = 2_000;
const mostErrorText = 16 * 1024;

/** The system would say that the program is missing. */
function checkDirectory(path: string | undefined): void {
  if (path === undefined || statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new GroundcrewError('invalid_option', `The working directory ${path} does not exist`);
}

function flagsFor({
  logLevel,
  gitHubToken,
  useLoggedInUser,
  sessionIdleTimeoutSeconds,
}: ClientOptions): string[] {
  const mayLogIn = useLoggedInUser ?? gitHubToken === undefined;
  return [
    '--headless',
    '--no-auto-update',
    ...(logLevel === undefined ? [] : ['--log-level', logLevel]),
    ...(gitHubToken === undefined ? [] : ['--auth-token-env', tokenVariable]),
    ...(mayLogIn ? [] : ['--no-auto-login']),
    ...(sessionIdleTimeoutSeconds ? ['--session-idle-timeout', String(sessionIdleTimeoutSeconds)] : []),
  ];
}

const tokenVariable = 'COPILOT_SDK_AUTH_TOKEN';

function environmentFor({ client, connectionToken }: SpawnOptions): NodeJS.ProcessEnv {
  const { NODE_DEBUG: _wouldSpoilStdout, ...environment } = client.env ?? process.env;
  // A runtime that clients start looks at COPILOT_HOME first; the home of `groundcrew` and of this library is one.
  const home = client.baseDirectory ?? environment.GROUNDCREW_HOME;
  return {
    ...environment,
    ...(home && { COPILOT_HOME: home }),
    ...telemetryVariables(client.telemetry),
    ...(client.gitHubToken !== undefined && { [tokenVariable]: client.gitHubToken }),
    ...(connectionToken !== undefined && {
      COPILOT_CONNECTION_TOKEN: connectionToken,
      GROUNDCREW_END_WITH_STDIN: '1',
    }),
  };
}

/** A runtime of another maker on a port does not notice that its client is gone. */
function killAtExit(child: ChildProcess): () => void {
  const kill = () => void child.kill();
  process.setMaxListeners(process.getMaxListeners() + 1);
  process.once('exit', kill);
  return () => {
    process.off('exit', kill);
    process.setMaxListeners(process.getMaxListeners() - 1);
  };
}

function pipe<S>(stream: S | null): S {
  if (stream === null) throw new GroundcrewError('start_failed', 'The runtime was started without pipes');
  return stream;
}

/** Never settles when the output ends without an announcement: the process's end says more. */
function announcedPort(output: Readable): Promise<number> {
  let text = '';
  return new Promise((resolve) => {
    output.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-1024);
      const [, port] = /listening on port (\d+)/.exec(text) ?? [];
      if (port !== undefined) resolve(Number(port));
    });
  });
}

function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
