import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectTcp } from '@groundcrew/rpc';
import { RuntimeProcess, temporaryDirectory, WireClient } from '@groundcrew/testkit';
import { until } from './mcp-world.js';
import { titleByPrompt, tokenOf } from './tenants-world.js';

/** Who comes in: the tenant and the role of each token. */
export const tokens = {
  mia: ['acme', 'member'],
  olga: ['acme', 'observer'],
  bob: ['beta', 'admin'],
  op: ['default', 'admin'],
  sam: ['small', 'member'],
  nan: ['narrow', 'member'],
  tom: ['thrifty', 'member'],
  pia: ['priced', 'member'],
} as const;

/** What is in the file besides the tokens. */
interface TenantChanges {
  readonly jwt?: readonly object[];
  readonly tenants?: object;
  /** When tokens expire, by name. */
  readonly expires?: Readonly<Record<string, string>>;
}

/** Servers of the same tenants on one PostgreSQL and one NATS, each with a home of its own. */
export class TenantNodes {
  readonly #home = temporaryDirectory();
  #tenants: object = {};
  readonly #clients: WireClient[] = [];
  readonly processes: RuntimeProcess[] = [];

  constructor(
    private readonly store: string,
    private readonly nats: string,
    private readonly baseUrl: string,
    more: TenantChanges = {},
  ) {
    mkdirSync(this.work);
    this.change(more);
  }

  /** Writes the file of tokens and tenants; the servers read it within a second. */
  change({ jwt, tenants = this.#tenants, expires = {} }: TenantChanges): void {
    this.#tenants = tenants;
    const entries = Object.entries(tokens).map(([name, [tenant, role]]) => ({
      ...{ name, tenant, role, sha256: createHash('sha256').update(tokenOf(name)).digest('hex') },
      ...(expires[name] !== undefined && { expires: expires[name] }),
    }));
    const settings = {
      tokens: entries,
      ...(jwt && { jwt }),
      tenants: {
        acme: { directories: [this.work] },
        small: { quotas: { sessions: 2 } },
        narrow: { quotas: { concurrentTurns: 1 } },
        thrifty: { quotas: { tokensPerDay: 5 } },
        ...tenants,
      },
    };
    writeFileSync(this.authFile, JSON.stringify(settings), { mode: 0o600 });
  }

  get authFile(): string {
    return join(this.#home.path, 'auth.json');
  }

  /** As if on a volume that all nodes have. */
  get work(): string {
    return join(this.#home.path, 'work');
  }

  homeOf(index: number): string {
    return join(this.#home.path, `home-${index}`);
  }

  async start(flags: readonly string[] = []): Promise<RuntimeProcess> {
    const home = this.homeOf(this.processes.length);
    const tenants = Object.values(tokens).map(([tenant]) => tenant);
    titleByPrompt(
      home,
      [...new Set(tenants)].filter((name) => name !== 'default'),
    );
    const node = new RuntimeProcess({
      flags: ['serve', '--listen', '127.0.0.1:0', '--auth', this.authFile, ...flags],
      home,
      workingDirectory: this.#home.path,
      environment: {
        GROUNDCREW_STORE: this.store,
        GROUNDCREW_NATS: this.nats.replace('nats://', 'nats://token-of-the-tests@'),
        GROUNDCREW_BASE_URL: this.baseUrl,
        GROUNDCREW_API_KEY: 'key-of-the-tests',
        GROUNDCREW_MODEL: 'scripted',
      },
    });
    this.processes.push(node);
    await node.port();
    return node;
  }

  async client(node: RuntimeProcess | undefined, name: keyof typeof tokens): Promise<WireClient> {
    const client = await this.stranger(node);
    await client.call('connect', { token: tokenOf(name) });
    return client;
  }

  /** Comes in with any token; `connect` is the caller's. */
  async stranger(node: RuntimeProcess | undefined): Promise<WireClient> {
    if (!node) throw new Error('The node was not started');
    const client = new WireClient(await connectTcp({ port: await node.port() }));
    this.#clients.push(client);
    return client;
  }

  /** The door over HTTP of a node that was started with `--http-port 0`. */
  async url(node: RuntimeProcess | undefined): Promise<string> {
    await until(() => /HTTP door at \S+\n/.test(node?.stdout ?? ''));
    return /HTTP door at (\S+)/.exec(node?.stdout ?? '')?.[1] ?? '';
  }

  audit(index: number): Record<string, unknown>[] {
    const lines = readFileSync(join(this.homeOf(index), 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map(({ connection }) => connection.close()));
    await Promise.all(this.processes.map((node) => node.stop()));
    this.#home.remove();
  }
}
