import type { Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';

export const sessionUsageHandlers: SessionHandlers<Pick<Methods, 'session.usage.getMetrics'>> = {
  async 'session.usage.getMetrics'(_params, { session }) {
    const { createdAt, userTurns, codeChanges } = await session.state();
    const { spending, models, ...totals } = await session.measures.usage();
    const { model } = await session.tools.plan();
    return {
      totalPremiumRequestCost: 0,
      totalUserRequests: userTurns,
      totalApiDurationMs: Math.round(spending.milliseconds),
      sessionStartTime: createdAt,
      codeChanges: {
        linesAdded: codeChanges.linesAdded,
        linesRemoved: codeChanges.linesRemoved,
        filesModified: [...codeChanges.files],
        filesModifiedCount: codeChanges.files.length,
      },
      modelMetrics: models,
      lastCallInputTokens: spending.last?.inputTokens ?? 0,
      lastCallOutputTokens: spending.last?.outputTokens ?? 0,
      currentModel: model,
      ...totals,
    };
  },
};
