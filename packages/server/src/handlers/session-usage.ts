import type { Methods } from '@groundcrew/protocol';
import { costOfAll, creditsOf, modelMetrics } from '@groundcrew/runtime';
import type { SessionHandlers } from '../handler.js';

export const sessionUsageHandlers: SessionHandlers<Pick<Methods, 'session.usage.getMetrics'>> = {
  async 'session.usage.getMetrics'(_params, { session }) {
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
