import * as z from 'zod/mini';
import { once, openObject } from './schema.js';

/** How many tokens of one sort. */
export const tokenDetail = once(() => openObject({ tokenCount: z.number() }));

/** What one model was used for. */
export const modelMetric = once(() =>
  openObject({
    /** `cost` is US dollars, null where some price is not known. */
    requests: openObject({ cost: z.nullish(z.number()), count: z.optional(z.number()) }),
    usage: tokenUsage(),
    tokenDetails: z.optional(z.record(z.string(), tokenDetail())),
    totalNanoAiu: z.optional(z.number()),
  }),
);

/** What one agent used. */
export const agentMetric = once(() =>
  openObject({
    modelMetrics: z.record(z.string(), modelMetric()),
    totalApiDurationMs: z.number(),
    totalNanoAiu: z.number(),
    agentDisplayName: z.optional(z.string()),
    agentName: z.optional(z.string()),
  }),
);

/** What a session changed in files. */
export const codeChanges = () => ({
  filesModified: z.array(z.string()),
  linesAdded: z.number(),
  linesRemoved: z.number(),
});

/** What a service billed for a call. */
export const billedUsage = once(() =>
  openObject({
    totalNanoAiu: z.number(),
    tokenDetails: z.optional(
      z.array(
        openObject({
          batchSize: z.number(),
          costPerBatch: z.number(),
          tokenCount: z.number(),
          tokenType: z.string(),
        }),
      ),
    ),
  }),
);

/** What is left of a quota. */
export const quotaSnapshot = once(() =>
  openObject({
    entitlementRequests: z.number(),
    isUnlimitedEntitlement: z.boolean(),
    overage: z.number(),
    overageAllowedWithExhaustedQuota: z.boolean(),
    remainingPercentage: z.number(),
    usageAllowedWithExhaustedQuota: z.boolean(),
    usedRequests: z.number(),
    hasQuota: z.optional(z.boolean()),
    overageEntitlement: z.optional(z.number()),
    resetDate: z.optional(z.string()),
    tokenBasedBilling: z.optional(z.boolean()),
  }),
);

/** Which API a model was called by. */
export const apiEndpoint = once(() =>
  z.enum(['/chat/completions', '/v1/messages', '/responses', 'ws:/responses']),
);

/** Tokens by sort, as services report them. */
const tokenUsage = once(() =>
  openObject({
    cacheReadTokens: z.number(),
    cacheWriteTokens: z.number(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    reasoningTokens: z.optional(z.number()),
  }),
);
