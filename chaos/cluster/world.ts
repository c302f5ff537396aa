import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  findNats,
  findPostgres,
  type NatsServer,
  openNats,
  openPostgres,
  type PostgresServer,
  PostgresStandby,
  RuleModel,
  RuntimeProcess,
} from '@groundcrew/testkit';
import { Gate, type Way } from './gate.js';
import { Network } from './network.js';

/** One node, and its own ways to PostgreSQL and NATS. */
export interface Node {
  readonly process: RuntimeProcess;
  /** Where clients connect. */
  readonly host: string;
  readonly toPostgres: Way;
  readonly toNats: Way;
  isUp: boolean;
}

/** Three nodes, and all that they share. */
export class World {
  readonly nodes: Node[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), 'groundcrew-chaos-'));
  private readonly ways: Way[] = [];
  private readonly networks: Network[] = [];
  private readonly processes: RuntimeProcess[] = [];
  private made = 0;

  private constructor(
    readonly postgres: PostgresServer,
    readonly nats: NatsServer,
    readonly model: RuleModel,
    readonly standby: PostgresStandby | undefined,
    readonly database: string,
    private readonly hasNetworks: boolean,
  ) {}

  /** With networks, each node has a namespace of its own, and ways are cables; proxies without. */
  static async open({
    hasStandby,
    hasNetworks,
  }: {
    readonly hasStandby: boolean;
    readonly hasNetworks: boolean;
  }): Promise<World> {
    const source = findPostgres(process.env, { downloaded: true });
    const nats = await findNats(process.env, { downloaded: true });
    if (typeof source === 'string' || typeof nats === 'string') throw new Error(`${source} ${nats}`);
    const postgres = await openPostgres(source, { wal_level: 'replica', max_wal_senders: '4' });
    const database = new URL(await postgres.newDatabase()).pathname;
    const standby = hasStandby
      ? await PostgresStandby.open(postgres, { binaries: source.binaries ?? '', isSynchronous: true })
      : undefined;
    const model = await RuleModel.open(rule);
    const world = new World(postgres, await openNats(nats), model, standby, database, hasNetworks);
    writeFileSync(join(world.folder, 'skew.cjs'), skew);
    try {
      await Promise.all([0, 1, 2].map(() => world.start()));
    } catch (error) {
      await world.close();
      throw error;
    }
    return world;
  }

  /** Starts a node; of three, one has a clock that is an hour late and one that is an hour early. */
  async start(): Promise<Node> {
    const network = this.hasNetworks ? await Network.open() : undefined;
    if (network) this.networks.push(network);
    const wayTo = (port: number): Promise<Way> => network?.cableTo(port) ?? Gate.open(port);
    const [toPostgres, toNats] = [await wayTo(this.postgres.port), await wayTo(this.nats.port)];
    this.ways.push(toPostgres, toNats);
    const place = ({ host, port }: Pick<Way, 'host' | 'port'>) => {
      const url = new URL(this.postgres.url);
      return Object.assign(url, { hostname: host, port: `${port}`, pathname: this.database }).href;
    };
    const standby = this.standby && place({ host: '127.0.0.1', port: this.standby.port });
    const stores = [place(toPostgres), ...(standby === undefined ? [] : [standby])];
    const hours = (this.made % 3) - 1;
    this.made += 1;
    const process = new RuntimeProcess({
      flags: ['--headless', '--port', '0'],
      home: mkdtempSync(join(this.folder, 'home-')),
      workingDirectory: this.folder,
      ...(network && { launcher: network.launcher }),
      environment: {
        GROUNDCREW_STORE: stores.join(','),
        GROUNDCREW_NATS: `nats://${toNats.host}:${toNats.port}`,
        NODE_OPTIONS: `--require ${join(this.folder, 'skew.cjs')}`,
        SKEW_MS: `${hours * 3_600_000}`,
      },
    });
    this.processes.push(process);
    const port = await process.port();
    const modelPort = Number(new URL(this.model.settings.provider.baseUrl).port);
    const host = (await network?.connect({ port, modelPort })) ?? '127.0.0.1';
    const node = { process, host, toPostgres, toNats, isUp: true };
    this.nodes.push(node);
    return node;
  }

  /** Rows, from whichever server is the primary. */
  async query<Row>(text: string): Promise<readonly Row[]> {
    const { Client } = await import('pg');
    const ports = [this.postgres.port, ...(this.standby ? [this.standby.port] : [])];
    for (const port of ports) {
      const url = Object.assign(new URL(this.postgres.url), { port: `${port}`, pathname: this.database });
      const client = new Client({ connectionString: url.href });
      client.on('error', () => undefined);
      try {
        await client.connect();
        const { rows } = await client.query('SELECT pg_is_in_recovery() AS standby');
        if (rows[0].standby) continue;
        return (await client.query(text)).rows as readonly Row[];
      } catch {
        // The other one, then.
      } finally {
        await client.end().catch(() => undefined);
      }
    }
    throw new Error('No primary answers');
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.stop()));
    for (const way of this.ways) way.close();
    await Promise.all(this.networks.map((network) => network.close()));
    await Promise.all([this.model.close(), this.nats.close(), this.standby?.close()]);
    await this.postgres.close();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * A prompt has a tool called with its own words, and the result is repeated: asking again gives the same again. Where the
 * client with the tool is at a node that is cut off, the turn ends without its effect.
 */
const rule = (messages: readonly { readonly role: string; readonly content?: unknown }[]) => {
  const last = messages.at(-1);
  const prompt = messages.findLast(({ role }) => role === 'user');
  const name = /work-\d+/.exec(textOf(prompt?.content))?.[0] ?? 'work-0';
  if (last?.role === 'tool') return { chunks: [`done ${name}`] };
  return { calls: [{ id: `call-${name}`, name: 'effect', arguments: { name } }] };
};

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}

/** Moves the clock that a program reads; timers stay as they are. */
const skew = `const by = Number(process.env.SKEW_MS);
const now = Date.now.bind(Date);
globalThis.Date = class extends Date {
  constructor(...given) { given.length === 0 ? super(now() + by) : super(...given); }
  static now() { return now() + by; }
};
`;
