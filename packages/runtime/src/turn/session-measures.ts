import { creditsOf, type ModelMetric, modelMetrics } from '../budget/metrics.js';
import { costOfAll, type Spending } from '../budget/spending.js';
import { agentOf, type HistoryEntry, type SessionState } from '../log/state.js';
import type { ModelPlan } from './context.js';
import { type ContextUse, measureContext } from './context-use.js';

/** The session that is measured. */
interface MeasuredSession {
  state(): Promise<SessionState>;
  readonly tools: { plan(): Promise<ModelPlan> };
}

/** What a session has spent on models. */
export interface SessionUsage {
  readonly spending: Spending;
  readonly models: Readonly<Record<string, ModelMetric>>;
  /** US dollars; null when the price of some call is not known. */
  readonly totalCost: number | null;
  readonly totalNanoAiu?: number;
}

/** A message of the history and its estimated size. */
export interface WeighedMessage {
  readonly id: string;
  readonly label: string;
  readonly role: HistoryEntry['role'];
  readonly tokens: number;
}

/** Figures of one session: what it spent, and how full its model's window is. */
export class SessionMeasures {
  constructor(private readonly session: MeasuredSession) {}

  async usage(): Promise<SessionUsage> {
    const { spending } = await this.session.state();
    const totalCost = costOfAll(spending);
    return { spending, models: modelMetrics(spending), totalCost, ...creditsOf(totalCost) };
  }

  async contextUse(): Promise<ContextUse & { readonly model: string; readonly compactions: number }> {
    const plan = await this.session.tools.plan();
    const agent = agentOf(await this.session.state());
    const compactions = agent.compaction?.count ?? 0;
    return { model: plan.model, compactions, ...measureContext(agent, plan) };
  }

  /** All messages of the history, the heaviest first. */
  async heaviestMessages(): Promise<readonly WeighedMessage[]> {
    const { history } = agentOf(await this.session.state());
    return history.map(weigh).sort((a, b) => b.tokens - a.tokens);
  }
}

function weigh(entry: HistoryEntry): WeighedMessage {
  const text =
    entry.role === 'user'
      ? entry.parts.map((part) => (part.type === 'text' ? part.text : part.base64)).join('')
      : entry.text;
  return {
    id: entry.eventId,
    label: text.slice(0, 80),
    role: entry.role,
    tokens: Math.ceil(text.length / 4),
  };
}
