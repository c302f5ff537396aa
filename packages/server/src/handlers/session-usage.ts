import type { Methods } from '@groundcrew/protocol';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

export const sessionUsageHandlers: Handlers<Pick<Methods, 'session.usage.getMetrics'>> = {
  async 'session.usage.getMetrics'({ sessionId }, context) {
    const session = findSession('session.usage.getMetrics', sessionId, context);
    const { createdAt, userTurns } = await session.state();
    const { model } = await session.plan();
    const { metrics } = session;
    return {
      totalPremiumRequestCost: 0,
      totalUserRequests: userTurns,
      totalApiDurationMs: Math.round(metrics.apiMilliseconds),
      sessionStartTime: createdAt,
      codeChanges: { linesAdded: 0, linesRemoved: 0, filesModified: [], filesModifiedCount: 0 },
      modelMetrics: metrics.perModel(),
      lastCallInputTokens: metrics.lastCall.inputTokens,
      lastCallOutputTokens: metrics.lastCall.outputTokens,
      currentModel: model,
    };
  },
};
