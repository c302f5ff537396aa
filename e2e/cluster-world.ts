import {
  findNats,
  findPostgres,
  type NatsServer,
  openNats,
  openPostgres,
  type PostgresServer,
  RuntimeProcess,
  ScriptedApi,
  temporaryDirectory,
  WireClient,
} from '@groundcrew/testkit';

/** What nodes of a test share. */
export interface ClusterWorld {
  readonly postgres: PostgresServer;
  readonly nats: NatsServer;
  readonly api: ScriptedApi;
  close(): Promise<void>;
}

/** PostgreSQL, NATS and a model service; undefined, with a line that says why, where they are not to be had. */
export async function openClusterWorld(): Promise<ClusterWorld | undefined> {
  const sources = { postgres: findPostgres(process.env), nats: await findNats(process.env) };
  const missing = Object.values(sources).find((source) => typeof source === 'string');
  if (typeof sources.postgres === 'string' || typeof sources.nats === 'string') {
    process.stdout.write(`Tests of several nodes are skipped: ${missing}\n`);
    return undefined;
  }
  const postgres = await openPostgres(sources.postgres);
  const nats = await openNats(sources.nats);
  const api = await ScriptedApi.open();
  return {
    postgres,
    nats,
    api,
    close: async () => {
      await Promise.all([api.close(), nats.close(), postgres.close()]);
    },
  };
}

/** How one node is started. */
export interface NodeStart {
  readonly store: string;
  readonly nats: string;
  readonly labels?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** An older program, for clusters of mixed versions. */
  readonly program?: string;
}

/** Nodes of one cluster as processes, each with a home of its own and one directory for the work of all. */
export class Nodes {
  readonly work = temporaryDirectory();
  readonly processes: RuntimeProcess[] = [];
  readonly #homes: { readonly path: string; remove(): void }[] = [];
  readonly #clients: WireClient[] = [];

  constructor(private readonly defaults: NodeStart) {}

  /** The address of the store that all of them share. */
  get store(): string {
    return this.defaults.store;
  }

  /** Starts a node; resolves when clients may come. */
  async start(options: Partial<NodeStart> = {}): Promise<RuntimeProcess> {
    const { store, nats, labels = [], environment, flags = [], program } = { ...this.defaults, ...options };
    const home = temporaryDirectory();
    this.#homes.push(home);
    const node = new RuntimeProcess({
      flags: ['--headless', '--port', '0', ...flags],
      home: home.path,
      workingDirectory: this.work.path,
      ...(program !== undefined && { program }),
      environment: {
        GROUNDCREW_STORE: store,
        GROUNDCREW_NATS: nats,
        ...(labels.length > 0 && { GROUNDCREW_LABELS: labels.join(',') }),
        ...environment,
      },
    });
    this.processes.push(node);
    await node.port();
    return node;
  }

  async connect(node: RuntimeProcess): Promise<WireClient> {
    const client = new WireClient(await node.connect());
    this.#clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await Promise.all(this.processes.map((node) => node.stop()));
    for (const home of [this.work, ...this.#homes]) home.remove();
  }
}
