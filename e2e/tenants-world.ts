import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectTcp } from '@groundcrew/rpc';
import {
  providerOf,
  RuntimeProcess,
  ScriptedApi,
  type ScriptedReply,
  temporaryDirectory,
  WireClient,
} from '@groundcrew/testkit';
import { until } from './mcp-world.js';

/** A token of the tests, by the name of its entry. */
export const tokenOf = (name: string) => `token-of-${name}`;

/** Sessions of these homes make no model call for a title, which on a busy machine would take a reply that a later turn is to get. */
export function titleByPrompt(home: string, tenants: readonly string[]): void {
  for (const place of [home, ...tenants.map((tenant) => join(home, 'tenants', tenant, 'home'))]) {
    mkdirSync(place, { recursive: true, mode: 0o700 });
    writeFileSync(join(place, 'config.json'), JSON.stringify({ titles: 'prompt' }), { mode: 0o600 });
  }
}

type Role = 'observer' | 'member' | 'admin';

/** A server of several tenants, and a scripted model behind it. */
export class TenantsWorld {
  readonly home = temporaryDirectory();
  readonly authFile = join(this.home.path, 'auth.json');
  settings: Record<string, unknown> = {};
  private tenants: readonly string[] = [];
  private api: ScriptedApi | undefined;
  private server: RuntimeProcess | undefined;
  private readonly clients: WireClient[] = [];

  async start(replies: readonly ScriptedReply[] = [], flags: readonly string[] = []): Promise<void> {
    this.write();
    titleByPrompt(this.home.path, this.tenants);
    this.api ??= await ScriptedApi.open();
    const { provider } = providerOf(this.api.script(...replies));
    this.server = new RuntimeProcess({
      flags: ['serve', '--listen', '127.0.0.1:0', '--auth', this.authFile, '--http-port', '0', ...flags],
      home: this.home.path,
      // A careless parent has left it an open file.
      launcher: ['/bin/sh', '-c', 'exec 9<"$0"; exec "$@"', this.authFile],
      environment: {
        OPENAI_BASE_URL: provider.baseUrl,
        OPENAI_API_KEY: provider.apiKey,
        GROUNDCREW_MODEL: 'scripted',
        OPERATORS_OWN: 'what no tenant is to read',
      },
    });
    await this.server.port();
  }

  get process(): RuntimeProcess {
    if (!this.server) throw new Error('The server was not started');
    return this.server;
  }

  /** The door over HTTP. */
  async url(): Promise<string> {
    await until(() => /HTTP door at \S+\n/.test(this.process.stdout));
    return /HTTP door at (\S+)/.exec(this.process.stdout)?.[1] ?? '';
  }

  /** Writes the file of tokens and tenants. */
  write(): void {
    writeFileSync(this.authFile, JSON.stringify(this.settings), { mode: 0o600 });
    chmodSync(this.authFile, 0o600);
  }

  /** Tokens as `name: [tenant, role]`. */
  tokens(entries: Readonly<Record<string, readonly [string, Role]>>): void {
    const tokens = Object.entries(entries).map(([name, [tenant, role]]) => ({
      name,
      tenant,
      role,
      sha256: createHash('sha256').update(tokenOf(name)).digest('hex'),
    }));
    this.tenants = [...new Set(tokens.map(({ tenant }) => tenant))].filter((name) => name !== 'default');
    this.settings = { ...this.settings, tokens };
  }

  async client(token: string): Promise<WireClient> {
    const client = await this.stranger();
    await client.call('connect', { token });
    return client;
  }

  async stranger(): Promise<WireClient> {
    const client = new WireClient(await connectTcp({ port: await this.process.port() }));
    this.clients.push(client);
    return client;
  }

  audit(): Record<string, unknown>[] {
    return readFileSync(join(this.home.path, 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  async stop(): Promise<void> {
    await Promise.all(this.clients.map(({ connection }) => connection.close()));
    await this.server?.stop();
    await this.api?.close();
    this.home.remove();
  }
}
