import type { Methods, Result, SessionMode } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import { Refusal } from './failure.js';
import { modes, setMode } from './modes.js';

type Invoked = Result<Methods['session.commands.invoke']>;

/** A slash command of the runtime's own. */
interface BuiltinCommand {
  readonly description: string;
  readonly input?: { readonly hint: string };
  run(input: string, session: Session): Promise<Invoked>;
}

/** The runtime's own slash commands, by name. */
export const builtinCommands: Readonly<Record<string, BuiltinCommand>> = {
  autopilot: modeCommand('autopilot', 'Lets the agent go on by itself until its task is done'),
  help: {
    description: 'Lists the commands there are',
    run: async (_input, session) => ({ kind: 'text', text: helpOf(session) }),
  },
  mode: {
    description: 'Shows or changes the mode: interactive, plan or autopilot',
    input: { hint: modes.join(' | ') },
    run: async (input, session) => {
      if (input === '') return chooseMode(session);
      const mode = modes.find((known) => known === input);
      if (!mode) throw new Refusal(`The mode is one of ${modes.join(', ')}`);
      await setMode(session, mode);
      return { kind: 'completed', message: `The mode is ${mode}.` };
    },
  },
  plan: modeCommand('plan', 'Lets the agent plan: it changes nothing until the plan is approved'),
};

/** What is said after the name is a prompt for the mode. */
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

async function chooseMode(session: Session): Promise<Invoked> {
  const { mode } = await session.state();
  const options = modes.map((name) => ({ name, description: descriptions[name] }));
  return { kind: 'select-subcommand', command: 'mode', title: `The mode is ${mode}`, options };
}

const descriptions: Readonly<Record<SessionMode, string>> = {
  interactive: 'The agent asks where it needs permission or an answer',
  plan: 'Nothing but the plan is changed',
  autopilot: 'The agent goes on until its task is done',
};

function helpOf(session: Session): string {
  const own = Object.entries(builtinCommands).map(([name, { description }]) => `/${name}  ${description}`);
  const ofClients = session.audience
    .commands()
    .map(({ name, description = '' }) => `/${name}  ${description}`.trimEnd());
  return [...own, ...ofClients].sort().join('\n');
}
