import * as z from 'zod/mini';
import { method } from '../define.js';
import { openEnum, openObject } from '../schema.js';
import { sessionRef } from './session-ref.js';

/** Who a session is at GitHub. */
export const sessionGitHubAuthMethods = {
  'session.gitHubAuth.getStatus': method(
    'Whose token the session shows, if it shows one; its own, else that of the runtime.',
    sessionRef,
    () =>
      openObject({
        isAuthenticated: z.boolean(),
        authType: z.optional(openEnum(['env', 'token'])),
        host: z.optional(z.string()),
        login: z.optional(z.string()),
        statusMessage: z.optional(z.string()),
        copilotPlan: z.optional(z.string()),
      }),
  ),
};
