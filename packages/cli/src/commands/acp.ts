import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { EditorContext } from '@groundcrew/acp-agent';
import { isCopilotConfigured } from '@groundcrew/model-access';
import { particular, permits } from '../config/allow-rules.js';
import { type Config, configFlags, readConfig } from '../config/config.js';
import { placeOf } from '../dialogue/place.js';
import { switchFlag } from '../flags/flags.js';
import { openRuntimeClient } from '../screen/runtime-client.js';
import { serverFlags, serverOf, withoutOwnService } from '../sessions/server-choice.js';
import { ownProvider } from '../sessions/session-choice.js';
import { describeRequest } from '../terminal/describe.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { defineCommand } from './command.js';
import { openCommandLog } from './command-log.js';

const { sessionIdleTimeout: _, noStreaming: __, ...settings } = configFlags;

/** `groundcrew --acp`: sessions for an editor that speaks the Agent Client Protocol. */
export const acp = defineCommand({
  usage: ['groundcrew --acp [flags]'],
  summary: 'Serves an editor that speaks the Agent Client Protocol, on stdin and stdout',
  flags: {
    ...settings,
    ...serverFlags,
    stdio: switchFlag('--stdio', 'speak on stdin and stdout, as it does anyway'),
  },
  notes: `Editors start it: see docs/acp.md. Only messages of the protocol go to stdout; warnings go to stderr.
The runtime is a process of its own, started again when it is gone; sessions go on from what is stored.`,
  run: async ({ flags }, terminal) => {
    const server = serverOf(flags, terminal);
    const settled = readConfig(flags, terminal.environment);
    const config = server ? withoutOwnService(settled, flags) : settled;
    const { log, redactor } = openCommandLog(config, terminal);
    if (server?.token !== undefined) redactor.register(server.token);
    const { executor } = config.sandbox ?? {};
    const { client, close } = openRuntimeClient(
      { config, log, ...(server && { server }), ...(executor !== undefined && { executor }) },
      terminal,
      {
        onConnectionLost: ({ error, willReconnect }) =>
          log.write('warning', `${error.message}${willReconnect ? '; trying again' : ''}`),
        onReconnected: () => log.write('warning', 'connected again'),
      },
    );
    const stop = new AbortController();
    terminal.onStop(() => stop.abort());
    try {
      const { serveEditor } = await loadAgent();
      const context = contextOf({ config, client, hasServer: server !== undefined }, terminal);
      const streams = { input: process.stdin, output: process.stdout };
      await serveEditor(
        { ...context, warn: (message) => log.write('warning', message) },
        streams,
        stop.signal,
      );
      return exitCodes.done;
    } finally {
      await close();
      log.close();
    }
  },
});

function loadAgent(): Promise<typeof import('@groundcrew/acp-agent')> {
  const require = createRequire(import.meta.filename);
  const { loadAgent: load } = require(join(import.meta.dirname, '../bin/load-agent.js')) as {
    loadAgent(): Promise<typeof import('@groundcrew/acp-agent')>;
  };
  return load();
}

interface AcpParts {
  readonly config: Config;
  readonly client: EditorContext['client'];
  readonly hasServer: boolean;
}

function contextOf({ config, client, hasServer }: AcpParts, terminal: Terminal): Omit<EditorContext, 'warn'> {
  const { environment, version, workingDirectory } = terminal;
  const approved = [...particular(config.allow)];
  return {
    version,
    client,
    defaults: {
      clientName: 'groundcrew-acp',
      // A command of the user's own has the servers and skills of their files.
      enableConfigDiscovery: true,
      ...(config.model !== undefined && { model: config.model }),
      ...ownProvider(config, environment),
    },
    missingService: async () => {
      if (config.provider || isCopilotConfigured(environment) || hasServer) return undefined;
      return 'No model service is configured, so the offline model answers. Give the agent a key in its environment, such as OPENAI_API_KEY or ANTHROPIC_API_KEY, or run groundcrew doctor.';
    },
    opened: async (session) => {
      if (approved.length === 0) return;
      await session.call('session.permissions.configure', { rules: { approved, denied: [] } });
    },
    approvals: {
      describeRequest,
      isAllowed: (request, invocation) => permits(config.allow, request, invocation),
      place: (session) => placeOf(session, workingDirectory),
    },
  };
}
