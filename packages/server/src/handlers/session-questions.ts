import type { Methods } from '@groundcrew/protocol';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

export const sessionQuestionsHandlers: Handlers<Pick<Methods, 'session.questions.pending'>> = {
  async 'session.questions.pending'({ sessionId }, context) {
    const { questions } = await findSession('session.questions.pending', sessionId, context).state();
    return {
      items: questions.map(({ kind, requestId, toolCallId, event }) => ({
        kind,
        requestId,
        toolCallId,
        data: event,
      })),
    };
  },
};
