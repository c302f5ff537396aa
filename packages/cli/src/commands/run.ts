import type { Client, PermissionHandler, ResumeSessionOptions, SessionEvent } from '@groundcrew/sdk';
import { permits } from '../allowed.js';
import { UsageError } from '../arguments.js';
import { defineCommand } from '../command.js';
import { type Config, configFlags, readConfig } from '../config.js';
import { describeRequest } from '../describe.js';
import { openCommandLog } from '../diagnostics.js';
import { Display } from '../display.js';
import { type FlagValues, numberFlag, switchFlag, textFlag } from '../flags.js';
import { openLocalClient } from '../local-client.js';
import { readPipedText } from '../piped-text.js';
import type { Redactor } from '../redact.js';
import { openSession, sessionFlags } from '../session-choice.js';
import { longestTimeout, Stopping } from '../stopping.js';
import { exitCodes, type Terminal } from '../terminal.js';
import { takeTurn } from '../turn.js';

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
  notes: `What is piped in is added to the prompt. A tool that nothing allows is denied.
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
  /** Tools of whoever embeds the command. */
  readonly options?: ResumeSessionOptions;
}

/** Takes one turn and shows it; resolves with the exit code. */
export async function answer(request: RunRequest, terminal: Terminal): Promise<number> {
  const { client, config, redactor, flags: given } = request;
  const display = new Display({ output: terminal.output, errorOutput: terminal.errorOutput, redactor });
  const show = given.json ? jsonLines(terminal) : (event: SessionEvent) => display.show(event);
  const stopping = new Stopping(terminal, given.timeout);
  try {
    const session = await openSession(client, {
      flags: given,
      config,
      workingDirectory: terminal.workingDirectory,
      options: { ...request.options, onPermissionRequest: decideBy(config, display), onEvent: show },
    });
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

/** Nobody is there to be asked: what is not allowed is denied, and people are told how to allow it. */
function decideBy({ allow }: Config, display: Display): PermissionHandler {
  return (request) => {
    if (permits(allow, request)) return { kind: 'approve-once' };
    display.note(`denied: ${describeRequest(request)} (--allow ${request.kind} would permit it)`);
    return { kind: 'user-not-available' };
  };
}

function jsonLines({ output }: Terminal): (event: SessionEvent) => void {
  return (event) => void output.write(`${JSON.stringify(event)}\n`);
}
