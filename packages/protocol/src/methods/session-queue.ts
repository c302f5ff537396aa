import * as z from 'zod/mini';
import { sentAttachment } from '../attachment.js';
import { method } from '../define.js';
import { nothing, openObject } from '../schema.js';
import { agentMode } from '../settings.js';
import { inSession, sessionRef } from './session-ref.js';

/** Prompts that wait. */
export const sessionQueueMethods = {
  'session.queue.appendSteering': method(
    'Appends to a steering prompt that the running turn has not seen yet; refused when its text has changed.',
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
  'session.queue.duplicateAt': method('Queues a copy of a prompt right behind it.', queueItem, () =>
    openObject({ id: z.string() }),
  ),
  'session.queue.insertAt': method(
    'Inserts a prompt at a place of the queue, from 0; places beyond its ends are its ends.',
    () =>
      inSession({
        position: z.int(),
        message: openObject({
          prompt: z.string(),
          displayPrompt: z.optional(z.string()),
          attachments: z.optional(z.array(sentAttachment())),
          agentMode: z.optional(agentMode()),
          requestHeaders: z.optional(z.record(z.string(), z.string())),
          requiredTool: z.optional(z.string()),
          source: z.optional(z.string()),
          billable: z.optional(z.boolean()),
        }),
      }),
    () => openObject({ id: z.string() }),
  ),
  'session.queue.moveItem': method(
    'Moves a prompt to a place of the queue, from 0; places beyond its ends are its ends.',
    () => inSession({ id: z.string(), toPosition: z.int() }),
    () => openObject({ changed: z.boolean() }),
  ),
  'session.queue.removeAt': method(
    'Withdraws the prompt of this id; false when it does not wait any more.',
    queueItem,
    () => openObject({ removed: z.boolean() }),
  ),
  'session.queue.sendNow': method(
    'Turns a waiting prompt into steering for the running turn; false when no turn runs.',
    queueItem,
    () => openObject({ steered: z.boolean() }),
  ),
  'session.queue.setDrainPaused': method(
    'Holds the prompts that wait, over restarts too, until it is called again with false; fails when they are held already.',
    () => inSession({ paused: z.boolean() }),
    nothing,
  ),
  'session.queue.updateText': method(
    'Replaces the text of a waiting prompt.',
    () => inSession({ id: z.string(), prompt: z.string(), displayPrompt: z.optional(z.string()) }),
    () => openObject({ updated: z.boolean() }),
  ),
  'session.queue.clear': method('Withdraws every waiting prompt.', sessionRef, nothing),
  'session.queue.hasPending': method('Whether prompts wait.', sessionRef, () =>
    openObject({ hasPending: z.boolean() }),
  ),
  'session.queue.withdrawMessage': method(
    'Withdraws a prompt that no turn has taken up; refused when its text has changed.',
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
  'session.queue.removeMostRecent': method('Withdraws the prompt that came last.', sessionRef, () =>
    openObject({ removed: z.boolean() }),
  ),
};

function queueItem() {
  return inSession({ id: z.string() });
}
