import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isCopilotConfigured } from '@groundcrew/model-access';
import type { Session } from '@groundcrew/sdk';
import type { ConnectionWatch, SessionChoice, TerminalContext } from '@groundcrew/terminal';
import { permits } from '../config/allow-rules.js';
import type { Config } from '../config/config.js';
import { placeOf } from '../dialogue/place.js';
import type { FlagValues } from '../flags/flags.js';
import type { Log } from '../log/log.js';
import type { Redactor } from '../log/redact.js';
import { findSessionId, listOf, openSession, type sessionFlags } from '../sessions/session-choice.js';
import { describeRequest } from '../terminal/describe.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import type { Notices } from './notices.js';
import { openRuntimeClient } from './runtime-client.js';

/** What a screen is given. */
export interface ScreenOptions {
  readonly config: Config;
  readonly flags: FlagValues<typeof sessionFlags>;
  readonly theme: TerminalContext['theme'];
  /** The runtime that it attaches to; without one it starts its own. */
  readonly server?: { readonly url: string; readonly token?: string };
  /** Where commands run, if the command line says so. */
  readonly executor?: string;
  readonly log: Log;
  readonly redactor: Redactor;
  readonly notices: Notices;
}

/** Shows sessions on the whole of a terminal, until the user leaves. Resolves with the exit code. */
export async function runScreen(options: ScreenOptions, terminal: Terminal): Promise<number> {
  const require = createRequire(import.meta.filename);
  const { loadTerminal } = require(join(import.meta.dirname, '../bin/load-terminal.js')) as {
    loadTerminal(): Promise<typeof import('@groundcrew/terminal')>;
  };
  const { runTerminal } = await loadTerminal();
  return runTerminal(contextOf(options, terminal));
}

function contextOf(options: ScreenOptions, terminal: Terminal): TerminalContext {
  const { config, redactor } = options;
  const { environment, workingDirectory, version } = terminal;
  const isOffline = !config.provider && !isCopilotConfigured(environment) && !options.server;
  return {
    version,
    // A screen is shown on a real terminal only: these are its two ends.
    input: terminal.input as NodeJS.ReadStream,
    output: terminal.output as NodeJS.WriteStream,
    workingDirectory,
    theme: options.theme,
    reflows: environment.XTERM_VERSION === undefined && environment.TERM !== 'linux',
    historyFile: join(config.homeDirectory, 'prompts.jsonl'),
    redact: (text) => redactor.text(text),
    usualModel: config.model ?? config.provider?.config.modelId ?? (isOffline ? 'offline' : undefined),
    openClient: (watch) => openClient(options, terminal, watch),
    openSession: (client, choice, handlers) => {
      const flags = flagsFor(choice, options, terminal);
      // What tools write can be taken back: `/rewind`.
      const shaped = { ...handlers, enableFileChangeTracking: true };
      const request = { flags, config, workingDirectory, environment, options: shaped };
      const isNew = flags.resume === undefined;
      return openSession(client, request).then((session) => ({ session, isNew }));
    },
    findSession: (client, word) => findSessionId(word, listOf(client)),
    approvals: (session) => approvalsOf(session, options, terminal),
    onStop: (handler) => terminal.onStop(handler),
    exitCodes,
  };
}

/** A session that is opened anew has its directory already; one that is begun gets the user's. */
function flagsFor(
  choice: SessionChoice,
  { flags, server }: ScreenOptions,
  { workingDirectory }: Terminal,
): FlagValues<typeof sessionFlags> {
  const { resume, sessionId, ...shape } = flags;
  if (choice.type === 'resume') return { resume: choice.sessionId };
  if (choice.type === 'first' && resume !== undefined) return { resume, ...shape };
  const isHere = server && isLoopback(server.url);
  return {
    ...(isHere && { cwd: workingDirectory }),
    ...shape,
    ...(choice.type === 'first' && sessionId !== undefined && { sessionId }),
  };
}

async function openClient(options: ScreenOptions, terminal: Terminal, watch: ConnectionWatch) {
  const { notices } = options;
  notices.showBy((line) => watch.onWarning(line));
  const { client, close } = openRuntimeClient(options, terminal, watch);
  const closeAll = () => {
    notices.showBy(undefined);
    return close();
  };
  return { client, close: closeAll };
}

function approvalsOf(
  session: () => Session | undefined,
  { config }: ScreenOptions,
  { workingDirectory }: Terminal,
): ReturnType<TerminalContext['approvals']> {
  return {
    describeRequest,
    isAllowed: (request, invocation) => permits(config.allow, request, invocation),
    place: () => placeOf(session(), workingDirectory),
  };
}

function isLoopback(url: string): boolean {
  return /^(?:http:\/\/)?(?:\d+$|localhost:|127\.|\[::1\]:)/.test(url);
}
