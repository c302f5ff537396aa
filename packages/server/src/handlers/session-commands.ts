import { randomUUID } from 'node:crypto';
import type { Methods } from '@groundcrew/protocol';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.commands.${string}`>;

export const sessionCommandsHandlers: Handlers<Pick<Methods, Names>> = {
  async 'session.commands.list'({ sessionId, includeClientCommands = true }, context) {
    const { audience } = findSession('session.commands.list', sessionId, context);
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
  async 'session.commands.execute'({ sessionId, commandName, args = '' }, context) {
    const session = findSession('session.commands.execute', sessionId, context);
    const isKnown = session.audience.commands().some(({ name }) => name === commandName);
    if (!isKnown) return { error: `Unknown command: ${commandName}` };
    const error = await (await session.requests()).runCommand(commandName, args, context.signal);
    return error === undefined ? {} : { error };
  },
  async 'session.commands.handlePendingCommand'({ sessionId, requestId, error }, context) {
    const session = findSession('session.commands.handlePendingCommand', sessionId, context);
    await session.answer({ kind: 'command', requestId }, { ...(error !== undefined && { error }) });
    return { success: true };
  },
  async 'session.commands.enqueue'({ sessionId, command }, context) {
    const session = findSession('session.commands.enqueue', sessionId, context);
    await session.send({ messageId: randomUUID(), text: command, mode: 'enqueue', isCommand: true }, {});
    return { queued: true };
  },
  async 'session.commands.respondToQueuedCommand'({ sessionId, requestId, result }, context) {
    const session = findSession('session.commands.respondToQueuedCommand', sessionId, context);
    const stopProcessingQueue = result.stopProcessingQueue ?? false;
    return { success: await session.answer({ kind: 'queued_command', requestId }, { stopProcessingQueue }) };
  },
};
