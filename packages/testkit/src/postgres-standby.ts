import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from './free-port.js';
import type { PostgresServer } from './postgres-server.js';

const run = promisify(execFile);

/** A standby of a server, which takes its place when it is promoted. */
export class PostgresStandby {
  private constructor(
    /** As a superuser, on the database `postgres`. */
    readonly url: string,
    readonly port: number,
    private readonly primary: PostgresServer,
    private readonly home: string,
    private readonly binaries: string,
    private readonly child: ChildProcess,
  ) {}

  /** Copies the primary and follows it, asynchronously unless told otherwise; resolves when it does. */
  static async open(
    primary: PostgresServer,
    { binaries: given, isSynchronous }: { readonly binaries: string; readonly isSynchronous: boolean },
  ): Promise<PostgresStandby> {
    // A link to `postgres` may lie where its other programs do not.
    const binaries = dirname(realpathSync(join(given, 'postgres')));
    const home = mkdtempSync(join(tmpdir(), 'groundcrew-standby-'));
    const identity = postgresUser();
    if (identity.uid !== undefined) chownSync(home, identity.uid, identity.gid ?? identity.uid);
    const { username, password, port: from } = new URL(primary.url);
    const data = join(home, 'data');
    const environment = { PGPASSWORD: decodeURIComponent(password), LC_ALL: 'C', PATH: process.env.PATH };
    const options = { ...identity, cwd: home, env: environment };
    const source = ['-h', '127.0.0.1', '-p', from, '-U', username];
    await run(
      join(binaries, 'pg_basebackup'),
      [...source, '-D', data, '-R', '-X', 'stream', '-c', 'fast'],
      options,
    );
    const port = await freePort();
    const settings = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'fsync=off',
      'max_connections=200',
    ];
    const words = settings.flatMap((setting) => ['-c', setting]);
    const child = spawn(join(binaries, 'postgres'), ['-D', data, '-p', `${port}`, ...words], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    for await (const line of createInterface({ input: child.stderr }))
      if (line.includes('ready to accept read-only connections')) break;
    child.stderr.resume();
    const url = new URL(primary.url);
    url.port = `${port}`;
    const standby = new PostgresStandby(url.href, port, primary, home, binaries, child);
    if (isSynchronous) await standby.makeSynchronous();
    else await standby.isFollowing('async');
    return standby;
  }

  /** What is acknowledged is on both from now on. */
  async makeSynchronous(): Promise<void> {
    await this.primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await this.primary.query('SELECT pg_reload_conf()');
    await this.isFollowing('sync');
  }

  /** It learns nothing more of what the primary writes. */
  async stopFollowing(): Promise<void> {
    await this.query("ALTER SYSTEM SET primary_conninfo = ''");
    await this.query('SELECT pg_reload_conf()');
    while ((await this.primary.query('SELECT 1 FROM pg_stat_replication')).length > 0) await moment();
  }

  async promote(): Promise<void> {
    await run(join(this.binaries, 'pg_ctl'), ['promote', '-D', join(this.home, 'data'), '-w'], {
      ...postgresUser(),
      cwd: this.home,
      env: { LC_ALL: 'C' },
    });
  }

  async close(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGQUIT');
    await ended;
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  private async isFollowing(state: 'sync' | 'async'): Promise<void> {
    const text = 'SELECT 1 FROM pg_stat_replication WHERE sync_state = $1';
    while ((await this.primary.query(text, [state])).length === 0) await moment();
  }

  private async query(text: string): Promise<void> {
    const { Client } = await import('pg');
    const client = new Client({ connectionString: this.url });
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  }
}

function moment(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
}

/** The server refuses to run as root. */
function postgresUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith('postgres:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  return { uid: Number(uid ?? 65_534), gid: Number(gid ?? 65_534) };
}
