import { configFlags, readConfig } from '../config/config.js';
import { UsageError } from '../flags/arguments.js';
import { switchFlag, textFlag } from '../flags/flags.js';
import { openLocalClient } from '../sessions/local-client.js';
import { ownProvider } from '../sessions/session-choice.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { defineCommand } from './command.js';
import { openCommandLog } from './command-log.js';
import { httpServerToken } from './server-token.js';
import { addressFlags, webFlags } from './web-door.js';

const { logLevel, sandbox, sessionIdleTimeout, model } = configFlags;

/** `groundcrew mcp serve`: sessions as tools, for any MCP host. */
export const serve = defineCommand({
  usage: ['groundcrew mcp serve [flags]', 'groundcrew mcp serve --http [--port N] [--token-file F]'],
  summary:
    'Serves sessions as tools of an MCP server: on stdin and stdout, or over streamable HTTP with a token',
  flags: {
    http: switchFlag('--http', 'serve over HTTP, at /mcp, instead of stdin and stdout'),
    ...addressFlags,
    ...webFlags,
    tokenFile: textFlag(
      '--token-file',
      'F',
      'the file with the token; it is created with a new token if it is missing',
    ),
    model,
    sandbox,
    sessionIdleTimeout,
    logLevel,
  },
  notes: `The tools: start_session, send_prompt, wait, answer_question, abort_turn, read_events, list_sessions. A session asks the host before
its tools change anything; nothing is approved by itself.
Over HTTP every request shows the token as "Authorization: Bearer …": that of --token-file, else GROUNDCREW_TOKEN, else a random one that is
printed once, on stderr. The line "MCP server listening at URL" on stdout says that hosts can connect.`,
  run: async ({ flags }, terminal) => {
    const { http, port, host, tokenFile, allowHost, allowOrigin } = flags;
    if (!http && (port ?? host ?? tokenFile ?? allowHost ?? allowOrigin) !== undefined)
      throw new UsageError('--port, --host, --token-file, --allow-host and --allow-origin need --http');
    const config = readConfig(flags, terminal.environment);
    const { log, redactor } = openCommandLog(config, terminal);
    const { client, close } = await openLocalClient(config, terminal, log);
    const stop = new AbortController();
    terminal.onStop(() => stop.abort());
    try {
      const { ServedSessions, sessionServer, mcpOverStdio } = await import('@groundcrew/mcp-server');
      const { workingDirectory, version } = terminal;
      const defaults = {
        workingDirectory,
        clientName: 'groundcrew',
        enableConfigDiscovery: true,
        ...(config.model !== undefined && { model: config.model }),
        ...ownProvider(config, terminal.environment),
      };
      const sessions = new ServedSessions(client, defaults);
      const factory = () => sessionServer(sessions, version);
      if (!http) await mcpOverStdio(factory, stop.signal);
      else {
        const token = httpServerToken(tokenFile, terminal);
        redactor.register(token);
        const places = { host, port, allowedHosts: allowHost, allowedOrigins: allowOrigin };
        await overHttp(
          factory,
          { ...places, token, warn: (text) => log.write('warning', text) },
          terminal,
          stop.signal,
        );
      }
      return exitCodes.done;
    } finally {
      await close();
      log.close();
    }
  },
});

interface HttpFlags {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly allowedHosts: readonly string[] | undefined;
  readonly allowedOrigins: readonly string[] | undefined;
  readonly token: string;
  warn(text: string): void;
}

async function overHttp(
  factory: Parameters<typeof import('@groundcrew/mcp-server').mcpOverHttp>[0],
  { token, warn, ...places }: HttpFlags,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { mcpOverHttp } = await import('@groundcrew/mcp-server');
  const { openHttpDoor } = await import('@groundcrew/http-door');
  const web = mcpOverHttp(factory);
  const given = Object.fromEntries(Object.entries(places).filter(([, value]) => value !== undefined));
  const door = await openHttpDoor({
    ...given,
    token,
    routes: { '/mcp': { answer: (request) => web.answer(request) } },
    onFailure: (error) => warn(error instanceof Error ? error.message : String(error)),
  });
  terminal.output.write(`MCP server listening at ${door.url}/mcp\n`);
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await door.close();
  await web.close();
}
