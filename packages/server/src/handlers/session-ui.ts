import type { Methods } from '@groundcrew/protocol';
import type { ClientRequests, ElicitationAnswer } from '@groundcrew/runtime';
import { refuse } from '../failure.js';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.ui.${string}`>;
type Form = Parameters<ClientRequests['elicit']>[0];

export const sessionUiHandlers: Handlers<Pick<Methods, Names>> = {
  async 'session.ui.elicitation'({ sessionId, message, requestedSchema }, context) {
    const session = findSession('session.ui.elicitation', sessionId, context);
    if (!session.audience.showsForms) {
      throw refuse(
        'session.ui.elicitation',
        'No attached client can show a form; attach one with requestElicitation: true',
      );
    }
    const form = { message, ...(requestedSchema && { requestedSchema }) } as Form;
    const { action = 'cancel', content } = await (await session.requests()).elicit(form, context.signal);
    return { action, ...(content && { content: { ...content } }) };
  },
  async 'session.ui.handlePendingAutoModeSwitch'({ sessionId, requestId, response }, context) {
    const session = findSession('session.ui.handlePendingAutoModeSwitch', sessionId, context);
    return { success: await session.answer({ kind: 'auto_mode_switch', requestId }, { response }) };
  },
  async 'session.ui.handlePendingElicitation'({ sessionId, requestId, result }, context) {
    const session = findSession('session.ui.handlePendingElicitation', sessionId, context);
    const answer: ElicitationAnswer = {
      action: result.action,
      ...(result.content && { content: result.content }),
    };
    return { success: await session.answer({ kind: 'elicitation', requestId }, answer) };
  },
  async 'session.ui.handlePendingSessionLimitsExhausted'({ sessionId, requestId, response }, context) {
    const session = findSession('session.ui.handlePendingSessionLimitsExhausted', sessionId, context);
    return { success: await session.answer({ kind: 'session_limits', requestId }, response) };
  },
  async 'session.ui.handlePendingUserInput'({ sessionId, requestId, response }, context) {
    const session = findSession('session.ui.handlePendingUserInput', sessionId, context);
    const { answer, wasFreeform = true } = response;
    return { success: await session.answer({ kind: 'user_input', requestId }, { answer, wasFreeform }) };
  },
};
