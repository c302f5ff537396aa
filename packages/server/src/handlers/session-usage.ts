import type { Methods } from '@groundcrew/protocol';
import { costOfAll, creditsOf, modelMetrics } from '@groundcrew/runtime';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

export const sessionUsageHandlers: Handlers<Pick<Methods, 'session.usage.getMetrics'>> = {
  async 'session.usage.getMetrics'({ sessionId }, context) {
    const session = findSession('session.usage.getMetrics', sessionId, context);
    const { createdAt, userTurns, spending } = await session.state();
    const { model } = await session.tools.plan();
    const totalCost = costOfAll(spending);
    return {
      totalPremiumRequestCost: 0,
      totalUserRequests: userTurns,
      totalApiDurationMs: Math.round(spending.milliseconds),
      sessionStartTime: createdAt,
      codeChanges: { linesAdded: 0, linesRemoved: 0, filesModified: [], filesModifiedCount: 0 },
      modelMetrics: modelMetrics(spending),
      lastCallInputTokens: spending.last?.inputTokens ?? 0,
      lastCallOutputTokens: spending.last?.outputTokens ?? 0,
      currentModel: model,
      totalCost,
      ...creditsOf(totalCost),
    };
  },
};
