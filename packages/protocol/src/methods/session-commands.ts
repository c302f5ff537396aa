import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, text } from '../fields.js';
import { oneOf, openObject } from '../schema.js';
import { sessionMode } from '../settings.js';
import { inSession, success } from './session-ref.js';

/** Slash commands, run by the clients that declared them. */
export const sessionCommandsMethods = {
  'session.commands.enqueue': method(
    'Puts a command into the queue; clients that registered interest in `command.queued` are offered it.',
    () => inSession({ command: text() }),
    () => openObject({ queued: flag() }),
  ),
  'session.commands.execute': method(
    'Has the client that declared a command run it; answers when it has.',
    () => inSession({ commandName: text(), args: z.optional(text()) }),
    () => openObject({ error: z.optional(text()) }),
  ),
  'session.commands.handlePendingCommand': method(
    'Reports that a command was run, or why it was not.',
    () => inSession({ requestId: text(), error: z.optional(text()) }),
    success,
  ),
  'session.commands.invoke': method(
    'Runs a command of the runtime or any client; answers with what its client is to do next.',
    () => inSession({ name: text(), input: z.optional(text()), origin: z.optional(text()) }),
    () =>
      oneOf('kind', [
        openObject({ kind: z.literal('text'), text: text() }),
        openObject({ kind: z.literal('completed'), message: z.optional(text()) }),
        /** The client sends the prompt. */
        openObject({
          kind: z.literal('agent-prompt'),
          prompt: text(),
          displayPrompt: text(),
          mode: z.optional(sessionMode()),
        }),
        openObject({
          kind: z.literal('select-subcommand'),
          command: text(),
          title: text(),
          options: z.array(openObject({ name: text(), description: text() })),
        }),
      ]),
  ),
  'session.commands.list': method(
    'The commands there are.',
    () =>
      inSession({
        includeBuiltins: z.optional(flag()),
        includeSkills: z.optional(flag()),
        includeClientCommands: z.optional(flag()),
      }),
    () =>
      openObject({
        commands: z.array(
          openObject({
            name: text(),
            description: text(),
            kind: z.enum(['builtin', 'client', 'skill']),
            allowDuringAgentExecution: flag(),
            input: z.optional(openObject({ hint: text() })),
          }),
        ),
      }),
  ),
  'session.commands.respondToQueuedCommand': method(
    'Reports the outcome of a queued command.',
    () =>
      inSession({
        requestId: text(),
        result: openObject({ handled: flag(), stopProcessingQueue: z.optional(z.nullable(flag())) }),
      }),
    success,
  ),
};
