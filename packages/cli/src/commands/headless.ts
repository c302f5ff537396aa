import type { Socket } from 'node:net';
import type { Environment } from '@groundcrew/models';
import { type Listener, listenSockets, listenTcp, stdioChannel, type TlsIdentity } from '@groundcrew/rpc';
import type { SandboxSettings } from '@groundcrew/runtime';
import { compose, type Program, type ProgramOptions } from '../compose.js';
import { chooseCluster } from '../config/cluster-choice.js';
import { homeDirectory } from '../config/home.js';
import { standingSandbox } from '../config/sandbox-choice.js';
import { readSandboxWord } from '../config/sandbox-text.js';
import { chooseStore } from '../config/store-choice.js';
import { telemetryFor } from '../config/telemetry.js';
import { webhooksFor } from '../config/webhooks.js';
import { channelOptions, maxUntrustedBytes, type ServeChannel } from '../doors/serve-channel.js';
import { entryOf, wholeNumber } from '../flags/arguments.js';
import type { HeadlessArguments } from '../flags/headless-arguments.js';
import { readProtocol } from '../flags/protocol.js';
import type { Log } from '../log/log.js';
import { logLevel } from '../log/log-levels.js';
import { longestTimeout } from '../terminal/stopping.js';
import { ParentWatch, parentIsGone } from './parent-watch.js';
import { Shutdown } from './shutdown.js';

/** What the process gives the command. */
export interface Process {
  readonly environment: Environment;
  readonly workingDirectory: string;
  readonly version: string;
  /** A line for the user who started the program. */
  announce(line: string): void;
  warn(message: string): void;
  exit(code: number): void;
  onSignal(handler: () => void): void;
  /** Nothing more comes on stdin: the process that holds its other end is gone. */
  onInputEnd?(handler: () => void): void;
  /** Takes down the methods that clients ask for. */
  readonly used?: { add(method: string): void };
}

/** What a server that users start says itself, and a client's leaves to the environment. */
export interface ServerOptions extends HeadlessArguments {
  readonly homeDirectory?: string;
  /** Only this machine can connect unless another host is named. */
  readonly host?: string;
  /** What every connection on the port must show. */
  readonly connectionToken?: string;
  /** Speaks TLS on the port; calls back with each certificate that takes the place of the one before. */
  readonly tls?: { readonly identity: TlsIdentity; onRenewal(renew: (identity: TlsIdentity) => void): void };
  /** Looks on what clients ask for. */
  readonly access?: NonNullable<ProgramOptions['access']>;
  readonly watchModels?: NonNullable<ProgramOptions['watchModels']>;
  readonly onKeyHeld?: NonNullable<ProgramOptions['onKeyHeld']>;
  /** Opens the door of several tenants: it takes the connections of the port in the place of the one token. */
  openTenants?(program: Program): Promise<OpenTenants>;
  /** On a port: the process that started it holds its stdin, and it ends with that. */
  readonly endsWithInput?: boolean;
  readonly log?: Log;
  /** Milliseconds without a client after which it ends, once the process that started it is gone; default: never. */
  readonly orphanPatience?: number;
  /** Where commands of sessions run that say nothing of it. */
  readonly sandbox?: SandboxSettings;
  /** The address of NATS, and what this node has that sessions may need. */
  readonly nats?: string;
  readonly labels?: readonly string[];
  /** How long a node waits for turns and clients before it ends. */
  readonly drainSeconds?: number;
  /** What is measured is asked for over HTTP. */
  readonly wantsMetrics?: boolean;
  /** Opens another door beside the port; resolves with the lines that announce it, and how it is closed. */
  openDoor?(program: Program, serve: ServeChannel): Promise<OpenDoor>;
  /** Called with what users should know; what ends the program goes to the process. */
  warn(message: string): void;
}

/** The door of several tenants. */
export interface OpenTenants {
  /** Takes a connection until it is over. */
  take(socket: Socket, serve: ServeChannel): Promise<void>;
  /** Leaves the sessions of tenants to other nodes, within so many milliseconds. */
  drain(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

/** A door beside the port. */
export interface OpenDoor {
  readonly lines: readonly string[];
  close(): Promise<void>;
}

/** Serves clients on stdio or a port until they are done with it. */
export async function runHeadless(flags: HeadlessArguments, process: Process): Promise<void> {
  const { environment } = process;
  const { COPILOT_CONNECTION_TOKEN: connectionToken, GROUNDCREW_LOG: path } = environment;
  const endsWithInput = Boolean(environment.GROUNDCREW_END_WITH_STDIN);
  const log = path ? await openServerLog({ path, level: flags.logLevel }, process) : undefined;
  const isQuiet = flags.logLevel === 'none' || flags.logLevel === 'error';
  const warn = (message: string) => {
    log?.write('warning', message);
    if (!isQuiet) process.warn(message);
  };
  await runServer(
    {
      ...flags,
      warn,
      endsWithInput,
      orphanPatience: orphanPatience(environment),
      ...(connectionToken && { connectionToken }),
      ...(log && { log }),
    },
    process,
  );
}

/** Serves clients by what the options say, and by nothing else. */
export async function runServer(options: ServerOptions, process: Process): Promise<void> {
  const { log } = options;
  for (const warning of options.warnings) options.warn(warning);
  const shutdown = new Shutdown(() => process.exit(0), log);
  const from = optionsFrom(options, process, shutdown);
  const store = await chooseStore({ ...from, given: options.store });
  const telemetry = await telemetryFor({
    ...from,
    isWanted: options.wantsMetrics ?? false,
    secrets: [from.connectionToken, from.token?.value],
  });
  const cluster = await chooseCluster({ ...options, environment: process.environment, store });
  const openWebhooks = await webhooksFor(from);
  const program = compose({
    ...from,
    telemetry,
    ...(openWebhooks && { openWebhooks }),
    ...(store !== undefined && { store }),
    ...(cluster && { cluster }),
  });
  shutdown.program = program;
  process.onSignal(() => void shutdown.stop());
  if (options.endsWithInput && options.port !== undefined) process.onInputEnd?.(() => void shutdown.end());
  const serve = await serverOf(program, log);
  if (options.port === undefined) {
    await program.join();
    program.loadStore();
    setImmediate(() => program.openStore());
    await serve(stdioChannel({}, channelOptions));
    await shutdown.end();
    return;
  }
  const watched = watchParent(options, shutdown);
  try {
    await program.join();
    const tenants = await options.openTenants?.(program);
    shutdown.tenants = tenants;
    const listener = await listen(options, {
      port: options.port,
      tenants,
      serve: (channel, about) => watched(serve(channel, about)),
    });
    options.tls?.onRenewal((identity) => listener.renew(identity));
    shutdown.drain = { seconds: options.drainSeconds ?? drainSeconds, refuse: () => listener.refuse() };
    // At every log level: the user who started it may not know.
    if (options.connectionToken === undefined) {
      log?.write('warning', openPort);
      process.warn(openPort);
    }
    const door = await options.openDoor?.(program, serve);
    shutdown.door = door;
    log?.write('info', 'listening', { port: listener.port });
    process.announce(`CLI server listening on port ${listener.port}`);
    for (const line of door?.lines ?? []) process.announce(line);
    program.openStore();
  } catch (error) {
    process.warn(`Failed to start server: Error: ${startFailure(error, options.port)}`);
    process.exit(1);
  }
}

interface Listening {
  readonly port: number;
  readonly tenants: OpenTenants | undefined;
  readonly serve: ServeChannel;
}

/** Opens the port: for clients that show the one token, or that of their tenant. */
function listen(
  { host, tls, connectionToken }: ServerOptions,
  { port, tenants, serve }: Listening,
): Promise<Listener> {
  const where = { port, ...(host !== undefined && { host }), ...(tls && { tls: tls.identity }) };
  if (tenants) return listenSockets({ ...where, onSocket: (socket) => void tenants.take(socket, serve) });
  return listenTcp({
    ...where,
    channel: connectionToken === undefined ? channelOptions : { ...channelOptions, maxUntrustedBytes },
    onChannel: (channel) => void serve(channel),
  });
}

/** A process that starts a server on a port, and not by `serve`, is a client: without it the server would be left for good. */
function watchParent(
  { orphanPatience: patience, log }: ServerOptions,
  shutdown: Shutdown,
): (client: Promise<void>) => Promise<void> {
  if (patience === undefined) return (client) => client;
  const end = () => {
    log?.write('info', 'the process that started this one is gone, and no client is connected');
    void shutdown.end();
  };
  const watch = new ParentWatch({ patience, isOrphan: parentIsGone(), end });
  return (client) => watch.during(client);
}

function orphanPatience({ GROUNDCREW_ORPHAN_TIMEOUT: seconds }: Environment): number {
  return 1_000 * (seconds ? wholeNumber(seconds, 'GROUNDCREW_ORPHAN_TIMEOUT', longestTimeout) : 30);
}

/** How long a node waits for turns and clients before it ends, unless another time is named. */
const drainSeconds = 25;

const openPort =
  'No connection token is set: every program on this machine may connect. Set COPILOT_CONNECTION_TOKEN to ask for one.';

/** After a client's shutdown, so long is left to refuse what was under way; one that closes its end ends it at once. */
const lastRequestsMs = 250;

/** Loaded only when there is a file to write to: clients wait for the program to start. */
async function openServerLog(
  file: { readonly path: string; readonly level: string | undefined },
  { environment, version, warn }: Process,
): Promise<Log> {
  const [{ openLog }, { redactorFor }] = await Promise.all([
    import('../log/log.js'),
    import('../log/redact.js'),
  ]);
  const level = logLevel(file.level) ?? logLevel(environment.GROUNDCREW_LOG_LEVEL) ?? 'info';
  const log = openLog({
    redactor: redactorFor(environment),
    file: { path: file.path, level },
    complain: warn,
  });
  log.write('info', 'started', { version, node: process.version });
  return log;
}

/** With a log that wants to know, what clients say passes through it. */
async function serverOf({ server }: Program, log: Log | undefined): Promise<ServeChannel> {
  if (!log?.keeps('debug')) return (channel, about) => server.serve(channel, about);
  const { loggedChannel } = await import('../log/logged-channel.js');
  let peers = 0;
  return (channel, about) => server.serve(loggedChannel(channel, log, ++peers), about);
}

function optionsFrom(options: ServerOptions, process: Process, shutdown: Shutdown): ProgramOptions {
  const { environment } = process;
  const token = tokenFrom(options, environment);
  const { executor } = options;
  const home = options.homeDirectory ?? homeDirectory(environment, { isHeadless: true });
  const sandbox =
    executor === undefined
      ? options.sandbox
      : standingSandbox(environment, home, readSandboxWord(executor, '--sandbox'));
  const connectionToken = options.port === undefined ? undefined : options.connectionToken;
  return {
    version: process.version,
    homeDirectory: home,
    workingDirectory: process.workingDirectory,
    // The token has been read: commands are not to find it under whatever name it came. A runtime that a command starts
    // has a stdin of its own.
    environment: {
      ...environment,
      GROUNDCREW_END_WITH_STDIN: undefined,
      ...(options.authTokenEnv !== undefined && { [options.authTokenEnv]: undefined }),
    },
    sessionIdleSeconds: options.sessionIdleSeconds,
    warn: (message) => options.warn(message),
    onShutdown: () => setTimeout(() => void shutdown.end(), lastRequestsMs),
    addSecrets: (values) => shutdown.cover(values),
    ...(process.used && { used: process.used }),
    clients: clientsOf(options, environment),
    ...(options.skipsInstructions && { skipsInstructions: true }),
    ...(options.fileHooks && { fileHooks: true }),
    ...(sandbox && { sandbox }),
    ...(token && { token }),
    ...(!options.mayLogIn && { ignoresLogin: true }),
    ...(connectionToken && { connectionToken }),
    ...(options.access && { access: options.access }),
    ...(options.watchModels && { watchModels: options.watchModels }),
    ...(options.onKeyHeld && { onKeyHeld: options.onKeyHeld }),
  };
}

/** What is known of clients before they come; the command line goes before the environment. */
function clientsOf(
  { isServerFlag, showsProtocol2, protocol: said }: ServerOptions,
  { GROUNDCREW_PROTOCOL: named, GROUNDCREW_V2_ALLOW_ALL: allowsAll }: Environment,
): ProgramOptions['clients'] {
  const protocol = said ?? (named ? readProtocol(named, 'GROUNDCREW_PROTOCOL') : undefined);
  return {
    ...(protocol !== undefined && { protocol }),
    ...(isServerFlag && { isServerFlag }),
    ...(showsProtocol2 && { showsProtocol2 }),
    ...(allowsAll === '1' && { allowsUnasked: true }),
  };
}

function tokenFrom(flags: HeadlessArguments, environment: Environment): ProgramOptions['token'] {
  const given = flags.authTokenEnv === undefined ? undefined : entryOf(environment, flags.authTokenEnv);
  if (given) return { value: given, source: 'token' };
  const ambient = flags.mayLogIn ? environment.GH_TOKEN || environment.GITHUB_TOKEN : undefined;
  return ambient ? { value: ambient, source: 'env' } : undefined;
}

function startFailure(error: unknown, port: number): string {
  if (!(error instanceof Error)) return String(error);
  const { code, port: taken = port } = error as NodeJS.ErrnoException & { readonly port?: number };
  const flag = taken === port ? '--port' : '--http-port';
  if (code === 'EADDRINUSE')
    return `Address already in use (os error 98): port ${taken}. Choose another, or leave ${flag} out.`;
  return error.message;
}
