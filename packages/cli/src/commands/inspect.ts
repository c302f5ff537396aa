import { randomBytes } from 'node:crypto';
import { configFlags, readConfig } from '../config/config.js';
import { pageRoutes } from '../doors/page-routes.js';
import { UsageError } from '../flags/arguments.js';
import { switchFlag, textFlag } from '../flags/flags.js';
import { openProgram } from '../in-process.js';
import { serverOf } from '../sessions/server-choice.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { defineCommand } from './command.js';
import { openCommandLog } from './command-log.js';
import { openBrowser } from './open-page.js';
import { headerToken } from './server-token.js';
import { addressFlags, openWebDoor, webFlags } from './web-door.js';

const { logLevel, sandbox, sessionIdleTimeout, store } = configFlags;

/** `groundcrew inspect`: the sessions of this home in a page. */
export const inspect = defineCommand({
  usage: ['groundcrew inspect [flags]'],
  summary: 'Shows the sessions of this home in a page, and lets users answer, send and fork there',
  flags: {
    ...addressFlags,
    ...webFlags,
    connect: textFlag(
      '--connect',
      'ADDRESS',
      'the page of a server that runs, by its door over HTTP: 8090, host:8090 or https://host',
    ),
    tokenFile: textFlag(
      '--token-file',
      'F',
      'the file with the token for --connect; default: GROUNDCREW_TOKEN',
    ),
    noOpen: switchFlag('--no-open', 'prints the address only, and opens no browser'),
    sandbox,
    store,
    sessionIdleTimeout,
    logLevel,
  },
  notes: `The address that is printed has a random token behind the #. A user who has it may do all that the page can. Each start makes a new one.
Sessions that another process has open are shown; to answer them, open the page of that process: groundcrew serve --http-port N, then
groundcrew inspect --connect N. That address has the token of the server behind the #.`,
  run: async ({ flags }, terminal) => {
    const server = serverOf(flags, terminal);
    if (server) return openServerPage(server, flags, terminal);
    const config = readConfig(flags, terminal.environment);
    const { log, redactor } = openCommandLog(config, terminal);
    const token = randomBytes(32).toString('base64url');
    redactor.register(token);
    const program = await openProgram({
      homeDirectory: config.homeDirectory,
      workingDirectory: terminal.workingDirectory,
      environment: terminal.environment,
      sessionIdleSeconds: config.sessionIdleSeconds,
      connectionToken: token,
      warn: (message) => log.write('warning', message),
      ...(config.sandbox && { sandbox: config.sandbox }),
      ...(config.store !== undefined && { store: config.store }),
    });
    const stopped = new Promise<void>((resolve) => terminal.onStop(() => resolve()));
    try {
      const door = await openWebDoor(program, (channel, about) => program.server.serve(channel, about), {
        token,
        routes: pageRoutes({ store: program.store, redact: (text) => redactor.text(text) }),
        warn: (text) => log.write('warning', text),
        ...(flags.port !== undefined && { port: flags.port }),
        ...(flags.host !== undefined && { host: flags.host }),
        ...(flags.allowHost && { allowedHosts: flags.allowHost }),
        ...(flags.allowOrigin && { allowedOrigins: flags.allowOrigin }),
      });
      const url = `${door.url}/#${token}`;
      terminal.output.write(`Inspector at ${url}\n`);
      if (!flags.noOpen) openBrowser(url, terminal);
      await stopped;
      await door.close();
      return exitCodes.done;
    } finally {
      await program.close();
      log.close();
    }
  },
});

type InspectFlags = Readonly<Record<string, unknown>> & { readonly noOpen?: boolean };

/** The page is there already: its address, with the token that opens it. */
async function openServerPage(
  { url: given, token }: { readonly url: string; readonly token?: string },
  flags: InspectFlags,
  terminal: Terminal,
): Promise<number> {
  const idle = ownFlags.filter((name) => flags[name] !== undefined);
  if (idle.length > 0)
    throw new UsageError(
      'With --connect the page is that of the server: give it these flags, and not inspect',
    );
  const address = doorAddress(given);
  if (token === undefined)
    throw new UsageError('--connect needs the token of the server: --token-file, or GROUNDCREW_TOKEN');
  const problem = await doorProblem(address, headerToken(token));
  if (problem !== undefined) {
    terminal.errorOutput.write(`${problem}\n`);
    return exitCodes.failed;
  }
  const url = `${address}/#${encodeURIComponent(token)}`;
  terminal.output.write(`Inspector at ${url}\n`);
  if (!flags.noOpen) openBrowser(url, terminal);
  return exitCodes.done;
}

const ownFlags = ['port', 'host', 'allowHost', 'allowOrigin', 'sandbox', 'store', 'sessionIdleTimeout'];

function doorAddress(given: string): string {
  const text = /^\d+$/.test(given) ? `127.0.0.1:${given}` : given;
  const whole = /^https?:\/\//.test(text) ? text : `http://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (
    url === undefined ||
    url.username !== '' ||
    url.pathname !== '/' ||
    url.search !== '' ||
    url.hash !== ''
  )
    throw new UsageError(`--connect: ${given} is no address of a door over HTTP`);
  return url.origin;
}

/** Why the page could not be opened there, in words; undefined when it can. */
async function doorProblem(address: string, token: string): Promise<string | undefined> {
  try {
    const { status } = await fetch(`${address}/known`, {
      headers: { authorization: `Bearer ${token}` },
      redirect: 'error',
      signal: AbortSignal.timeout(patienceMs),
    });
    if (status === 200) return undefined;
    if (status === 401 || status === 429) return `${address} does not know this token`;
    return `What answers at ${address} is no door of groundcrew serve --http-port (it says ${status})`;
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? cause.message : message;
    return `No door over HTTP answers at ${address}: ${why}. A server opens one with --http-port`;
  }
}

const patienceMs = 5_000;
