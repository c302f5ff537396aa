import * as z from 'zod/mini';
import { method } from '../define.js';
import { openEnum, openObject } from '../schema.js';

/** The client works on something that the session keeps track of. */
export const taskCallbacks = {
  'tasks.cancel': method(
    'Asks the owner of a task to stop; true only when it has stopped.',
    () =>
      openObject({
        sessionId: z.string(),
        id: z.string(),
        clientTaskId: z.string(),
        cancellationId: z.string(),
        reason: openEnum(['cancel_requested', 'session_shutdown']),
      }),
    () => openObject({ cancelled: z.boolean() }),
  ),
};
