import type { Usage } from '@groundcrew/models';
import { ownEntry } from '../own-entry.js';

/** What one model was used for, as its service reported it. */
export interface ModelSpending extends Usage {
  readonly calls: number;
  /** US dollars; null when the price of some call is not known. */
  readonly cost: number | null;
}

/** All that a session has spent on models: a fold of its log, so a restart forgets nothing. */
export interface Spending {
  readonly milliseconds: number;
  readonly byModel: Readonly<Record<string, ModelSpending>>;
  /** Attempts that brought no answer; what they took is estimated, and counts for limits only. */
  readonly lost: { readonly calls: number; readonly tokens: number; readonly cost: number };
  readonly last?: LastCall;
  /** What a call that runs now has been allowed. */
  readonly reserved?: Reservation;
}

/** The newest call, by which the next one is estimated. */
export interface LastCall {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly estimatedInput: number;
}

/** A call that brought an answer. */
export interface SettledCall {
  readonly model: string;
  readonly usage: Usage;
  readonly milliseconds: number;
  readonly cost: number | null;
  /** Input tokens it had been thought to have. */
  readonly estimatedInput: number;
  /** An estimate, where the service reports no usage. */
  readonly unreported?: LostCall;
  /** It was no call of the conversation: the next one is not estimated by it. */
  readonly isAside?: true;
}

/** Estimated usage of a call that brought no answer, or whose service reports none. */
export interface LostCall {
  readonly tokens: number;
  readonly cost: number;
}

/** What a call is thought to take before its answer comes. */
export type Reservation = LostCall;

/** What a session without a prompt has spent. */
export const nothingSpent: Spending = {
  milliseconds: 0,
  byModel: {},
  lost: { calls: 0, tokens: 0, cost: 0 },
};

/** Counts a call that was answered. */
export function settle(spending: Spending, call: SettledCall): Spending {
  const { reserved: _, ...before } = spending;
  const { model, usage, estimatedInput } = call;
  const sum = ownEntry(before.byModel, model) ?? unused;
  const { inputTokens, outputTokens } = usage;
  return {
    ...before,
    milliseconds: before.milliseconds + call.milliseconds,
    byModel: {
      ...before.byModel,
      [model]: {
        calls: sum.calls + 1,
        cost: sum.cost === null || call.cost === null ? null : sum.cost + call.cost,
        inputTokens: sum.inputTokens + inputTokens,
        outputTokens: sum.outputTokens + outputTokens,
        cacheReadTokens: sum.cacheReadTokens + usage.cacheReadTokens,
        cacheWriteTokens: sum.cacheWriteTokens + usage.cacheWriteTokens,
        reasoningTokens: sum.reasoningTokens + usage.reasoningTokens,
      },
    },
    lost: call.unreported ? withLoss(before.lost, call.unreported) : before.lost,
    ...(call.isAside ? {} : { last: { model, inputTokens, outputTokens, estimatedInput } }),
  };
}

/** Counts an attempt without an answer. */
export function lose(spending: Spending, loss: LostCall): Spending {
  const { reserved: _, ...before } = spending;
  return { ...before, lost: { ...withLoss(before.lost, loss), calls: before.lost.calls + 1 } };
}

/** Sets something aside for a call. One that was never settled died with its process, and is counted as lost. */
export function reserve(spending: Spending, reserved: Reservation): Spending {
  const before = spending.reserved ? lose(spending, spending.reserved) : spending;
  return { ...before, reserved };
}

/** What limits are held against. */
export interface Totals {
  readonly calls: number;
  readonly tokens: number;
  /** What is known of it. */
  readonly cost: number;
}

/** All that was spent, reported and estimated. */
export function totalsOf({ byModel, lost }: Spending): Totals {
  return Object.values(byModel).reduce<Totals>(
    (sum, each) => ({
      calls: sum.calls + each.calls,
      tokens: sum.tokens + each.inputTokens + each.outputTokens,
      cost: sum.cost + (each.cost ?? 0),
    }),
    lost,
  );
}

/** These totals with what an agent has set aside for a call that it waits for. */
export function withReserved(totals: Totals, { reserved }: Spending): Totals {
  if (!reserved) return totals;
  const { calls, tokens, cost } = totals;
  return { calls: calls + 1, tokens: tokens + reserved.tokens, cost: cost + reserved.cost };
}

/** US dollars that those of a session's answers cost whose price is known. */
export function knownCost({ byModel }: Spending): number {
  return Object.values(byModel).reduce((sum, { cost }) => sum + (cost ?? 0), 0);
}

/** US dollars a session's answers cost; null when the price of some is not known. */
export function costOfAll({ byModel }: Spending): number | null {
  return Object.values(byModel).reduce<number | null>(
    (sum, { cost }) => (sum === null || cost === null ? null : sum + cost),
    0,
  );
}

function withLoss(lost: Spending['lost'], { tokens, cost }: LostCall): Spending['lost'] {
  return { ...lost, tokens: lost.tokens + tokens, cost: lost.cost + cost };
}

const unused: ModelSpending = {
  calls: 0,
  cost: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};
