import { resolve } from 'node:path';
import { type ModelDirectory, priceBook } from '@groundcrew/model-access';
import type { Environment, KeyHold } from '@groundcrew/models';
import {
  builtinTools,
  type ModelAccess,
  Runtime,
  type RuntimeOptions,
  type SandboxSettings,
  systemClock,
  Workers,
} from '@groundcrew/runtime';
import { eventStream, Server, type ServerEnvironment } from '@groundcrew/server';
import type { ClusterStore, Owner, SessionStore } from '@groundcrew/store';
import { withFileLock } from '@groundcrew/store-sqlite';
import { accountsOf, type HomeAccounts, type ShownToken } from './config/accounts.js';
import { hookDiscoveryOf, hookFilesOf, mcpFilesOf, shellsOf, workerEntry } from './config/child-programs.js';
import type { ClusterChoice } from './config/cluster-choice.js';
import { commandEnvironment } from './config/command-environment.js';
import { allowsExtensions, extensionHost } from './config/extensions.js';
import { homeModels } from './config/home-models.js';
import { mcpConfig } from './config/mcp-config.js';
import { type NamedProviders, namedProviders } from './config/named-providers.js';
import { userRules } from './config/permissions-file.js';
import { standingRetention } from './config/retention.js';
import type { ProgramTelemetry } from './config/telemetry.js';
import { userSettings } from './config/user-settings.js';
import type { OpenWebhooks } from './config/webhooks.js';
import { wireModel } from './config/wire-model.js';
import { namesIn } from './flags/arguments.js';
import { redactorFor } from './log/redact.js';
import { ProgramNode } from './stores/cluster-node.js';
import { Homes } from './stores/homes.js';
import { keepRetention } from './stores/retention-timer.js';

export interface ProgramOptions {
  readonly version: string;
  readonly homeDirectory: string;
  readonly workingDirectory: string;
  readonly environment: Environment;
  readonly token?: ShownToken;
  /** A login of an earlier process is not used. */
  readonly ignoresLogin?: boolean;
  readonly connectionToken?: string;
  readonly sessionIdleSeconds: number;
  /** What the start of the process says of the clients that come. */
  readonly clients?: NonNullable<ServerEnvironment['clients']>;
  /** Sessions read no instructions from files unless they ask for them. */
  readonly skipsInstructions?: boolean;
  /** Where commands of sessions run that say nothing of it; the environment and the home's settings unless given. */
  readonly sandbox?: SandboxSettings;
  /** The address of the PostgreSQL that holds all sessions, as `chooseStore` gives it; default: each home has its own file. */
  readonly store?: string;
  /** This runtime is one of several nodes that share the store. */
  readonly cluster?: ClusterChoice;
  /** Hooks of files run in every session; the environment and the home's settings say so unless given. */
  readonly fileHooks?: boolean;
  /** Watches the work of all sessions; without it nothing does. */
  readonly telemetry?: ProgramTelemetry | undefined;
  /** Models and tools that only repeat what was recorded. */
  readonly playback?: Pick<RuntimeOptions, 'openModels' | 'builtinTools'>;
  /** Covers values in the diagnostics from now on. */
  addSecrets?(values: readonly string[]): void;
  /** Takes down the methods that clients ask for. */
  readonly used?: { add(method: string): void };
  /** Watches what clients ask for; default: nothing does. */
  readonly access?: NonNullable<ServerEnvironment['access']>;
  /** Counts what model calls take; default: nothing does. */
  watchModels?(access: ModelAccess, priceOf: NonNullable<RuntimeOptions['priceOf']>): ModelAccess;
  /** A model service has refused a call because there were too many with its key. */
  onKeyHeld?(held: KeyHold): void;
  /** Sends webhooks about sessions; without it none are sent. */
  readonly openWebhooks?: OpenWebhooks;
  warn(message: string): void;
  /** The client asked the program to end, and everything is closed. */
  onShutdown(): void;
}

/** The whole program, wired. */
export interface Program {
  readonly server: Server;
  /** Loads what every session needs: before the first answer, for the next request may be to resume one. */
  loadStore(): void;
  /** Opens the home's store, if there is one yet. */
  openStore(): void;
  /** Shows this node to the others of its cluster, if it is in one. Throws what is wrong. */
  join(): Promise<void>;
  /** No session is open. */
  hasNoSessions(): boolean;
  /** It is one of several nodes. */
  readonly isNode: boolean;
  /** Leaves sessions to the other nodes: when their turns end, or when the signal is aborted. */
  drain(signal: AbortSignal): Promise<void>;
  /** Calls with this key wait: another process was refused. */
  holdKey(held: KeyHold): void;
  /** What all processes on the same PostgreSQL share; absent where sessions are in a file. */
  readonly shared?: { readonly owner: Owner; cluster(): Promise<ClusterStore> };
  /** Answers a request for the events of a session. */
  events(request: Request): Promise<Response>;
  /** Why no client should be sent here now; undefined when they may come. Rejects where the store cannot be read. */
  readiness(): Promise<string | undefined>;
  /** What was measured, as Prometheus reads it. */
  metrics(): string;
  /** The store of the program's own home. */
  readonly store: SessionStore;
  /** Closes sessions and stores; running turns stay as pending work. */
  close(): Promise<void>;
}

/** Wires stores, models and tools into a server. The only place that knows them all. */
export function compose(options: ProgramOptions): Program {
  const workers = new Workers({ entry: workerEntry });
  const { homes, webhooks } = homesOf(options, workers);
  const accounts = accountsOf(options, async (token) => (await models.userOf(token))?.login);
  const carried = () => server.inference.calls?.exchange;
  const { models, limiter } = homeModels(options, {
    workers,
    carried,
    accounts,
    onHold: (held) => node?.broadcastHold(held),
  });
  const named = namedProviders(resolve(options.homeDirectory), options.environment);
  const node = nodeOf(options, homes, named);
  const runtime = new Runtime({
    home: (configDir) => homes.get(resolve(configDir ?? options.homeDirectory)),
    homeDirectory: resolve(options.homeDirectory),
    ...watchedModels(models, { ...options, named }),
    withFileLock,
    builtinTools: builtinToolsOf(options),
    shells: shellsOf(options),
    jobs: workers,
    // mutation: the rules of the home reach no session
    userRules: userRules(options.homeDirectory),
    hookFiles: hookFilesOf(options),
    mcpFiles: mcpFilesOf(options),
    owner: homes.owner,
    clock: systemClock(),
    version: options.version,
    limits: turnLimits,
    sessionIdleSeconds: options.sessionIdleSeconds,
    ...(node && { cluster: node.seams(() => server) }),
    ...options.playback,
  });
  const endRetention = retentionOf(options, runtime);
  const close = async () => {
    endRetention();
    await node?.drain(AbortSignal.abort());
    await server.shutdown();
    await node?.close();
    await webhooks?.close();
    await workers.close();
    await homes.close();
    await options.telemetry?.close();
  };
  const shutdown = () => close().then(() => void setImmediate(options.onShutdown));
  const parts = { models, runtime, accounts, shutdown };
  const environment = { ...serverEnvironment(options, parts), ...(node && { routing: node }) };
  const server: Server = new Server(runtime, environment);
  return {
    server,
    holdKey: limiter.hold,
    join: async () => node?.start(runtime, server, limiter.hold),
    ...leavingOf(node),
    close,
    ...storesOf(homes, webhooks),
    ...watching({ ...options, runtime, server, homes, node }),
    events: (request) => eventStream({ runtime, store: homes.main }, request),
  };
}

/** What others than sessions do with the stores. */
function storesOf(
  homes: Homes,
  webhooks: ReturnType<OpenWebhooks> | undefined,
): Pick<Program, 'loadStore' | 'openStore' | 'store' | 'shared'> {
  return {
    loadStore: () => homes.main.load(),
    openStore: () => {
      homes.main.warmUp();
      webhooks?.start();
    },
    ...(homes.shared && { shared: { owner: homes.owner, cluster: homes.shared.cluster } }),
    get store() {
      return homes.main;
    },
  };
}

function homesOf(options: ProgramOptions, workers: Workers) {
  const homes: Homes = new Homes({
    ...options,
    searchElsewhere: (step) => workers.run('search', step, { milliseconds: longestSearchStep }),
    ...(options.openWebhooks && { watch: (home, store) => webhooks?.watch(home, store) }),
  });
  const webhooks = options.openWebhooks?.((home) => homes.plain(home), homes.shared?.outbox);
  return { homes, webhooks };
}

function builtinToolsOf({ environment }: ProgramOptions): RuntimeOptions['builtinTools'] {
  return builtinTools({ webFetch: { allowedHosts: namesIn(environment.GROUNDCREW_FETCH_HOSTS) } });
}

interface WatchedParts {
  readonly runtime: Runtime;
  readonly server: Server;
  readonly homes: Homes;
  readonly node: ProgramNode | undefined;
  readonly telemetry?: ProgramTelemetry | undefined;
}

/** What those read who run the program. */
function watching({
  runtime,
  server,
  homes,
  node,
  telemetry,
}: WatchedParts): Pick<Program, 'readiness' | 'metrics' | 'hasNoSessions'> {
  return {
    hasNoSessions: () => runtime.liveCount === 0,
    readiness: async () => {
      if (server.isClosing) return 'it is closing';
      if (node?.isDraining) return 'it is draining';
      await homes.main.list({ limit: 1 });
      return undefined;
    },
    metrics: () => {
      const { rss, heapUsed } = process.memoryUsage();
      return (
        telemetry?.prometheus({
          groundcrew_clients: { value: server.clientCount, help: 'Clients that are connected.' },
          groundcrew_sessions_live: { value: runtime.liveCount, help: 'Sessions that are open here.' },
          process_resident_memory_bytes: { value: rss, help: 'Memory of the process.' },
          process_heap_bytes: { value: heapUsed, help: 'Memory of its values.' },
          process_uptime_seconds: { value: Math.round(process.uptime()), help: 'How long it has run.' },
        }) ?? ''
      );
    },
  };
}

interface WatchingModels extends Pick<ProgramOptions, 'telemetry' | 'watchModels'> {
  readonly named: NamedProviders;
}

/** The way to models; telemetry looks on, where it is on. */
function watchedModels(
  models: ModelDirectory,
  { named, telemetry, watchModels }: WatchingModels,
): Pick<RuntimeOptions, 'openModels' | 'observer' | 'priceOf'> {
  const priceOf = priceBook(() => models.settings());
  const open: RuntimeOptions['openModels'] = async (settings, seams) => {
    const access = await models.open(named.resolve(settings), seams);
    return watchModels ? watchModels(access, priceOf) : access;
  };
  if (!telemetry) return { openModels: open, priceOf };
  return {
    openModels: async (settings, seams) => telemetry.watch(await open(settings, seams), settings),
    observer: telemetry.observer,
    priceOf,
  };
}

const longestSearchStep = 60_000; // a step reads for less than a second; the rest is for locks and a busy machine

const turnLimits: RuntimeOptions['limits'] = {
  toolRounds: 1000,
  queuedPrompts: 1000,
  turnMilliseconds: 24 * 60 * 60 * 1000,
  stopBlocks: 3,
  continuations: 5,
};

/** How the program leaves its sessions to other nodes. */
function leavingOf(node: ProgramNode | undefined): Pick<Program, 'isNode' | 'drain'> {
  return { isNode: node !== undefined, drain: async (signal) => node?.drain(signal) };
}

/** This runtime as one of several nodes, if it is to be one. */
function nodeOf(
  { cluster, version, warn, ...options }: ProgramOptions,
  { shared, owner }: Homes,
  providers: NamedProviders,
): ProgramNode | undefined {
  return cluster && shared
    ? new ProgramNode({
        ...{ ...cluster, store: shared, owner, providers, version, warn },
        homeDirectory: resolve(options.homeDirectory),
      })
    : undefined;
}

interface ServerParts {
  readonly models: ModelDirectory;
  readonly runtime: Runtime;
  readonly accounts: HomeAccounts;
  shutdown(): Promise<void>;
}

/** What the wire side is given by the program around it. */
function serverEnvironment(
  options: ProgramOptions,
  { models, runtime, accounts, shutdown }: ServerParts,
): ServerEnvironment {
  return {
    version: options.version,
    workingDirectory: options.workingDirectory,
    homeDirectory: resolve(options.homeDirectory),
    warnings: options.telemetry?.warnings ?? [],
    authStatus: () => authStatus(accounts.shown),
    listModels: modelLister(models, runtime),
    hookFiles: hookDiscoveryOf(options),
    mcpConfig: mcpConfig(resolve(options.homeDirectory), options.environment),
    ...(allowsExtensions(options.environment) && {
      extensions: extensionHost(
        resolve(options.homeDirectory),
        commandEnvironment(options.environment, resolve(options.homeDirectory)),
      ),
    }),
    plugins: async () =>
      new (await import('./config/plugins.js')).HomePlugins(resolve(options.homeDirectory)),
    userSettings: userSettings(resolve(options.homeDirectory), options.environment),
    accounts,
    redactor: () => redactorFor(options.environment),
    gitHub: gitHub(models, accounts),
    ...(filtersSecrets(options) && {
      addSecrets: (values: readonly string[]) => {
        options.addSecrets(values);
        options.telemetry?.cover(values);
      },
    }),
    shutdown,
    ...(options.connectionToken !== undefined && { connectionToken: options.connectionToken }),
    ...(options.used && { used: options.used }),
    ...(options.access && { access: options.access }),
    ...(options.clients && { clients: options.clients }),
    ...(options.skipsInstructions && { skipsInstructions: true }),
  };
}

/** Deletes what the home's settings no longer keep. */
function retentionOf({ homeDirectory, warn }: ProgramOptions, runtime: Runtime): () => void {
  return keepRetention({
    settings: () => standingRetention(resolve(homeDirectory)),
    prune: (retention) => runtime.stored.prune(retention),
    warn,
  });
}

function modelLister(models: ModelDirectory, runtime: Runtime): ServerEnvironment['listModels'] {
  return async ({ gitHubToken, session }) => {
    const list = session
      ? models.listFor(session.currentSettings, () => runtime.models(session))
      : models.list(gitHubToken);
    return (await list).map(wireModel);
  };
}

/** Clients may add secrets where the process serves one user only, which its environment says. */
function filtersSecrets(
  options: ProgramOptions,
): options is ProgramOptions & Required<Pick<ProgramOptions, 'addSecrets'>> {
  const { COPILOT_ENABLE_SECRET_FILTERING: asked } = options.environment;
  return options.addSecrets !== undefined && asked?.toLowerCase() === 'true';
}

function authStatus(token: ShownToken | undefined): ReturnType<ServerEnvironment['authStatus']> {
  if (!token) return { isAuthenticated: false, statusMessage: 'Not authenticated' };
  const { host = 'https://github.com', login } = token;
  return {
    ...(login !== undefined && { login }),
    isAuthenticated: true,
    authType: token.source,
    host,
    statusMessage: `${host} (via ${token.source})`,
  };
}

/** The user is looked up on request only: a session does not wait for a name. */
function gitHub(models: ModelDirectory, accounts: HomeAccounts): ServerEnvironment['gitHub'] {
  return {
    status: async (sessionToken) => {
      const token = accounts.shown;
      const shown = sessionToken ?? token?.value;
      const user = shown === undefined ? undefined : await models.userOf(shown).catch(() => undefined);
      return {
        ...authStatus(sessionToken === undefined ? token : { source: 'token', value: sessionToken }),
        ...(user?.login !== undefined && { login: user.login }),
        ...(user?.copilotPlan !== undefined && { copilotPlan: user.copilotPlan }),
      };
    },
    quota: async (given) => {
      const shown = given ?? accounts.shown?.value;
      return (shown === undefined ? undefined : await models.userOf(shown))?.quotas ?? {};
    },
  };
}
