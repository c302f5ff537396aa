import * as z from 'zod/mini';
import { method } from '../define.js';
import { openEnum, openObject } from '../schema.js';

/** The client gives the GitHub token of a session. */
export const gitHubTokenCallbacks = {
  'gitHubToken.getToken': method(
    'Asks for the GitHub token of a session: before it is opened, and before a prompt when an hour or less of the last one is left.',
    () =>
      openObject({
        registrationId: z.string(),
        host: z.string(),
        sessionId: z.optional(z.string()),
        reason: openEnum(['initial', 'refresh']),
      }),
    () =>
      openObject({
        kind: openEnum(['token', 'cancelled']),
        accessToken: z.optional(z.string()),
        tokenType: z.optional(z.string()),
        expiresIn: z.optional(z.number()),
      }),
  ),
};
