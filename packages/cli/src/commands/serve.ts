import { labelFlag, natsFlag } from '../config/cluster-choice.js';
import { configFlags, readConfig } from '../config/config.js';
import { lastPort, UsageError } from '../flags/arguments.js';
import { numberFlag, switchFlag, textFlag } from '../flags/flags.js';
import { readProtocol } from '../flags/protocol.js';
import type { Log } from '../log/log.js';
import type { Redactor } from '../log/redact.js';
import type { Terminal } from '../terminal/terminal.js';
import { defineCommand } from './command.js';
import { openCommandLog } from './command-log.js';
import { type Process, runServer, type ServerOptions } from './headless.js';
import { pageRoutes } from './page-routes.js';
import { serverToken } from './server-token.js';
import { watchRoutes } from './watch-routes.js';
import { openWebDoor, webFlags, webHost, webPort } from './web-door.js';

const { logLevel, sandbox, sessionIdleTimeout, store } = configFlags;

/** `groundcrew serve`: a runtime for clients on a port. */
export const serve = defineCommand({
  usage: ['groundcrew serve [flags]'],
  summary: 'Serves clients of the session protocol on a port; every one must show a token',
  flags: {
    port: numberFlag({
      name: '--port',
      placeholder: 'N',
      help: 'the port; any free one without',
      most: lastPort,
    }),
    host: textFlag('--host', 'H', 'the address to listen on; 127.0.0.1, this machine only, without'),
    protocol: textFlag(
      '--protocol',
      'N',
      'the protocol of the clients: 1, 2 or 3; each client shows it without',
    ),
    tokenFile: textFlag('--token-file', 'F', 'where the token is kept; made if it is missing'),
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
      help: 'one of several nodes: how long it waits for turns and clients before it ends; 25 without',
      most: 3_600,
    }),
    sessionIdleTimeout,
    logLevel,
  },
  notes: `The token: that of --token-file, else GROUNDCREW_TOKEN, else COPILOT_CONNECTION_TOKEN, else a random one that is
printed once, on stderr. The line "CLI server listening on port N" on stdout says that clients may come.
With --http-port a second line, "HTTP door at URL", follows: WebSockets at /rpc carry the same messages, /events?session=ID are its events, and\nURL/#TOKEN is the page that shows sessions.`,
  run: async ({ flags }, terminal) => {
    if (
      flags.httpPort === undefined &&
      (flags.httpHost ?? flags.allowHost ?? flags.allowOrigin ?? flags.health ?? flags.metrics) !== undefined
    )
      throw new UsageError(
        '--http-host, --allow-host, --allow-origin, --health and --metrics need --http-port',
      );
    const config = readConfig(flags, terminal.environment);
    const { log, redactor } = openCommandLog(config, terminal);
    const print = (line: string) => void terminal.errorOutput.write(`${line}\n`);
    const connectionToken = serverToken(flags.tokenFile, terminal);
    redactor.register(connectionToken);
    for (const host of new Set([flags.host, flags.httpHost]))
      if (host !== undefined && !isLoopback(host))
        print(`Anyone who reaches ${host} can try the token, and the traffic is not encrypted.`);
    return new Promise<number>((resolve, reject) => {
      const options: ServerOptions = {
        port: flags.port ?? 0,
        mayLogIn: true,
        sessionIdleSeconds: config.sessionIdleSeconds,
        warnings: [],
        homeDirectory: config.homeDirectory,
        connectionToken,
        log,
        warn: (message) => log.write('warning', message),
        ...(flags.protocol !== undefined && { protocol: readProtocol(flags.protocol, '--protocol') }),
        ...(config.sandbox && { sandbox: config.sandbox }),
        ...(config.store !== undefined && { store: config.store }),
        ...(flags.nats !== undefined && { nats: flags.nats }),
        ...(flags.label && { labels: flags.label }),
        ...(flags.drainTimeout !== undefined && { drainSeconds: flags.drainTimeout }),
        ...(flags.host !== undefined && { host: flags.host }),
        ...(flags.metrics && { wantsMetrics: true }),
        ...(flags.httpPort !== undefined && {
          openDoor: doorOpener(
            { ...flags, httpPort: flags.httpPort },
            { token: connectionToken, log, redactor },
          ),
        }),
      };
      runServer(options, processOf(terminal, { exit: resolve, warn: print })).catch(reject);
    });
  },
});

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
}

function doorOpener(
  flags: DoorFlags,
  { token, log, redactor }: DoorParts,
): NonNullable<ServerOptions['openDoor']> {
  const host = flags.httpHost ?? flags.host;
  return async (program, serve) => {
    const door = await openWebDoor(program, serve, {
      port: flags.httpPort,
      token,
      warn: (text) => log.write('warning', text),
      routes: {
        ...pageRoutes({ store: program.store, redact: (text) => redactor.text(text) }),
        ...watchRoutes(program, flags),
      },
      ...(host !== undefined && { host }),
      ...(flags.allowHost && { allowedHosts: flags.allowHost }),
      ...(flags.allowOrigin && { allowedOrigins: flags.allowOrigin }),
    });
    return { lines: [`HTTP door at ${door.url}`], close: () => door.close() };
  };
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

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}
