import * as z from 'zod';
import { once, openObject } from './schema.js';

/** How many tokens of one sort. */
export const tokenDetail = once(() => openObject({ tokenCount: z.number() }));

/** What one model was used for. */
export const modelMetric = once(() =>
  openObject({
    requests: openObject({ cost: z.number().optional(), count: z.number().optional() }),
    usage: tokenUsage(),
    tokenDetails: z.record(z.string(), tokenDetail()).optional(),
    totalNanoAiu: z.number().optional(),
  }),
);

/** What one agent used. */
export const agentMetric = once(() =>
  openObject({
    modelMetrics: z.record(z.string(), modelMetric()),
    totalApiDurationMs: z.number(),
    totalNanoAiu: z.number(),
    agentDisplayName: z.string().optional(),
    agentName: z.string().optional(),
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
    tokenDetails: z
      .array(
        openObject({
          batchSize: z.number(),
          costPerBatch: z.number(),
          tokenCount: z.number(),
          tokenType: z.string(),
        }),
      )
      .optional(),
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
    hasQuota: z.boolean().optional(),
    overageEntitlement: z.number().optional(),
    resetDate: z.string().optional(),
    tokenBasedBilling: z.boolean().optional(),
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
    reasoningTokens: z.number().optional(),
  }),
);
