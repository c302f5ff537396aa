import type { Price } from '@groundcrew/models';
import type { Totals } from './spending.js';

/** What a session may spend on models in all. */
export interface SessionLimits {
  /** Hundredths of a US dollar. */
  readonly maxAiCredits?: number;
  /** US dollars. */
  readonly maxCost?: number;
  /** Input and output together. */
  readonly maxTokens?: number;
  /** Attempts that fail are calls too. */
  readonly maxCalls?: number;
}

export type LimitName = keyof SessionLimits;

/** A limit that leaves no room for the next call. */
export interface SpentLimit {
  readonly limit: LimitName;
  readonly max: number;
  readonly used: number;
}

/** What a call is going to take, as far as one can know before. */
export interface CallEstimate {
  readonly model: string;
  readonly inputTokens: number;
  readonly price: Price | undefined;
}

export type BudgetVerdict =
  /** The answer may have so many tokens; any number without one. */
  | { readonly type: 'granted'; readonly maxOutputTokens?: number }
  | { readonly type: 'spent'; readonly spent: SpentLimit }
  /** A limit on money cannot be kept for a model whose price is unknown. */
  | { readonly type: 'unpriced'; readonly model: string };

/** Fewer tokens are no answer, and some services refuse to be asked for fewer. */
const leastAnswer = 16;

export const creditsPerDollar = 100;

/** Whether a call may be made, and how long its answer may be. Pure. */
export function judgeCall(limits: SessionLimits, totals: Totals, call: CallEstimate): BudgetVerdict {
  const { maxCalls, maxTokens, maxAiCredits, maxCost } = limits;
  if (maxCalls !== undefined && totals.calls + 1 > maxCalls)
    return { type: 'spent', spent: { limit: 'maxCalls', max: maxCalls, used: totals.calls } };
  const rooms: number[] = [];
  if (maxTokens !== undefined) {
    const room = maxTokens - totals.tokens - call.inputTokens;
    if (room < leastAnswer)
      return { type: 'spent', spent: { limit: 'maxTokens', max: maxTokens, used: totals.tokens } };
    rooms.push(room);
  }
  for (const money of [
    { limit: 'maxAiCredits' as const, max: maxAiCredits, unit: creditsPerDollar },
    { limit: 'maxCost' as const, max: maxCost, unit: 1 },
  ]) {
    if (money.max === undefined) continue;
    if (!call.price) return { type: 'unpriced', model: call.model };
    const room = roomFor(call, call.price, money.max / money.unit - totals.cost);
    if (room < leastAnswer)
      return { type: 'spent', spent: { limit: money.limit, max: money.max, used: totals.cost * money.unit } };
    rooms.push(room);
  }
  const least = Math.min(...rooms);
  return { type: 'granted', ...(Number.isFinite(least) && { maxOutputTokens: Math.floor(least) }) };
}

/** Output tokens that so many dollars leave room for. */
function roomFor({ inputTokens }: CallEstimate, price: Price, dollars: number): number {
  const input = (inputTokens * Math.max(price.input, price.cacheWrite ?? 0)) / 1_000_000;
  const left = dollars - input;
  if (left < 0) return 0;
  return price.output === 0 ? Number.POSITIVE_INFINITY : (left * 1_000_000) / price.output;
}

/** What users say about a limit that is spent. */
export interface LimitsAnswer {
  readonly action: 'add' | 'set' | 'unset' | 'cancel';
  readonly additionalAiCredits?: number;
  readonly maxAiCredits?: number;
  /** In the limit's own unit, whichever limit it is. */
  readonly additional?: number;
  readonly max?: number;
}

/** The limits after an answer; undefined when the session is to spend no more. */
export function limitsAfter(
  limits: SessionLimits,
  { limit, max }: SpentLimit,
  answer: LimitsAnswer,
): SessionLimits | undefined {
  const isCredits = limit === 'maxAiCredits';
  switch (answer.action) {
    case 'add': {
      const more = answer.additional ?? (isCredits ? answer.additionalAiCredits : undefined);
      return more === undefined ? undefined : { ...limits, [limit]: max + more };
    }
    case 'set': {
      const next = answer.max ?? (isCredits ? answer.maxAiCredits : undefined);
      return next === undefined ? undefined : { ...limits, [limit]: next };
    }
    case 'unset':
      return Object.fromEntries(Object.entries(limits).filter(([name]) => name !== limit));
    case 'cancel':
      return undefined;
  }
}

/** What `session.session_limits_changed` says; no limit at all is null. */
export function limitsChanged(limits: SessionLimits): { readonly sessionLimits: SessionLimits | null } {
  return { sessionLimits: Object.keys(limits).length === 0 ? null : limits };
}

/** How a limit is called among users. */
export function describeLimit({ limit, max }: Pick<SpentLimit, 'limit' | 'max'>): string {
  switch (limit) {
    case 'maxAiCredits':
      return `${max} AI credits`;
    case 'maxCost':
      return `$${max}`;
    case 'maxTokens':
      return `${max} tokens`;
    case 'maxCalls':
      return max === 1 ? '1 model call' : `${max} model calls`;
  }
}
