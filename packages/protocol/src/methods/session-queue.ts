import * as z from 'zod/mini';
import { method } from '../define.js';
import { nothing, openObject } from '../schema.js';
import { agentMode } from '../settings.js';
import { sessionRef } from './session-ref.js';

/** Prompts that wait. */
export const sessionQueueMethods = {
  'session.queue.clear': method('Takes back every prompt that waits.', sessionRef, nothing),
  'session.queue.pendingItems': method('The prompts that wait, the next one first.', sessionRef, () =>
    openObject({
      items: z.array(
        openObject({
          id: z.string(),
          kind: z.enum(['message', 'command']),
          displayText: z.string(),
          agentMode: agentMode(),
        }),
      ),
      /** Words for the running turn that it has not seen yet. */
      steeringMessages: z.array(z.string()),
    }),
  ),
  'session.queue.removeMostRecent': method('Takes back the prompt that came last.', sessionRef, () =>
    openObject({ removed: z.boolean() }),
  ),
};
