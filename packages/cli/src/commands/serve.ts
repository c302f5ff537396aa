import { resolve as resolvePath } from 'node:path';
import type { Route } from '@groundcrew/http-door';
import { defaultTenant } from '@groundcrew/server';
import { chooseCluster, labelFlag, natsFlag } from '../config/cluster-choice.js';
import { type Config, configFlags, readConfig } from '../config/config.js';
import { chooseStore } from '../config/store-choice.js';
import { pageRoutes } from '../doors/page-routes.js';
import { UsageError } from '../flags/arguments.js';
import { numberFlag, switchFlag, textFlag } from '../flags/flags.js';
import { readProtocol } from '../flags/protocol.js';
import type { Log } from '../log/log.js';
import type { Redactor } from '../log/redact.js';
import type { Tenants } from '../tenants/open-tenants.js';
import type { Terminal } from '../terminal/terminal.js';
import { defineCommand } from './command.js';
import { openCommandLog } from './command-log.js';
import { type Process, runServer, type ServerOptions } from './headless.js';
import {
  chooseListen,
  isLoopback,
  type ListenFlags,
  listenFlags,
  type TlsFiles,
  tlsFrom,
} from './listen-choice.js';
import { httpServerToken, newToken, serverToken } from './server-token.js';
import { watchRoutes } from './watch-routes.js';
import { addressFlags, openWebDoor, webFlags, webHost, webPort } from './web-door.js';

const { logLevel, sandbox, sessionIdleTimeout, store } = configFlags;

/** `groundcrew serve`: a runtime for clients on a port. */
export const serve = defineCommand({
  usage: ['groundcrew serve [flags]'],
  summary: 'Serves clients of the session protocol on a port; every one must show a token',
  flags: {
    ...addressFlags,
    ...listenFlags,
    protocol: textFlag(
      '--protocol',
      'N',
      'the protocol of the clients: 1, 2 or 3; default: found out for each client',
    ),
    tokenFile: textFlag(
      '--token-file',
      'F',
      'the file with the token; it is created with a new token if it is missing',
    ),
    httpPort: webPort,
    httpHost: webHost,
    health: switchFlag('--health', 'the door over HTTP answers /healthz and /readyz, without a token'),
    metrics: switchFlag('--metrics', 'the door over HTTP answers /metrics, for Prometheus, with the token'),
    ...webFlags,
    sandbox,
    store,
    nats: natsFlag,
    label: labelFlag,
    drainTimeout: numberFlag({
      name: '--drain-timeout',
      placeholder: 'S',
      help: 'one of several nodes: how many seconds it waits for turns and clients before it ends; default: 25',
      most: 3_600,
    }),
    sessionIdleTimeout,
    logLevel,
  },
  notes: `The token: that of --token-file, else GROUNDCREW_TOKEN, else COPILOT_CONNECTION_TOKEN, else a random one that is
printed once, on stderr. The line "CLI server listening on port N" on stdout says that clients can connect.
With --http-port a second line, "HTTP door at URL", follows: WebSockets at /rpc carry the same messages,
/events?session=ID has the events of a session, and URL/#TOKEN is the page that shows sessions.`,
  run: async ({ flags }, terminal) => {
    if (
      flags.httpPort === undefined &&
      (flags.httpHost ?? flags.allowHost ?? flags.allowOrigin ?? flags.health ?? flags.metrics) !== undefined
    )
      throw new UsageError(
        '--http-host, --allow-host, --allow-origin, --health and --metrics need --http-port',
      );
    const where = chooseListen(flags);
    const config = readConfig(flags, terminal.environment);
    const { log, redactor } = openCommandLog(config, terminal);
    const print = (line: string) => void terminal.errorOutput.write(`${line}\n`);
    const warn = (message: string) => log.write('warning', message);
    const tls = tlsFrom(flags, warn);
    const tenants = await tenantsFrom(flags, config, { terminal, warn });
    const connectionToken = tenants ? newToken() : tokenFrom(flags, terminal);
    redactor.register(connectionToken);
    for (const line of exposures(flags, where)) print(line);
    return new Promise<number>((resolve, reject) => {
      const options: ServerOptions = {
        port: where.port,
        mayLogIn: true,
        sessionIdleSeconds: config.sessionIdleSeconds,
        warnings: [],
        homeDirectory: config.homeDirectory,
        connectionToken,
        log,
        warn,
        ...(flags.protocol !== undefined && { protocol: readProtocol(flags.protocol, '--protocol') }),
        ...(config.sandbox && { sandbox: config.sandbox }),
        ...(config.store !== undefined && { store: config.store }),
        ...(flags.nats !== undefined && { nats: flags.nats }),
        ...(flags.label && { labels: flags.label }),
        ...(flags.drainTimeout !== undefined && { drainSeconds: flags.drainTimeout }),
        ...(where.host !== undefined && { host: where.host }),
        ...(flags.metrics && { wantsMetrics: true }),
        ...(tls && { tls }),
        ...(tenants && tenantParts(tenants)),
        ...(flags.httpPort !== undefined && {
          openDoor: doorOpener(
            { ...flags, ...where, httpPort: flags.httpPort },
            { token: connectionToken, log, redactor, tls, tenants },
          ),
        }),
      };
      runServer(options, processOf(terminal, { exit: resolve, warn: print })).catch(reject);
    });
  },
});

/** A port alone takes any token: it is shown in a message. */
function tokenFrom(
  { httpPort, tokenFile }: { readonly httpPort?: number; readonly tokenFile?: string },
  terminal: Terminal,
): string {
  return httpPort === undefined ? serverToken(tokenFile, terminal) : httpServerToken(tokenFile, terminal);
}

/** What users should know of who can reach the server. */
function exposures(
  flags: {
    readonly httpHost?: string;
    readonly tlsCert?: string;
    readonly behindProxy?: true;
    readonly tenantsShareFiles?: true;
  },
  { host }: { readonly host?: string },
): readonly string[] {
  const reached = [...new Set([host, flags.httpHost])].filter(
    (each) => each !== undefined && !isLoopback(each),
  );
  const isPlain = flags.tlsCert === undefined && !flags.behindProxy;
  return [
    ...(isPlain
      ? reached.map(
          (each) => `Anyone who reaches ${each} can try the token, and the traffic is not encrypted.`,
        )
      : []),
    ...(flags.tenantsShareFiles
      ? ['Tenants run without a sandbox: what one of them runs can read the files of the others.']
      : []),
  ];
}

/** The door of several tenants, where a file names them. Loaded only then. */
async function tenantsFrom(
  flags: ListenFlags & {
    readonly protocol?: string;
    readonly nats?: string;
    readonly label?: readonly string[];
  },
  config: Config,
  { terminal, warn }: { readonly terminal: Terminal; warn(message: string): void },
): Promise<Tenants | undefined> {
  if (flags.auth === undefined) return undefined;
  const store = await chooseStore({ ...terminal, homeDirectory: config.homeDirectory, given: config.store });
  const cluster = await chooseCluster({
    environment: terminal.environment,
    store,
    ...(flags.nats !== undefined && { nats: flags.nats }),
    ...(flags.label && { labels: flags.label }),
  });
  const { openTenants } = await import('../tenants/open-tenants.js');
  return openTenants({
    auth: flags.auth,
    homeDirectory: resolvePath(config.homeDirectory),
    environment: terminal.environment,
    version: terminal.version,
    sessionIdleSeconds: config.sessionIdleSeconds,
    sharesFiles: flags.tenantsShareFiles === true,
    warn,
    ...(store !== undefined && { store }),
    ...(cluster && { cluster }),
    ...(flags.audit !== undefined && { audit: flags.audit }),
    ...(flags.tlsKey !== undefined && { tlsKey: flags.tlsKey }),
    ...(flags.protocol !== undefined && { protocol: readProtocol(flags.protocol, '--protocol') }),
    ...(config.sandbox && { sandbox: config.sandbox }),
  });
}

function tenantParts(
  tenants: Tenants,
): Pick<ServerOptions, 'openTenants' | 'access' | 'watchModels' | 'onKeyHeld'> {
  return {
    openTenants: async (program) => {
      tenants.join(program);
      return {
        take: (socket, serve) => tenants.door.take(socket, serve),
        drain: (milliseconds) => tenants.drain(milliseconds),
        close: () => tenants.close(),
      };
    },
    onKeyHeld: (held) => tenants.hold(held),
    access: {
      tenant: defaultTenant,
      audit: (entry, { tenant, role, subject }) => tenants.audit.write({ ...entry, tenant, role, subject }),
      admit: tenants.quotas.admit,
    },
    watchModels: (access, priceOf) => tenants.quotas.watch(access, priceOf),
  };
}

interface DoorFlags {
  readonly host?: string;
  readonly httpHost?: string;
  readonly httpPort: number;
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
  readonly health?: boolean;
  readonly metrics?: boolean;
}

interface DoorParts {
  readonly token: string;
  readonly log: Log;
  readonly redactor: Redactor;
  readonly tls: TlsFiles | undefined;
  readonly tenants: Tenants | undefined;
}

function doorOpener(
  flags: DoorFlags,
  { token, log, redactor, tls, tenants }: DoorParts,
): NonNullable<ServerOptions['openDoor']> {
  const host = flags.httpHost ?? flags.host;
  return async (program, serve) => {
    const door = await openWebDoor(program, serve, {
      port: flags.httpPort,
      token,
      warn: (text) => log.write('warning', text),
      routes: {
        ...routesFor(
          tenants?.door.route,
          pageRoutes({ store: program.store, redact: (text) => redactor.text(text) }),
        ),
        ...routesFor(tenants?.door.operatorRoute, watchRoutes(program, flags)),
      },
      ...(tls && { tls: tls.identity }),
      ...(tenants && { tenants: tenants.door }),
      ...(host !== undefined && { host }),
      ...(flags.allowHost && { allowedHosts: flags.allowHost }),
      ...(flags.allowOrigin && { allowedOrigins: flags.allowOrigin }),
    });
    tls?.onRenewal((identity) => door.renew(identity));
    return { lines: [`HTTP door at ${door.url}`], close: () => door.close() };
  };
}

type Routes = Readonly<Record<string, Route>>;

function routesFor(wrap: ((own: Route) => Route) | undefined, routes: Routes): Routes {
  if (!wrap) return routes;
  return Object.fromEntries(Object.entries(routes).map(([path, route]) => [path, wrap(route)]));
}

function processOf(terminal: Terminal, ways: Pick<Process, 'exit' | 'warn'>): Process {
  const { environment, workingDirectory, version, output } = terminal;
  return {
    environment,
    workingDirectory,
    version,
    announce: (line) => void output.write(`${line}\n`),
    ...ways,
    onSignal: (handler) => void terminal.onStop((signal) => signal !== 'SIGPIPE' && handler()),
  };
}
