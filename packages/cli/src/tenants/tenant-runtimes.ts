import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment, KeyHold } from '@groundcrew/models';
import type { Identity } from '@groundcrew/server';
import type { DayUse, TenantSettings } from '@groundcrew/tenants';
import { namesIn } from '../flags/arguments.js';
import { type BoxPlaces, boxArguments } from './box.js';
import type { Bwrap } from './find-bwrap.js';
import type { FromTenant, TenantStart } from './tenant-messages.js';
import { TenantProcess } from './tenant-process.js';
import type { TenantWebhooks } from './tenant-webhooks.js';

/** What all tenants' runtimes are started with. */
export interface TenantRuntimesOptions extends Omit<TenantStart, TenantOwn> {
  /** The home of the operator; the tenants' lie in it. */
  readonly homeDirectory: string;
  /** Bubblewrap; without it nothing but the runtime keeps tenants from one another's files. */
  readonly bwrap: Bwrap | undefined;
  /** The program that is started, before its own arguments. */
  readonly program: readonly string[];
  /** Files of the operator that no box may show. */
  secretFiles(): readonly string[];
  /** The directories of all tenants; each box shows its own. */
  directories(): readonly string[];
  settingsOf(tenant: string): TenantSettings;
  usedBy(tenant: string): DayUse;
  readonly webhooks: Pick<TenantWebhooks, 'endpoints' | 'answer'>;
  /** The PostgreSQL with the sessions of a tenant; default: a file of its home. */
  storeOf?(tenant: string): string;
  onMessage(tenant: string, message: FromTenant): void;
}

type TenantOwn =
  | 'kind'
  | 'tenant'
  | 'secret'
  | 'socketPath'
  | 'homeDirectory'
  | 'workingDirectory'
  | 'settings'
  | 'webhooks'
  | 'store'
  | 'used';

/** Where its runtime listens, in a tenant's box. */
const socketInBox = '/run/groundcrew';
/** The runtime of a tenant without clients for so long ends, unless sessions are open in it. */
const stopAfterMs = 10 * 60_000;
const lookEveryMs = 60_000;

interface RunningTenant {
  readonly process: Promise<TenantProcess>;
  readonly places: string;
  clients: number;
  emptySince: number;
}

/** The runtimes of all tenants, each a process that is started when its first client comes. */
export class TenantRuntimes {
  private readonly running = new Map<string, RunningTenant>();
  private readonly timer: NodeJS.Timeout;
  private isClosed = false;

  constructor(private readonly options: TenantRuntimesOptions) {
    this.timer = setInterval(() => this.stopIdle(), lookEveryMs).unref();
  }

  /** The runtime of a tenant, for as long as `done` has not been called. Rejects with why it cannot be had. */
  async enter({ tenant }: Identity): Promise<{ readonly process: TenantProcess; done(): void }> {
    const entry = this.running.get(tenant) ?? this.start(tenant);
    entry.clients += 1;
    const done = () => {
      entry.clients -= 1;
      entry.emptySince = Date.now();
    };
    try {
      return { process: await entry.process, done: once(done) };
    } catch (error) {
      done();
      throw error;
    }
  }

  /** The settings have changed: new quotas hold at once, other directories and webhooks with a new process. */
  settingsChanged(): void {
    for (const [tenant, { process, places }] of this.running) {
      const settings = this.options.settingsOf(tenant);
      process.then(
        (each) =>
          placesOf(settings) === places ? each.send({ kind: 'settings', settings }) : void each.stop(),
        () => undefined,
      );
    }
  }

  /** Starts the runtimes of these tenants. Resolves when all have been tried. */
  async wake(tenants: readonly string[]): Promise<void> {
    for (const tenant of tenants)
      try {
        (await this.enter({ tenant, role: 'observer', subject: '' })).done();
      } catch (error) {
        this.options.onMessage(tenant, { kind: 'warning', message: (error as Error).message });
      }
  }

  /** Whether the runtime of a tenant is here. */
  has(tenant: string): boolean {
    return this.running.has(tenant);
  }

  /** A model service has refused a call: all runtimes hold its key; the one that reported it does so already. */
  hold(held: KeyHold, reportedBy?: string): void {
    for (const [tenant, { process }] of this.running)
      if (tenant !== reportedBy)
        process.then(
          (each) => each.send({ kind: 'held', held }),
          () => undefined,
        );
  }

  /** Hands the sessions of all tenants over to other nodes. No runtime is started any more. */
  async drain(milliseconds: number): Promise<void> {
    this.isClosed = true;
    const all = [...this.running.values()].map(({ process }) =>
      process.then((each) => each.drain(milliseconds)),
    );
    await Promise.allSettled(all);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    const all = [...this.running.values()].map(({ process }) => process.then((each) => each.stop()));
    await Promise.allSettled(all);
  }

  private start(tenant: string): RunningTenant {
    if (this.isClosed) throw new Error('The server is shutting down');
    const settings = this.options.settingsOf(tenant);
    const entry: RunningTenant = {
      process: this.startProcess(tenant, settings),
      places: placesOf(settings),
      clients: 0,
      emptySince: Date.now(),
    };
    this.running.set(tenant, entry);
    const leave = () => {
      if (this.running.get(tenant) === entry) this.running.delete(tenant);
    };
    entry.process.then(({ ended }) => ended.then(leave), leave);
    return entry;
  }

  private async startProcess(tenant: string, settings: TenantSettings): Promise<TenantProcess> {
    const {
      homeDirectory,
      bwrap,
      program,
      settingsOf: _,
      secretFiles,
      directories: directoriesOfAll,
      usedBy,
      webhooks,
      storeOf,
      onMessage,
      ...common
    } = this.options;
    const place = makePlace(homeDirectory, tenant);
    const directories = (settings.directories ?? [place.work]).map((path) => realpathSync(path));
    const [workingDirectory = place.work] = directories;
    const sockets = socketDirectory(place.run);
    const start: TenantStart = {
      ...common,
      kind: 'start',
      tenant,
      settings,
      webhooks: await webhooks.endpoints(tenant),
      used: usedBy(tenant),
      ...(storeOf && { store: storeOf(tenant) }),
      secret: randomBytes(32).toString('base64url'),
      socketPath: join(bwrap === undefined ? sockets : socketInBox, 'door'),
      homeDirectory: place.home,
      workingDirectory,
      environment: {
        ...tenantEnvironment(common.environment),
        GROUNDCREW_HOME: place.home,
        HOME: place.user,
      },
    };
    const { readOnly = [] } = settings;
    const hidden = [homeDirectory, ...directoriesOfAll()];
    const box = boxOf(place, { directories, readOnly, sockets, hidden, secretFiles: secretFiles() });
    const node = [realpathSync(process.execPath), ...program] as const;
    const started = TenantProcess.start({
      command: node,
      ...(bwrap && { box: { ...bwrap, parameters: boxArguments(box) } }),
      environment: plainEnvironment(common.environment, place.user),
      start,
      socketPath: join(sockets, 'door'),
      onMessage: (message) => {
        if (message.kind === 'keep')
          void webhooks.answer(tenant, message).then(async (answer) => (await started).send(answer));
        else onMessage(tenant, message);
      },
    });
    const clear = () => rmSync(sockets, { recursive: true, force: true });
    started.then(({ ended }) => ended.then(clear), clear);
    return started;
  }

  private stopIdle(): void {
    for (const { process, clients, emptySince } of this.running.values())
      if (clients === 0 && Date.now() - emptySince > stopAfterMs)
        process.then(
          (each) => each.send({ kind: 'stop-if-idle' }),
          () => undefined,
        );
  }
}

/** A socket has a name of some hundred characters at most. */
const longestPlace = 90;

/** Where the socket of this server's process lies; those of processes that were killed are cleared away. */
function socketDirectory(run: string): string {
  for (const name of readdirSync(run))
    if (!isAlive(Number(name))) rmSync(join(run, name), { recursive: true, force: true });
  const own = join(run, String(process.pid));
  if (own.length > longestPlace) return mkdtempSync(join(tmpdir(), 'groundcrew-'));
  mkdirSync(own, { mode: 0o700, recursive: true });
  return own;
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Settings whose change needs a new process: the directories of its box, and its webhooks. */
function placesOf({ directories = [], readOnly = [], webhooks = [] }: TenantSettings): string {
  return JSON.stringify([directories, readOnly, webhooks]);
}

/** The directories of a tenant, which only this user may look into. */
function makePlace(homeDirectory: string, tenant: string) {
  const own = join(homeDirectory, 'tenants', tenant);
  const place = { home: 'home', work: 'work', user: 'user', run: 'run', temporary: 'tmp' };
  const made = Object.entries(place).map(([name, directory]) => {
    const path = join(own, directory);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return [name, realpathSync(path)];
  });
  return Object.fromEntries(made) as typeof place;
}

/** What the box of a tenant shows. */
function boxOf(
  place: ReturnType<typeof makePlace>,
  parts: Pick<BoxPlaces, 'readOnly' | 'secretFiles' | 'hidden'> & {
    readonly directories: readonly string[];
    readonly sockets: string;
  },
): BoxPlaces {
  const { directories, readOnly, sockets, secretFiles, hidden } = parts;
  return {
    writable: [place.home, place.user, ...directories],
    readOnly,
    bound: [
      { source: place.temporary, path: '/tmp' },
      { source: sockets, path: socketInBox },
    ],
    secretFiles,
    hidden,
    workingDirectory: place.home,
  };
}

/**
 * Of the operator's variables those that the runtime goes by, and what every program needs: commands of tenants are to find
 * nothing else there. What opens the door, the store or NATS is not among them.
 */
function tenantEnvironment(environment: Environment): Environment {
  const { GROUNDCREW_SHELL_ENV = '', GROUNDCREW_HEADER_ENV = '' } = environment;
  const named = new Set([...namesIn(GROUNDCREW_SHELL_ENV), ...namesIn(GROUNDCREW_HEADER_ENV)]);
  const kept = Object.entries(environment).filter(
    ([name]) => named.has(name) || (given.test(name) && !withheld.test(name)),
  );
  return Object.fromEntries(kept);
}

const given =
  /^(?:GROUNDCREW_|COPILOT_|OPENAI_|ANTHROPIC_|AZURE_OPENAI_|OLLAMA_|LC_|SSL_CERT_|(?:PATH|LANG|TZ|TERM|SHELL|NODE_EXTRA_CA_CERTS)$|.*_PROXY$)/i;
const withheld =
  /^(?:GROUNDCREW_(?:TOKEN|STORE|NATS|LABELS|HOME|LOG|PROVIDERS|EXTENSIONS|END_WITH_STDIN)|COPILOT_(?:CONNECTION_TOKEN|HOME|OTEL_.*))$/;

/** What the process itself needs; what opens anything is sent to it. */
function plainEnvironment({ PATH, LANG, TZ, LC_ALL }: Environment, home: string): Record<string, string> {
  const given = { PATH, LANG, TZ, LC_ALL, HOME: home };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
