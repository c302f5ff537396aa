import * as z from 'zod/mini';
import { method } from '../define.js';
import { anything, text } from '../fields.js';
import { openObject } from '../schema.js';
import { sessionRef } from './session-ref.js';

/** Questions to users, of whatever kind. */
export const sessionQuestionsMethods = {
  'session.questions.pending': method(
    'The questions that wait for an answer, with the data of their events, for a client that came later.',
    sessionRef,
    () =>
      openObject({
        items: z.array(
          openObject({
            kind: z.enum([
              'auto_mode_switch',
              'elicitation',
              'exit_plan_mode',
              'external_tool',
              'permission',
              'sampling',
              'session_limits',
              'user_input',
            ]),
            requestId: text(),
            toolCallId: text(),
            /** The data of the event that asked, such as `permission.requested`. */
            data: anything(),
          }),
        ),
      }),
  ),
};
