import { randomUUID } from 'node:crypto';
import type { Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.commands.${string}`>;

export const sessionCommandsHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.commands.list'({ includeClientCommands = true }, { session }) {
    const { audience } = session;
    const commands = includeClientCommands ? audience.commands() : [];
    return {
      commands: commands.map(({ name, description = '' }) => ({
        name,
        description,
        kind: 'client' as const,
        allowDuringAgentExecution: true,
      })),
    };
  },
  async 'session.commands.execute'({ commandName, args = '' }, { session, signal }) {
    const isKnown = session.audience.commands().some(({ name }) => name === commandName);
    if (!isKnown) return { error: `Unknown command: ${commandName}` };
    const error = await (await session.requests()).runCommand(commandName, args, signal);
    return error === undefined ? {} : { error };
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
