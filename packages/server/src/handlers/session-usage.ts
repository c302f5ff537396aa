import type { Methods, Result } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';

type ModelMetric = Result<Methods['session.usage.getMetrics']>['modelMetrics'][string];

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
      modelMetrics: Object.fromEntries(Object.entries(models).map(priced)),
      lastCallInputTokens: spending.last?.inputTokens ?? 0,
      lastCallOutputTokens: spending.last?.outputTokens ?? 0,
      currentModel: model,
      ...totals,
    };
  },
};

/** Clients read a number here; whether it is known is said by `totalCost`. */
function priced([model, metric]: readonly [string, ModelMetric]): [string, ModelMetric] {
  const { requests } = metric;
  return [model, { ...metric, requests: { ...requests, cost: requests.cost ?? 0 } }];
}
