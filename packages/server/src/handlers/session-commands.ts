import { randomUUID } from 'node:crypto';
import type { Methods } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import { builtinCommands } from '../builtin-commands.js';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.commands.${string}`>;

export const sessionCommandsHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.commands.list'(
    { includeBuiltins = true, includeClientCommands = true, includeSkills = true },
    { session },
  ) {
    const { audience, skills } = session;
    const commands = includeClientCommands ? audience.commands() : [];
    if (includeSkills) await skills.refresh();
    const taken = new Set(commands.map(({ name }) => name));
    const own = includeBuiltins ? Object.entries(builtinCommands) : [];
    const ofSkills = includeSkills ? skills.commands.filter(({ name }) => !taken.has(name)) : [];
    return {
      commands: [
        ...commands.map(({ name, description = '' }) => ({
          name,
          description,
          kind: 'client' as const,
          allowDuringAgentExecution: true,
        })),
        ...own
          .filter(([name]) => !taken.has(name))
          .map(([name, { description, input }]) => ({
            name,
            description,
            kind: 'builtin' as const,
            allowDuringAgentExecution: true,
            ...(input && { input }),
          })),
        ...ofSkills.map(({ name, description, argumentHint }) => ({
          name,
          description,
          kind: 'skill' as const,
          allowDuringAgentExecution: false,
          ...(argumentHint !== undefined && { input: { hint: argumentHint } }),
        })),
      ],
    };
  },
  async 'session.commands.execute'({ commandName, args = '' }, { session, signal }) {
    const isKnown = session.audience.commands().some(({ name }) => name === commandName);
    if (!isKnown) return (await runSkill(session, commandName, args)) ?? unknownCommand(commandName);
    const error = await (await session.requests()).runCommand(commandName, args, signal);
    return error === undefined ? {} : { error };
  },
  async 'session.commands.invoke'({ name: written, input = '' }, { session, signal }) {
    const name = written.replace(/^\//, '');
    const isOfClient = session.audience.commands().some((command) => command.name === name);
    if (isOfClient) {
      const error = await (await session.requests()).runCommand(name, input, signal);
      if (error !== undefined) throw new Refusal(error);
      return { kind: 'completed' };
    }
    const own = Object.hasOwn(builtinCommands, name) ? builtinCommands[name] : undefined;
    if (own) return own.run(input.trim(), session);
    if (await runSkill(session, name, input)) return { kind: 'completed' };
    throw new Refusal(`Unknown command: ${name}`);
  },
  async 'session.commands.handlePendingCommand'({ requestId, error }, { session }) {
    await session.answer({ kind: 'command', requestId }, { ...(error !== undefined && { error }) });
    return { success: true };
  },
  async 'session.commands.enqueue'({ command }, { session }) {
    await session.send({ messageId: randomUUID(), text: command, mode: 'enqueue', isCommand: true }, {});
    return { queued: true };
  },
  async 'session.commands.respondToQueuedCommand'({ requestId, result }, { session }) {
    const stopProcessingQueue = result.stopProcessingQueue ?? false;
    return { success: await session.answer({ kind: 'queued_command', requestId }, { stopProcessingQueue }) };
  },
};

/** Sends the prompt that a skill makes of a command; undefined when there is no such skill. */
async function runSkill(session: Session, name: string, args: string): Promise<object | undefined> {
  const command = await session.skills.commandPrompt(name, args);
  if (!command) return undefined;
  const { prompt: text, displayPrompt: displayText, invoked } = command;
  await session.record(invoked);
  await session.send({ messageId: randomUUID(), text, displayText, mode: 'enqueue' }, {});
  return {};
}

function unknownCommand(name: string): { readonly error: string } {
  return { error: `Unknown command: ${name}` };
}
