import * as z from 'zod/mini';
import { method } from '../define.js';
import { openObject } from '../schema.js';
import { inSession } from './session-ref.js';

/** Commands that users run beside the model. */
export const sessionShellMethods = {
  'session.shell.cancelUserRequested': method(
    'Ends a command that a user asked for.',
    () => inSession({ requestId: z.string() }),
    () => openObject({ cancelled: z.boolean() }),
  ),
  'session.shell.exec': method(
    'Starts a command; `shell.exit` is sent when it has ended.',
    () =>
      inSession({
        command: z.string(),
        cwd: z.optional(z.string()),
        /** Milliseconds after which it is ended; 0: never. */
        timeout: z.optional(z.number().check(z.nonnegative())),
      }),
    () => openObject({ processId: z.string() }),
  ),
  'session.shell.executeUserRequested': method(
    'Runs a command that a user typed, to its end.',
    () => inSession({ requestId: z.string(), command: z.string() }),
    () =>
      openObject({
        toolCallId: z.string(),
        success: z.boolean(),
        output: z.string(),
        exitCode: z.optional(z.nullable(z.number())),
        error: z.optional(z.string()),
      }),
  ),
  'session.shell.kill': method(
    'Sends a signal to a command that `session.shell.exec` started.',
    () => inSession({ processId: z.string(), signal: z.optional(z.enum(['SIGTERM', 'SIGKILL', 'SIGINT'])) }),
    () => openObject({ killed: z.boolean() }),
  ),
};
