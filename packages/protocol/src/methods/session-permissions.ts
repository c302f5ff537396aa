import * as z from 'zod';
import { method } from '../define.js';
import { permissionDecision, permissionPrompt } from '../permission.js';
import { openObject } from '../schema.js';
import { inSession, sessionRef, success } from './session-ref.js';

/** Questions for permission. */
export const sessionPermissionsMethods = {
  'session.permissions.handlePendingPermissionRequest': method(
    'Answers a question; false tells that somebody did before.',
    () =>
      inSession({
        requestId: z.string(),
        result: permissionDecision(),
        /** How the decision came about. */
        decisionContext: openObject({
          outcome: z.string().nullish(),
          source: z.string().nullish(),
          surface: z.string().nullish(),
        }).optional(),
      }),
    success,
  ),
  'session.permissions.pendingRequests': method('The questions that wait for an answer.', sessionRef, () =>
    openObject({ items: z.array(openObject({ requestId: z.string(), request: permissionPrompt() })) }),
  ),
  'session.permissions.setApproveAll': method(
    'Approves everything without asking, until it is switched off.',
    () => inSession({ enabled: z.boolean(), source: z.string().optional() }),
    success,
  ),
};
