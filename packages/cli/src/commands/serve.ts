import { labelFlag, natsFlag } from '../config/cluster-choice.js';
import { configFlags, readConfig } from '../config/config.js';
import { lastPort } from '../flags/arguments.js';
import { numberFlag, textFlag } from '../flags/flags.js';
import { readProtocol } from '../flags/protocol.js';
import type { Terminal } from '../terminal/terminal.js';
import { defineCommand } from './command.js';
import { openCommandLog } from './command-log.js';
import { type Process, runServer, type ServerOptions } from './headless.js';
import { serverToken } from './server-token.js';

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
    sandbox,
    store,
    nats: natsFlag,
    label: labelFlag,
    sessionIdleTimeout,
    logLevel,
  },
  notes: `The token: that of --token-file, else GROUNDCREW_TOKEN, else COPILOT_CONNECTION_TOKEN, else a random one that is
printed once, on stderr. The line "CLI server listening on port N" on stdout says that clients may come.`,
  run: async ({ flags }, terminal) => {
    const config = readConfig(flags, terminal.environment);
    const { log, redactor } = openCommandLog(config, terminal);
    const print = (line: string) => void terminal.errorOutput.write(`${line}\n`);
    const connectionToken = serverToken(flags.tokenFile, terminal);
    redactor.register(connectionToken);
    if (flags.host !== undefined && !isLoopback(flags.host))
      print(`Anyone who reaches ${flags.host} can try the token, and the traffic is not encrypted.`);
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
        ...(flags.host !== undefined && { host: flags.host }),
      };
      runServer(options, processOf(terminal, { exit: resolve, warn: print })).catch(reject);
    });
  },
});

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
