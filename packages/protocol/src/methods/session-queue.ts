import * as z from 'zod/mini';
import { sentAttachment } from '../attachment.js';
import { method } from '../define.js';
import { nothing, openObject } from '../schema.js';
import { agentMode } from '../settings.js';
import { inSession, sessionRef } from './session-ref.js';

/** Prompts that wait. */
export const sessionQueueMethods = {
  'session.queue.appendSteering': method(
    'Says more in a word for the running turn that it has not seen; not when that says something else by now.',
    () =>
      inSession({
        messageId: z.string(),
        expectedPrompt: z.string(),
        agentMode: agentMode(),
        prompt: z.string(),
        displayPrompt: z.string(),
        attachments: z.array(sentAttachment()),
      }),
    () => openObject({ updated: z.boolean() }),
  ),
  'session.queue.clear': method('Takes back every prompt that waits.', sessionRef, nothing),
  'session.queue.hasPending': method('Whether prompts wait.', sessionRef, () =>
    openObject({ hasPending: z.boolean() }),
  ),
  'session.queue.withdrawMessage': method(
    'Takes one prompt back that no turn has taken up; not when it says something else by now.',
    () => inSession({ messageId: z.string(), expectedPrompt: z.string() }),
    () => openObject({ removed: z.boolean(), interrupted: z.boolean() }),
  ),
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
