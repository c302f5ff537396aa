import { randomUUID } from 'node:crypto';
import type { Methods } from '@groundcrew/protocol';
import { type ElicitationAnswer, planAnswer } from '@groundcrew/runtime';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.ui.${string}`>;

export const sessionUiHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.ui.ephemeralQuery'({ question }, { session, signal }) {
    if (question.trim() === '') throw new Refusal('The question is empty');
    return { answer: await session.history.answer(question, signal) };
  },
  async 'session.ui.elicitation'({ mode = 'form', message, requestedSchema, url }, { session, signal }) {
    if (!session.audience.showsForms) {
      throw new Refusal('No attached client can show a form; attach one with requestElicitation: true');
    }
    const form = {
      mode,
      message,
      ...(mode === 'form' && requestedSchema && { requestedSchema }),
      ...(mode === 'url' && url !== undefined && { url }),
    };
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
  async 'session.ui.handlePendingExitPlanMode'({ requestId, response }, { session }) {
    return { success: await session.answer({ kind: 'exit_plan_mode', requestId }, planAnswer(response)) };
  },
  async 'session.ui.handlePendingSampling'({ requestId, response }, { session }) {
    return { success: await session.answer({ kind: 'sampling', requestId }, response) };
  },
  async 'session.ui.handlePendingSessionLimitsExhausted'({ requestId, response }, { session }) {
    return { success: await session.answer({ kind: 'session_limits', requestId }, response) };
  },
  async 'session.ui.handlePendingUserInput'({ requestId, response }, { session }) {
    const { answer, wasFreeform = true } = response;
    return { success: await session.answer({ kind: 'user_input', requestId }, { answer, wasFreeform }) };
  },
  async 'session.ui.registerDirectAutoModeSwitchHandler'(_params, { session, client }) {
    const handle = `auto-mode-switch-${randomUUID()}`;
    session.audience.addDirectSwitcher(handle, client.id);
    return { handle };
  },
  async 'session.ui.unregisterDirectAutoModeSwitchHandler'({ handle }, { session }) {
    return { unregistered: session.removeDirectSwitcher(handle) };
  },
};
