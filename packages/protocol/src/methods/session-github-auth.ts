import * as z from 'zod/mini';
import { method } from '../define.js';
import { openEnum, openObject } from '../schema.js';
import { authInfo } from './account.js';
import { inSession, sessionRef } from './session-ref.js';

/** Who a session is at GitHub. */
export const sessionGitHubAuthMethods = {
  'session.gitHubAuth.getStatus': method(
    "The user whose token the session sends, if any: the session's own, else the runtime's.",
    sessionRef,
    () =>
      openObject({
        isAuthenticated: z.boolean(),
        authType: z.optional(openEnum(['env', 'token', 'user', 'gh-cli'])),
        host: z.optional(z.string()),
        login: z.optional(z.string()),
        statusMessage: z.optional(z.string()),
        copilotPlan: z.optional(z.string()),
      }),
  ),
  'session.gitHubAuth.setCredentials': method(
    "Sets the session's GitHub user: by a token, or as one who has logged in.",
    () => inSession({ credentials: z.optional(authInfo()) }),
    () => openObject({ success: z.boolean(), copilotUserResolved: z.optional(z.boolean()) }),
  ),
};
