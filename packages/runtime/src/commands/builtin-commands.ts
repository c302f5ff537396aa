import type { Methods, Result, SessionMode } from '@groundcrew/protocol';
import type { CompactionResult } from '../compaction/compactor.js';
import type { WindowUse } from '../compaction/summary-call.js';
import { type ModeSession, sessionModes, setMode } from './mode.js';

/** What a client does next when a command was run. */
export type CommandResult = Result<Methods['session.commands.invoke']>;

/** A command that cannot be run, in the words its user reads. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused';
}

/** What the runtime's own commands need of a session. */
export interface BuiltinSession extends ModeSession {
  readonly audience: {
    commands(): readonly { readonly name: string; readonly description?: string }[];
  };
  readonly history: {
    compact(customInstructions: string | undefined, signal: AbortSignal): Promise<CompactionResult>;
  };
  readonly measures: { contextUse(): Promise<WindowUse & { readonly model: string }> };
  /** The model that answers next. */
  model(): Promise<string>;
}

/** A slash command of the runtime's own. */
interface BuiltinCommand {
  readonly description: string;
  readonly input?: { readonly hint: string };
  run(input: string, session: BuiltinSession, signal: AbortSignal): Promise<CommandResult>;
}

/** The runtime's own slash commands, by name. */
export const builtinCommands: Readonly<Record<string, BuiltinCommand>> = {
  autopilot: modeCommand('autopilot', 'Lets the agent go on by itself until its task is done'),
  compact: {
    description: 'Puts a summary in the place of the older messages',
    input: { hint: 'what the summary is to keep' },
    run: async (input, session, signal) => {
      const { success, messagesRemoved } = await session.history.compact(input || undefined, signal);
      const text = success
        ? `A summary stands for ${messagesRemoved} messages.`
        : 'There was nothing to summarise.';
      return { kind: 'text', text };
    },
  },
  context: {
    description: "Shows how full the model's window is, and with what",
    run: async (_input, session) => ({ kind: 'text', text: contextOf(await session.measures.contextUse()) }),
  },
  help: {
    description: 'Lists the commands there are',
    run: async (_input, session) => ({ kind: 'text', text: helpOf(session) }),
  },
  mode: {
    description: 'Shows or changes the mode: interactive, plan or autopilot',
    input: { hint: sessionModes.join(' | ') },
    run: async (input, session) => {
      if (input === '') return chooseMode(session);
      const mode = sessionModes.find((known) => known === input);
      if (!mode) throw new CommandRefused(`The mode is one of ${sessionModes.join(', ')}`);
      await setMode(session, mode);
      return { kind: 'completed', message: `The mode is ${mode}.` };
    },
  },
  model: {
    description: 'Shows the model that answers',
    run: async (input, session) => {
      if (input !== '')
        throw new CommandRefused('/model only shows the model; session.model.switchTo changes it');
      return { kind: 'text', text: `The model is ${await session.model()}.` };
    },
  },
  plan: modeCommand('plan', 'Lets the agent plan: it changes nothing until the plan is approved'),
};

/** Text behind the name becomes a prompt in that mode. */
function modeCommand(mode: SessionMode, description: string): BuiltinCommand {
  return {
    description,
    input: { hint: 'prompt' },
    run: async (input, session) => {
      await setMode(session, mode);
      if (input === '') return { kind: 'completed', message: `The mode is ${mode}.` };
      return { kind: 'agent-prompt', prompt: input, displayPrompt: input, mode };
    },
  };
}

function contextOf(use: WindowUse & { readonly model: string }): string {
  const share = ((100 * use.currentTokens) / use.tokenLimit).toFixed(1);
  const lines = [
    `${use.model}: about ${use.currentTokens} of ${use.tokenLimit} tokens (${share} %)`,
    `system prompt  ${use.systemTokens}`,
    `tools  ${use.toolDefinitionsTokens}`,
    `conversation  ${use.conversationTokens} in ${use.messagesLength} messages`,
  ];
  return lines.join('\n');
}

async function chooseMode(session: ModeSession): Promise<CommandResult> {
  const { mode } = await session.state();
  const options = sessionModes.map((name) => ({ name, description: descriptions[name] }));
  return { kind: 'select-subcommand', command: 'mode', title: `The mode is ${mode}`, options };
}

const descriptions: Readonly<Record<SessionMode, string>> = {
  interactive: 'The agent asks where it needs permission or an answer',
  plan: 'Nothing but the plan is changed',
  autopilot: 'The agent goes on until its task is done',
};

function helpOf(session: BuiltinSession): string {
  const own = Object.entries(builtinCommands).map(([name, { description }]) => `/${name}  ${description}`);
  const ofClients = session.audience
    .commands()
    .map(({ name, description = '' }) => `/${name}  ${description}`.trimEnd());
  return [...own, ...ofClients].sort().join('\n');
}
