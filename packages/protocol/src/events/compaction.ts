import * as z from 'zod';
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
        checkpointNumber: z.number().optional(),
        checkpointPath: z.string().optional(),
        compactionTokensUsed: openObject({
          cacheReadTokens: z.number().optional(),
          cacheWriteTokens: z.number().optional(),
          copilotUsage: billedUsage().optional(),
          duration: z.number().optional(),
          inputTokens: z.number().optional(),
          model: z.string().optional(),
          outputTokens: z.number().optional(),
        }).optional(),
        conversationTokens: z.number().optional(),
        customInstructions: z.string().optional(),
        error: z.string().optional(),
        messagesRemoved: z.number().optional(),
        postCompactionTokens: z.number().optional(),
        preCompactionMessagesLength: z.number().optional(),
        preCompactionTokens: z.number().optional(),
        requestId: z.string().optional(),
        serviceRequestId: z.string().optional(),
        statusCode: z.number().optional(),
        summaryContent: z.string().optional(),
        systemTokens: z.number().optional(),
        tokenLimit: z.number().optional(),
        tokensRemoved: z.number().optional(),
        toolDefinitionsTokens: z.number().optional(),
        trigger: compactionTrigger().optional(),
      }),
  ),
  'session.compaction_start': durable('The older messages are being summarised.', () =>
    openObject({
      conversationTokens: z.number().optional(),
      currentTokens: z.number().optional(),
      model: z.string().optional(),
      systemTokens: z.number().optional(),
      tokenLimit: z.number().optional(),
      toolDefinitionsTokens: z.number().optional(),
      trigger: compactionTrigger().optional(),
    }),
  ),
  'session.context_cleared': durable('The model starts from nothing.', () =>
    openObject({ messagesCleared: z.number(), initialMessage: z.string().optional() }),
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
