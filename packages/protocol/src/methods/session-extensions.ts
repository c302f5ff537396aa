import * as z from 'zod/mini';
import { method } from '../define.js';
import { nothing, openObject } from '../schema.js';
import { inSession, sessionRef } from './session-ref.js';

/** Programs that join a session as clients of their own. */
export const sessionExtensionsMethods = {
  'session.extensions.disable': method(
    'Ends an extension; it stays off in this session.',
    () => inSession({ id: z.string() }),
    nothing,
  ),
  'session.extensions.enable': method('Starts an extension.', () => inSession({ id: z.string() }), nothing),
  'session.extensions.list': method('The extensions of the session, and how they are.', sessionRef, () =>
    openObject({
      extensions: z.array(
        openObject({
          id: z.string(),
          name: z.string(),
          source: z.enum(['project', 'user', 'plugin', 'session']),
          status: z.enum(['running', 'disabled', 'failed', 'starting']),
          pid: z.optional(z.number()),
        }),
      ),
    }),
  ),
  'session.extensions.reload': method(
    'Looks for extensions anew and starts all of them.',
    sessionRef,
    nothing,
  ),
};
