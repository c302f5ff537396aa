import * as z from 'zod/mini';
import { durable } from '../define.js';
import { permissionPrompt, permissionRequest, permissionResult } from '../permission.js';
import { openObject } from '../schema.js';

/** Questions for permission, and how they ended. */
export const permissionEvents = {
  'permission.completed': durable('A question for permission was answered; the first answer counts.', () =>
    openObject({ requestId: z.string(), result: permissionResult(), toolCallId: z.optional(z.string()) }),
  ),
  'permission.requested': durable('A tool call waits until some client answers.', () =>
    openObject({
      permissionRequest: permissionRequest(),
      requestId: z.string(),
      promptRequest: z.optional(permissionPrompt()),
      resolvedByHook: z.optional(z.boolean()),
      riskAssessment: z.optional(z.unknown()),
    }),
  ),
};
