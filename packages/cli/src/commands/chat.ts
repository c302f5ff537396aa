import { Chat } from '../chat/chat.js';
import { type Config, configFlags, readConfig } from '../config/config.js';
import { UsageError } from '../flags/arguments.js';
import { type Flag, type FlagValues, switchFlag } from '../flags/flags.js';
import { Notices } from '../screen/notices.js';
import { runScreen } from '../screen/run-screen.js';
import { openLocalClient } from '../sessions/local-client.js';
import {
  type ServerChoice,
  serverFlags,
  serverOf,
  tokenFault,
  withoutOwnService,
} from '../sessions/server-choice.js';
import { openServerClient } from '../sessions/server-client.js';
import { sessionFlags } from '../sessions/session-choice.js';
import { Display } from '../terminal/display.js';
import { LineInput } from '../terminal/line-input.js';
import type { Terminal } from '../terminal/terminal.js';
import { WaitingIndicator } from '../terminal/waiting-indicator.js';
import { defineCommand } from './command.js';
import { openCommandLog } from './command-log.js';

const { sessionIdleTimeout: _, ...settings } = configFlags;

const plainFlag: Flag<true> = {
  names: ['--plain', '--screen-reader'],
  help: 'talk line by line, as pipes and dumb terminals do',
  read: () => true,
};

const themes = ['light', 'dark', 'none'] as const;

const flags = {
  ...settings,
  ...sessionFlags,
  plain: plainFlag,
  ...serverFlags,
  theme: {
    names: ['--theme'],
    placeholder: 'THEME',
    help: `colours for a ${themes.slice(0, 2).join(' or ')} background, or ${themes[2]}`,
    read: readTheme,
  } satisfies Flag<(typeof themes)[number]>,
  noColor: switchFlag('--no-color', 'no colours; so does NO_COLOR'),
};

type ChatFlags = FlagValues<typeof flags>;

/** `groundcrew`: a conversation, on the whole of a terminal or line by line. */
export const chat = defineCommand({
  usage: ['groundcrew [flags]'],
  summary: 'Talks with a model; /help lists the commands',
  flags,
  acceptsPeerFlags: true,
  notes: 'Ctrl-C stops the answer, twice it ends the program; so does the end of the input.',
  run: async ({ flags: given }, terminal) => {
    const server = serverOf(given, terminal);
    const settled = readConfig(given, terminal.environment);
    const config = server ? withoutOwnService(settled, given) : settled;
    const run = isScreen(given, terminal) ? runOnScreen : runByLine;
    try {
      return await run({ given, config, server }, terminal);
    } catch (error) {
      throw server ? tokenFault(error, server) : error;
    }
  },
});

interface ChatParts {
  readonly given: ChatFlags;
  readonly config: Config;
  readonly server: ServerChoice | undefined;
}

async function runOnScreen({ given, config, server }: ChatParts, terminal: Terminal): Promise<number> {
  const notices = new Notices();
  const { environment, version } = terminal;
  const { log, redactor } = openCommandLog(config, { environment, version, errorOutput: notices });
  if (server?.token !== undefined) redactor.register(server.token);
  const { executor } = config.sandbox ?? {};
  const undo = terminal.onWarning((message) => log.write('warning', message));
  try {
    return await runScreen(
      {
        config,
        flags: given,
        theme: themeFor(given, terminal),
        log,
        redactor,
        notices,
        ...(server && { server }),
        ...(executor !== undefined && { executor }),
      },
      terminal,
    );
  } finally {
    undo();
    for (const line of notices.left) terminal.errorOutput.write(`${line}\n`);
    log.close();
  }
}

async function runByLine({ given, config, server }: ChatParts, terminal: Terminal): Promise<number> {
  const { log, redactor } = openCommandLog(config, terminal);
  const { client, close } = await (server
    ? openServerClient(server, log)
    : openLocalClient(config, terminal, log));
  const { input, output, errorOutput } = terminal;
  const isTerminal = terminal.inputKind === 'terminal' && output.isTTY === true;
  const lines = new LineInput({ input, output, isTerminal });
  try {
    const indicator = isTerminal && errorOutput.isTTY ? new WaitingIndicator(errorOutput) : undefined;
    const display = new Display({ output, errorOutput, redactor, ...(indicator && { indicator }) });
    return await new Chat({ client, config, flags: given, lines, display, isTerminal }, terminal).run();
  } finally {
    lines.close();
    await close();
    log.close();
  }
}

/** Both ends are a terminal that can move its cursor, and no flag asks for lines. */
function isScreen({ plain }: ChatFlags, terminal: Terminal): boolean {
  const { environment, inputKind, output } = terminal;
  return !plain && environment.TERM !== 'dumb' && inputKind === 'terminal' && output.isTTY === true;
}

function themeFor({ theme, noColor }: ChatFlags, { environment }: Terminal): (typeof themes)[number] {
  if (theme !== undefined) return theme;
  if (noColor || environment.NO_COLOR) return 'none';
  if (environment.GROUNDCREW_THEME) return readTheme(environment.GROUNDCREW_THEME, 'GROUNDCREW_THEME');
  const background = environment.COLORFGBG?.split(';').at(-1);
  return background === '7' || background === '15' ? 'light' : 'dark';
}

function readTheme(value: string, name: string): (typeof themes)[number] {
  const theme = themes.find((each) => each === value);
  if (theme === undefined) throw new UsageError(`${name} needs one of ${themes.join(', ')}, not ${value}`);
  return theme;
}
