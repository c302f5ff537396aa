import * as z from 'zod/mini';
import { durable, ephemeral } from '../define.js';
import { once, openObject } from '../schema.js';
import { billedUsage } from '../usage.js';

/** How the history the model sees gets shorter. */
export const compactionEvents = {
  'session.compaction_complete': durable(
    'A summary stands in place of the older messages, or could not be made.',
    () =>
      openObject({
        success: z.boolean(),
        checkpointNumber: z.optional(z.number()),
        checkpointPath: z.optional(z.string()),
        compactionTokensUsed: z.optional(
          openObject({
            cacheReadTokens: z.optional(z.number()),
            cacheWriteTokens: z.optional(z.number()),
            copilotUsage: z.optional(billedUsage()),
            duration: z.optional(z.number()),
            inputTokens: z.optional(z.number()),
            model: z.optional(z.string()),
            outputTokens: z.optional(z.number()),
          }),
        ),
        conversationTokens: z.optional(z.number()),
        customInstructions: z.optional(z.string()),
        error: z.optional(z.string()),
        messagesRemoved: z.optional(z.number()),
        postCompactionTokens: z.optional(z.number()),
        preCompactionMessagesLength: z.optional(z.number()),
        preCompactionTokens: z.optional(z.number()),
        requestId: z.optional(z.string()),
        serviceRequestId: z.optional(z.string()),
        statusCode: z.optional(z.number()),
        summaryContent: z.optional(z.string()),
        systemTokens: z.optional(z.number()),
        tokenLimit: z.optional(z.number()),
        tokensRemoved: z.optional(z.number()),
        toolDefinitionsTokens: z.optional(z.number()),
        trigger: z.optional(compactionTrigger()),
      }),
  ),
  'session.compaction_start': durable('The older messages are being summarised.', () =>
    openObject({
      conversationTokens: z.optional(z.number()),
      currentTokens: z.optional(z.number()),
      model: z.optional(z.string()),
      systemTokens: z.optional(z.number()),
      tokenLimit: z.optional(z.number()),
      toolDefinitionsTokens: z.optional(z.number()),
      trigger: z.optional(compactionTrigger()),
    }),
  ),
  'session.context_cleared': durable('The model starts from nothing.', () =>
    openObject({ messagesCleared: z.number(), initialMessage: z.optional(z.string()) }),
  ),
  'session.snapshot_rewind': ephemeral('The history was cut back to an event.', () =>
    openObject({ eventsRemoved: z.number(), upToEventId: z.string() }),
  ),
  'session.truncation': durable('Old messages were dropped to fit the window.', () =>
    openObject({
      messagesRemovedDuringTruncation: z.number(),
      performedBy: z.string(),
      postTruncationMessagesLength: z.number(),
      postTruncationTokensInMessages: z.number(),
      preTruncationMessagesLength: z.number(),
      preTruncationTokensInMessages: z.number(),
      tokenLimit: z.number(),
      tokensRemovedDuringTruncation: z.number(),
    }),
  ),
};

const compactionTrigger = once(() =>
  z.enum(['threshold', 'context_limit_retry', 'manual', 'memory_pressure', 'model_switch']),
);
