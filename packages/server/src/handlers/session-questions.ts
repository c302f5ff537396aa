import type { Methods } from '@groundcrew/protocol';
import { openQuestions } from '@groundcrew/runtime';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

export const sessionQuestionsHandlers: Handlers<Pick<Methods, 'session.questions.pending'>> = {
  async 'session.questions.pending'({ sessionId }, context) {
    const session = findSession('session.questions.pending', sessionId, context);
    return {
      items: openQuestions(await session.state()).map(({ kind, requestId, toolCallId, event }) => ({
        kind,
        requestId,
        toolCallId,
        data: event,
      })),
    };
  },
};
