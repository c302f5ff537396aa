import * as z from 'zod/mini';
import { method } from '../define.js';
import { number, text } from '../fields.js';
import { openEnum, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';
import { sessionRef } from './session-ref.js';

/** What the model sees of the past. */
export const sessionHistoryMethods = {
  'session.history.abortManualCompaction': method(
    'Ends a compaction that a client asked for.',
    sessionRef,
    () => openObject({ aborted: z.boolean() }),
  ),
  'session.history.cancelBackgroundCompaction': method(
    'Ends a compaction that began by itself.',
    sessionRef,
    () => openObject({ cancelled: z.boolean() }),
  ),
  'session.history.compact': method(
    'Puts a summary in the place of the older messages; `success` is false when there was nothing to gain.',
    () =>
      sparseObject(
        {
          customInstructions: text,
          trigger: () => openEnum(['manual', 'model_switch']),
          tokenLimit: number,
        },
        { sessionId: text },
      ),
    () =>
      openObject({
        success: z.boolean(),
        tokensRemoved: z.number(),
        messagesRemoved: z.number(),
        summaryContent: z.optional(z.string()),
        contextWindow: z.optional(
          openObject({
            tokenLimit: z.number(),
            currentTokens: z.number(),
            messagesLength: z.number(),
            systemTokens: z.optional(z.number()),
            conversationTokens: z.optional(z.number()),
            toolDefinitionsTokens: z.optional(z.number()),
          }),
        ),
      }),
  ),
  'session.history.summarizeForHandoff': method(
    'A summary for an agent that goes on elsewhere; the conversation stays as it is.',
    sessionRef,
    () => openObject({ summary: z.string() }),
  ),
};
