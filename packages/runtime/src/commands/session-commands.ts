import type { Methods, Result, SessionMode } from '@groundcrew/protocol';
import type { Prompt } from '../log/state.js';
import type { ClientRequests } from '../questions/client-requests.js';
import type { SessionSkills } from '../skills/session-skills.js';
import {
  type BuiltinSession,
  builtinCommands,
  CommandRefused,
  type CommandResult,
} from './builtin-commands.js';
import { sessionModes, setMode } from './mode.js';

type ListedCommand = Result<Methods['session.commands.list']>['commands'][number];

/** The session whose commands these are. */
interface CommandSession extends BuiltinSession {
  readonly skills: SessionSkills;
  /** Prompts of MCP servers are commands, too. */
  readonly tools: {
    readonly mcp: {
      commands(): readonly { readonly name: string; readonly description: string; readonly hint?: string }[];
      commandPrompt(name: string, args: string): Promise<string | undefined>;
    };
  };
  requests(): Promise<ClientRequests>;
}

/** Which commands are wanted in a list. */
interface CommandKinds {
  readonly includeBuiltins?: boolean | undefined;
  readonly includeClientCommands?: boolean | undefined;
  readonly includeSkills?: boolean | undefined;
}

/** A prompt that a command makes. */
export type CommandPrompt = Pick<Prompt, 'text' | 'displayText' | 'agentMode'>;

/** The slash commands of a session: those of its clients, the runtime's own, and its skills, and prompts of MCP servers, in this order of precedence. */
export class SessionCommands {
  constructor(private readonly session: CommandSession) {}

  /** The commands there are, each name once. */
  async list({ includeBuiltins = true, includeClientCommands = true, includeSkills = true }: CommandKinds) {
    const { audience, skills } = this.session;
    const ofClients = includeClientCommands ? audience.commands() : [];
    if (includeSkills) await skills.refresh();
    const all: ListedCommand[] = [
      ...ofClients.map(({ name, description = '' }) => ({
        name,
        description,
        kind: 'client' as const,
        allowDuringAgentExecution: true,
      })),
      ...(includeBuiltins ? ownCommands() : []),
      ...(includeSkills ? skills.commands : []).map(({ name, description, argumentHint }) => ({
        name,
        description,
        kind: 'skill' as const,
        allowDuringAgentExecution: false,
        ...(argumentHint !== undefined && { input: { hint: argumentHint } }),
      })),
      ...(includeSkills ? this.session.tools.mcp.commands() : []).map(({ name, description, hint }) => ({
        name,
        description,
        // Clients know no other kind of command that makes a prompt.
        kind: 'skill' as const,
        allowDuringAgentExecution: false,
        ...(hint !== undefined && { input: { hint } }),
      })),
    ];
    return all.filter(({ name }, index) => all.findIndex((each) => each.name === name) === index);
  }

  /** The modes that `setMode` takes. */
  get modes(): typeof sessionModes {
    return sessionModes;
  }

  /** Changes the session's mode; the same mode again is no event. */
  setMode(mode: SessionMode): Promise<void> {
    return setMode(this.session, mode);
  }

  /** Some attached client runs this command. */
  isOfClient(name: string): boolean {
    return this.session.audience.commands().some((command) => command.name === name);
  }

  /** Has the client that declared a command run it; resolves with what went wrong, if anything did. */
  async runByClient(name: string, args: string, signal: AbortSignal): Promise<string | undefined> {
    return (await this.session.requests()).runCommand(name, args, signal);
  }

  /** The prompt that a skill, or an MCP server, makes of a command; undefined when there is none of the name. Throws CommandRefused. */
  async skillPrompt(name: string, args: string): Promise<CommandPrompt | undefined> {
    const { session } = this;
    const command = await session.skills.commandPrompt(name, args);
    if (!command) return this.serverPrompt(name, args);
    const { prompt: text, displayPrompt: displayText, invoked } = command;
    await session.record(invoked);
    return { text, displayText };
  }

  private async serverPrompt(name: string, args: string): Promise<CommandPrompt | undefined> {
    try {
      const text = await this.session.tools.mcp.commandPrompt(name, args);
      return text === undefined ? undefined : { text, displayText: `/${name} ${args}`.trim() };
    } catch (error) {
      throw new CommandRefused(error instanceof Error ? error.message : String(error));
    }
  }

  /** Runs any command but a skill's; undefined when there is no such command. Throws CommandRefused. */
  async run(name: string, input: string, signal: AbortSignal): Promise<CommandResult | undefined> {
    if (this.isOfClient(name)) {
      const error = await this.runByClient(name, input, signal);
      if (error !== undefined) throw new CommandRefused(error);
      return { kind: 'completed' };
    }
    const own = Object.hasOwn(builtinCommands, name) ? builtinCommands[name] : undefined;
    return own?.run(input.trim(), this.session, signal);
  }
}

/** The commands that every session has. */
export function ownCommands(): ListedCommand[] {
  return Object.entries(builtinCommands).map(([name, { description, input }]) => ({
    name,
    description,
    kind: 'builtin' as const,
    allowDuringAgentExecution: true,
    ...(input && { input }),
  }));
}
