import * as z from 'zod';
import { method } from '../define.js';
import { openEnum, openObject } from '../schema.js';
import { exitPlanAction } from '../settings.js';

/** Questions put to one client, to be answered by people. */
export const questionCallbacks = {
  'autoModeSwitch.request': method(
    'The model is rate limited: go on with another one? No answer counts as `no`.',
    () =>
      openObject({
        sessionId: z.string(),
        errorCode: z.string().optional(),
        retryAfterSeconds: z.number().optional(),
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
        selectedAction: openEnum(['exit_only', 'interactive', 'autopilot', 'autopilot_fleet']).nullish(),
        feedback: z.string().nullish(),
        autoApproveEdits: z.boolean().nullish(),
      }),
  ),
  'userInput.request': method(
    'The agent asks a question.',
    () =>
      openObject({
        sessionId: z.string(),
        question: z.string(),
        choices: z.array(z.string()).optional(),
        allowFreeform: z.boolean().optional(),
      }),
    () => openObject({ answer: z.string(), wasFreeform: z.boolean().nullish() }),
  ),
};
