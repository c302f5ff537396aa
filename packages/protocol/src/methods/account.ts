import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, number, text } from '../fields.js';
import { once, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';

/** Who the runtime is at GitHub. */
export const accountMethods = {
  'account.getQuota': method(
    'What is left of the quotas of a GitHub account, by their kind.',
    () => sparseObject({ selectionId: text, gitHubToken: text }),
    () => openObject({ quotaSnapshots: z.record(z.string(), quota()) }),
  ),
};

const quota = once(() =>
  openObject({
    isUnlimitedEntitlement: flag(),
    entitlementRequests: number(),
    usedRequests: number(),
    usageAllowedWithExhaustedQuota: flag(),
    remainingPercentage: number(),
    overage: number(),
    overageAllowedWithExhaustedQuota: flag(),
    resetDate: z.optional(z.string()),
  }),
);
