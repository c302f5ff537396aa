import * as z from 'zod/mini';
import { method } from '../define.js';
import { openEnum, openObject } from '../schema.js';
import { exitPlanAction } from '../settings.js';

/** Questions put to one client, to be answered by users. */
export const questionCallbacks = {
  'autoModeSwitch.request': method(
    'The model is rate limited: go on with another one? No answer counts as `no`.',
    () =>
      openObject({
        sessionId: z.string(),
        errorCode: z.optional(z.string()),
        retryAfterSeconds: z.optional(z.number()),
      }),
    () => openObject({ response: z.enum(['yes', 'yes_always', 'no']) }),
  ),
  'exitPlanMode.request': method(
    'The plan is ready: what should follow?',
    () =>
      openObject({
        sessionId: z.string(),
        summary: z.string(),
        planContent: z.string(),
        actions: z.array(exitPlanAction()),
        recommendedAction: exitPlanAction(),
      }),
    () =>
      openObject({
        approved: z.boolean(),
        selectedAction: z.nullish(openEnum(['exit_only', 'interactive', 'autopilot', 'autopilot_fleet'])),
        feedback: z.nullish(z.string()),
        autoApproveEdits: z.nullish(z.boolean()),
      }),
  ),
  'userInput.request': method(
    'The agent asks a question.',
    () =>
      openObject({
        sessionId: z.string(),
        question: z.string(),
        choices: z.optional(z.array(z.string())),
        allowFreeform: z.optional(z.boolean()),
      }),
    () => openObject({ answer: z.string(), wasFreeform: z.nullish(z.boolean()) }),
  ),
};
