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
  'session.queue.duplicateAt': method('Has a prompt wait twice; the copy follows it.', queueItem, () =>
    openObject({ id: z.string() }),
  ),
  'session.queue.insertAt': method(
    'Has a prompt wait at a place of the queue, from 0; places beyond its ends are its ends.',
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
    'Takes back the prompt of this id; false when it does not wait any more.',
    queueItem,
    () => openObject({ removed: z.boolean() }),
  ),
  'session.queue.sendNow': method(
    'Makes a prompt that waits a word for the running turn; false when no turn runs.',
    queueItem,
    () => openObject({ steered: z.boolean() }),
  ),
  'session.queue.setDrainPaused': method(
    'Holds the prompts that wait, over restarts too, until it is called again with false; fails when they are held already.',
    () => inSession({ paused: z.boolean() }),
    nothing,
  ),
  'session.queue.updateText': method(
    'Has a prompt that waits say something else.',
    () => inSession({ id: z.string(), prompt: z.string(), displayPrompt: z.optional(z.string()) }),
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

function queueItem() {
  return inSession({ id: z.string() });
}
