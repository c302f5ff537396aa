import * as z from 'zod/mini';
import { method } from '../define.js';
import { text, textOrNull } from '../fields.js';
import { permissionDecision, permissionPrompt } from '../permission.js';
import { once, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';
import { inSession, sessionRef, success } from './session-ref.js';

/** Questions for permission. */
export const sessionPermissionsMethods = {
  'session.permissions.handlePendingPermissionRequest': method(
    'Answers a question; false tells that somebody did before.',
    () => sparseObject({ decisionContext }, { sessionId: text, requestId: text, result: permissionDecision }),
    success,
  ),
  'session.permissions.pendingRequests': method('The questions that wait for an answer.', sessionRef, () =>
    openObject({ items: z.array(openObject({ requestId: z.string(), request: permissionPrompt() })) }),
  ),
  'session.permissions.setApproveAll': method(
    'Approves everything without asking, until it is switched off.',
    () => inSession({ enabled: z.boolean(), source: z.optional(z.string()) }),
    success,
  ),
};

/** How the decision came about. */
const decisionContext = once(() =>
  sparseObject({ outcome: textOrNull, source: textOrNull, surface: textOrNull }),
);
