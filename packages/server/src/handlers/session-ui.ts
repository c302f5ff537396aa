import type { Methods } from '@groundcrew/protocol';
import type { ClientRequests, ElicitationAnswer } from '@groundcrew/runtime';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.ui.${string}`>;
type Form = Parameters<ClientRequests['elicit']>[0];

export const sessionUiHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.ui.elicitation'({ message, requestedSchema }, { session, signal }) {
    if (!session.audience.showsForms) {
      throw new Refusal('No attached client can show a form; attach one with requestElicitation: true');
    }
    const form = { message, ...(requestedSchema && { requestedSchema }) } as Form;
    const { action = 'cancel', content } = await (await session.requests()).elicit(form, signal);
    return { action, ...(content && { content: { ...content } }) };
  },
  async 'session.ui.handlePendingAutoModeSwitch'({ requestId, response }, { session }) {
    return { success: await session.answer({ kind: 'auto_mode_switch', requestId }, { response }) };
  },
  async 'session.ui.handlePendingElicitation'({ requestId, result }, { session }) {
    const answer: ElicitationAnswer = {
      action: result.action,
      ...(result.content && { content: result.content }),
    };
    return { success: await session.answer({ kind: 'elicitation', requestId }, answer) };
  },
  async 'session.ui.handlePendingSessionLimitsExhausted'({ requestId, response }, { session }) {
    return { success: await session.answer({ kind: 'session_limits', requestId }, response) };
  },
  async 'session.ui.handlePendingUserInput'({ requestId, response }, { session }) {
    const { answer, wasFreeform = true } = response;
    return { success: await session.answer({ kind: 'user_input', requestId }, { answer, wasFreeform }) };
  },
};
