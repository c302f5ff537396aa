import { randomBytes } from 'node:crypto';
import { configFlags, readConfig } from '../config/config.js';
import { pageRoutes } from '../doors/page-routes.js';
import { lastPort } from '../flags/arguments.js';
import { numberFlag, switchFlag, textFlag } from '../flags/flags.js';
import { openProgram } from '../in-process.js';
import { exitCodes } from '../terminal/terminal.js';
import { defineCommand } from './command.js';
import { openCommandLog } from './command-log.js';
import { openBrowser } from './open-page.js';
import { openWebDoor, webFlags } from './web-door.js';

const { logLevel, sandbox, sessionIdleTimeout, store } = configFlags;

/** `groundcrew inspect`: the sessions of this home in a page. */
export const inspect = defineCommand({
  usage: ['groundcrew inspect [flags]'],
  summary: 'Shows the sessions of this home in a page, and lets users answer, send and fork there',
  flags: {
    port: numberFlag({
      name: '--port',
      placeholder: 'N',
      help: 'the port; any free one without',
      most: lastPort,
    }),
    host: textFlag('--host', 'H', 'the address to listen on; 127.0.0.1, this machine only, without'),
    ...webFlags,
    noOpen: switchFlag('--no-open', 'prints the address only, and opens no browser'),
    sandbox,
    store,
    sessionIdleTimeout,
    logLevel,
  },
  notes: `The address that is printed has a random token behind the #: whoever has it may do all that the page can. It is made for this once.
Sessions that another process has open are shown; to answer them, open the page of that process: groundcrew serve --http-port.`,
  run: async ({ flags }, terminal) => {
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
