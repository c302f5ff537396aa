import {
  type CallEstimate,
  creditsPerDollar,
  describeLimit,
  judgeCall,
  type SessionLimits,
} from './limits.js';
import type { Totals } from './spending.js';

/** What the model reads about what is left before a call, so that it may save; in the words clients know. Pure. */
export function limitsStatus(limits: SessionLimits, totals: Totals, call: CallEstimate): string {
  const advice = isLast(limits, totals, call)
    ? 'Final model call for this session: do not call tools; summarize progress, state what remains, and stop.'
    : 'Be frugal; avoid optional exploration and unnecessary tool calls.';
  const left = remaining(limits, totals).map(describeLimit).join(', ');
  return [
    '<session_limits_status>',
    `Remaining session limits: ${left}. Later session_limits_status messages supersede earlier ones. ${advice}`,
    '</session_limits_status>',
  ].join('\n');
}

/** There will be no room for another call like this one. */
function isLast(limits: SessionLimits, totals: Totals, call: CallEstimate): boolean {
  const { inputTokens, price } = call;
  const after = {
    calls: totals.calls + 1,
    tokens: totals.tokens + inputTokens,
    cost: totals.cost + (inputTokens * (price?.input ?? 0)) / 1_000_000,
  };
  return judgeCall(limits, after, call).type !== 'granted';
}

function remaining(limits: SessionLimits, totals: Totals): Parameters<typeof describeLimit>[0][] {
  const used = {
    maxAiCredits: totals.cost * creditsPerDollar,
    maxCost: totals.cost,
    maxTokens: totals.tokens,
    maxCalls: totals.calls,
  };
  return limitNames.flatMap((limit) => {
    const max = limits[limit];
    return max === undefined ? [] : [{ limit, max: Number((max - used[limit]).toFixed(4)) }];
  });
}

const limitNames = ['maxAiCredits', 'maxCost', 'maxTokens', 'maxCalls'] as const;
