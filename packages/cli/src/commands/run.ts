import type {
  Client,
  PermissionHandler,
  ResumeSessionOptions,
  Session,
  SessionEvent,
  UserInputHandler,
} from '@groundcrew/sdk';
import { permits } from '../config/allow-rules.js';
import { type Config, configFlags, readConfig } from '../config/config.js';
import { Dialogue, NoUserError } from '../dialogue/dialogue.js';
import { placeOf } from '../dialogue/place.js';
import { terminalAsker } from '../dialogue/terminal-asker.js';
import { UsageError } from '../flags/arguments.js';
import { type FlagValues, numberFlag, switchFlag, textFlag } from '../flags/flags.js';
import type { Redactor } from '../log/redact.js';
import { openLocalClient } from '../sessions/local-client.js';
import { openSession, sessionFlags } from '../sessions/session-choice.js';
import { takeTurn } from '../sessions/turn.js';
import { describeDenial } from '../terminal/describe.js';
import { Display } from '../terminal/display.js';
import { longestTimeout, Stopping } from '../terminal/stopping.js';
import { exitCodes, hasColours, type Terminal } from '../terminal/terminal.js';
import { visible } from '../terminal/visible.js';
import { defineCommand } from './command.js';
import { openCommandLog } from './command-log.js';
import { readPipedText } from './piped-text.js';

const { sessionIdleTimeout: _, ...settings } = configFlags;

const flags = {
  prompt: textFlag('-p --prompt', 'TEXT', 'what to ask; - takes it from stdin'),
  ...settings,
  ...sessionFlags,
  timeout: numberFlag({
    name: '--timeout',
    placeholder: 'S',
    help: 'stop after so many seconds',
    most: longestTimeout,
  }),
  json: switchFlag('--json', 'print every event as a line of JSON'),
};

/** `groundcrew -p`: one prompt, one answer. */
export const run = defineCommand({
  usage: ['groundcrew -p TEXT [flags]', 'command | groundcrew -p TEXT [flags]'],
  summary: 'Answers one prompt: the answer on stdout, activity on stderr',
  flags,
  acceptsPeerFlags: true,
  notes: `What is piped in is added to the prompt. On a terminal it asks before a tool runs that nothing allows; elsewhere
such a tool is denied.
Exit codes: 0 answered, 1 failed or timed out, 2 wrong usage, 130 stopped by Ctrl-C.`,
  run: async ({ flags: given }, terminal) => {
    const config = readConfig(given, terminal.environment);
    const { log, redactor } = openCommandLog(config, terminal);
    const prompt = readPrompt(given.prompt ?? '', terminal);
    const opening = openLocalClient(config, terminal, log);
    const [promptRead, opened] = await Promise.allSettled([prompt, opening]);
    if (opened.status === 'rejected') throw opened.reason;
    const { client, close } = opened.value;
    try {
      if (promptRead.status === 'rejected') throw promptRead.reason;
      return await answer({ client, config, redactor, flags: given, prompt: promptRead.value }, terminal);
    } finally {
      await close();
      log.close();
    }
  },
});

/** What one run goes by. */
export interface RunRequest {
  readonly client: Client;
  readonly config: Config;
  readonly redactor: Redactor;
  readonly flags: FlagValues<typeof flags>;
  readonly prompt: string;
  /** Tools of the app that embeds the command. */
  readonly options?: ResumeSessionOptions;
}

/** Takes one turn and shows it; resolves with the exit code. */
export async function answer(request: RunRequest, terminal: Terminal): Promise<number> {
  const { client, config, redactor, flags: given } = request;
  const display = new Display({ output: terminal.output, errorOutput: terminal.errorOutput, redactor });
  const show = given.json ? jsonLines(terminal) : (event: SessionEvent) => display.show(event);
  const stopping = new Stopping(terminal, given.timeout);
  let opened: Session | undefined;
  const at = { display, stopping, session: () => opened };
  try {
    const session = await openSession(client, {
      flags: given,
      config,
      workingDirectory: terminal.workingDirectory,
      environment: terminal.environment,
      options: { ...request.options, ...questionsFor(request, terminal, at), onEvent: show },
    });
    opened = session;
    const end = await takeTurn(session, request.prompt, stopping.signal);
    display.endLine();
    if (end.type === 'done') return exitCodes.done;
    const reason = end.type === 'failed' ? end.message : stopping.reason;
    if (reason !== undefined) display.note(`groundcrew: ${reason}`);
    return end.type === 'failed' ? exitCodes.failed : stopping.exitCode;
  } finally {
    stopping.end();
  }
}

async function readPrompt(given: string, terminal: Terminal): Promise<string> {
  const isRequired = given === '-';
  const piped = await readPipedText(terminal, {
    isRequired,
    onSilence: () =>
      terminal.errorOutput.write(
        'groundcrew: reading from stdin; end it with Ctrl-D, or start with </dev/null\n',
      ),
  });
  const prompt = [isRequired ? '' : given, piped.trimEnd()].filter((part) => part !== '').join('\n\n');
  if (prompt.trim() === '') throw new UsageError('-p needs a prompt that says something');
  return prompt;
}

/** Who answers questions: a user at the terminal, or no one. */
function questionsFor(
  { config }: RunRequest,
  terminal: Terminal,
  at: { readonly display: Display; readonly stopping: Stopping; session(): Session | undefined },
): Pick<ResumeSessionOptions, 'onPermissionRequest' | 'onUserInputRequest'> {
  const { display, stopping, session } = at;
  const isTerminal = terminal.inputKind === 'terminal' && terminal.errorOutput.isTTY === true;
  if (!isTerminal)
    return { onPermissionRequest: decideBy(config, display), onUserInputRequest: refuseToAsk(display) };
  const dialogue = new Dialogue({
    asker: terminalAsker(terminal, () => stopping.interrupt()),
    display,
    isTerminal,
    allow: config.allow,
    hasColours: hasColours(terminal),
    place: () => placeOf(session(), terminal.workingDirectory),
  });
  return { onPermissionRequest: dialogue.decide, onUserInputRequest: dialogue.answer };
}

/** No user can be asked: what is not allowed is denied, with a hint on how to allow it. */
function decideBy({ allow }: Config, display: Display): PermissionHandler {
  return (request, invocation) => {
    if (permits(allow, request, invocation)) return { kind: 'approve-once' };
    display.note(describeDenial(request, invocation));
    return { kind: 'user-not-available' };
  };
}

function refuseToAsk(display: Display): UserInputHandler {
  return ({ question }) => {
    display.note(`not asked: ${visible(question)} (there is no terminal)`);
    throw new NoUserError();
  };
}

function jsonLines({ output }: Terminal): (event: SessionEvent) => void {
  return (event) => void output.write(`${JSON.stringify(event)}\n`);
}
