import * as z from 'zod/mini';
import { method } from '../define.js';
import { openObject } from '../schema.js';
import { agentMetric, codeChanges, modelMetric, tokenDetail } from '../usage.js';
import { sessionRef } from './session-ref.js';

/** What a session used. */
export const sessionUsageMethods = {
  'session.usage.getMetrics': method('What the session used in all.', sessionRef, () =>
    openObject({
      totalPremiumRequestCost: z.number(),
      totalUserRequests: z.number(),
      totalApiDurationMs: z.number(),
      sessionStartTime: z.string(),
      codeChanges: openObject({ ...codeChanges(), filesModifiedCount: z.number() }),
      modelMetrics: z.record(z.string(), modelMetric()),
      lastCallInputTokens: z.number(),
      lastCallOutputTokens: z.number(),
      agentMetrics: z.optional(z.record(z.string(), agentMetric())),
      currentModel: z.optional(z.string()),
      tokenDetails: z.optional(z.record(z.string(), tokenDetail())),
      totalNanoAiu: z.optional(z.number()),
      /** US dollars; null where some price is not known. */
      totalCost: z.nullish(z.number()),
    }),
  ),
};
