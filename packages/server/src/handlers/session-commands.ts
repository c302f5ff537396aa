import { randomUUID } from 'node:crypto';
import type { Methods } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.commands.${string}`>;

export const sessionCommandsHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.commands.list'(kinds, { session }) {
    return { commands: await session.commands.list(kinds) };
  },
  async 'session.commands.execute'({ commandName, args = '' }, { session, signal }) {
    const { commands } = session;
    if (!commands.isOfClient(commandName)) {
      const refusal = { error: `Unknown command: ${commandName}` };
      return sendSkill(session, commandName, args).then(
        (isSent) => (isSent ? {} : refusal),
        (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
      );
    }
    const error = await commands.runByClient(commandName, args, signal);
    return error === undefined ? {} : { error };
  },
  async 'session.commands.invoke'({ name: written, input = '' }, { session, signal }) {
    const name = written.replace(/^\//, '');
    const result = await session.commands.run(name, input, signal);
    if (result) return result;
    if (await sendSkill(session, name, input)) return { kind: 'completed' };
    throw new Refusal(`Unknown command: ${name}`);
  },
  async 'session.commands.handlePendingCommand'({ requestId, error }, { session }) {
    await session.answer({ kind: 'command', requestId }, { ...(error !== undefined && { error }) });
    return { success: true };
  },
  async 'session.commands.enqueue'({ command }, { session }) {
    if (command.trim() === '') throw new Refusal('command: a command has a name');
    await session.send({ messageId: randomUUID(), text: command, mode: 'enqueue', isCommand: true }, {});
    return { queued: true };
  },
  async 'session.commands.respondToQueuedCommand'({ requestId, result }, { session }) {
    const { handled, stopProcessingQueue } = result;
    const answer = { handled, stopProcessingQueue: stopProcessingQueue ?? false };
    return { success: await session.answer({ kind: 'queued_command', requestId }, answer) };
  },
};

/** Sends the prompt that a skill makes of a command; false when there is no such skill. */
async function sendSkill(session: Session, name: string, args: string): Promise<boolean> {
  const prompt = await session.commands.skillPrompt(name, args);
  if (!prompt) return false;
  await session.send({ messageId: randomUUID(), mode: 'enqueue', ...prompt }, {});
  return true;
}
