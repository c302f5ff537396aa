import { creditsPerDollar } from './limits.js';
import type { Spending } from './spending.js';

/** What one model was used for, in the shape that `session.shutdown` and `session.usage.getMetrics` report. */
export interface ModelMetric {
  readonly requests: { readonly count: number; readonly cost: number | null };
  readonly usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly cacheReadTokens: number;
    readonly cacheWriteTokens: number;
    readonly reasoningTokens: number;
  };
  readonly totalNanoAiu?: number;
}

/** What each model was used for. */
export function modelMetrics({ byModel }: Spending): Record<string, ModelMetric> {
  const entries = Object.entries(byModel).map(([model, { calls, cost, ...usage }]) => {
    const metric = { requests: { count: calls, cost }, usage, ...creditsOf(cost) };
    return [model, metric] as const;
  });
  return Object.fromEntries(entries);
}

/** Dollars as billionths of an AI credit, where they are known. */
export function creditsOf(cost: number | null): { readonly totalNanoAiu?: number } {
  return cost === null ? {} : { totalNanoAiu: Math.round(cost * creditsPerDollar * 1e9) };
}
