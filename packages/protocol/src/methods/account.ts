import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, number, text } from '../fields.js';
import { once, openEnum, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';

/** Who the runtime is at GitHub. */
export const accountMethods = {
  'account.getAllUsers': method(
    'Who has logged in with this runtime, and by which token.',
    () => openObject({}),
    () => z.array(openObject({ authInfo: authInfo(), token: z.optional(z.string()) })),
  ),
  'account.getCurrentAuth': method(
    'Whose token the runtime shows to GitHub; nothing when it has none.',
    () => openObject({}),
    () => openObject({ authInfo: z.optional(authInfo()), authErrors: z.optional(z.array(z.string())) }),
  ),
  'account.login': method(
    'Keeps a token in the home, in a file that only its user reads, and shows it from now on.',
    () => openObject({ host: z.string(), login: z.optional(z.string()), token: z.string() }),
    () => openObject({ storedInVault: z.boolean() }),
  ),
  'account.logout': method(
    'Forgets the token of a user.',
    () => openObject({ authInfo: authInfo() }),
    () => openObject({ hasMoreUsers: z.boolean() }),
  ),
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

/** Whose token it is, and how it came; what a token holds is covered. */
export const authInfo = once(() =>
  openObject({
    type: openEnum(['user', 'token', 'env', 'gh-cli']),
    host: z.string(),
    login: z.optional(z.string()),
    token: z.optional(z.string()),
    envVar: z.optional(z.string()),
  }),
);
