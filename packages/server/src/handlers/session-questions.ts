import type { Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';

export const sessionQuestionsHandlers: SessionHandlers<Pick<Methods, 'session.questions.pending'>> = {
  async 'session.questions.pending'(_params, { session }) {
    return {
      items: (await session.openQuestions()).map(({ kind, requestId, toolCallId, event }) => ({
        kind,
        requestId,
        toolCallId,
        data: event,
      })),
    };
  },
};
