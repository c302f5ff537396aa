import * as z from 'zod/mini';
import { method } from '../define.js';
import { openObject } from '../schema.js';
import { sessionMode } from '../settings.js';
import { inSession, sessionRef } from './session-ref.js';

/** Interactive, plan or autopilot. */
export const sessionModeMethods = {
  'session.mode.get': method('The mode, as a bare string.', sessionRef, sessionMode),
  'session.mode.set': method(
    'Changes the mode.',
    // Any text, for the handler to answer which modes there are.
    () => inSession({ mode: z.string() }),
    () =>
      openObject({
        status: z.string(),
        modelChanged: z.boolean(),
        warning: z.optional(z.string()),
        message: z.optional(z.string()),
        deprecationWarnings: z.optional(z.array(z.string())),
      }),
  ),
};
