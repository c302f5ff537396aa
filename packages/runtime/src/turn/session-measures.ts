import { creditsOf, type ModelMetric, modelMetrics } from '../budget/metrics.js';
import { costOfAll, type Spending } from '../budget/spending.js';
import type { WindowUse } from '../compaction/summary-call.js';
import { agentOf, type SessionState } from '../log/state.js';
import type { Instructions } from '../prompt/instructions.js';
import type { ModelPlan } from './agent-context.js';
import { type CompactingSession, compactionSettings } from './compaction-settings.js';
import {
  attributeContext,
  type ContextAttribution,
  type WeighedMessage,
  weighMessages,
} from './context-attribution.js';
import { measureContext } from './context-use.js';

/** The session that is measured. */
interface MeasuredSession extends CompactingSession {
  state(): Promise<SessionState>;
  readonly tools: { plan(): Promise<ModelPlan>; instructions(): Promise<Instructions> };
}

/** What a session has spent on models. */
export interface SessionUsage {
  readonly spending: Spending;
  readonly models: Readonly<Record<string, ModelMetric>>;
  /** US dollars; null when the price of some call is not known. */
  readonly totalCost: number | null;
  readonly totalNanoAiu?: number;
}

/** How full a window is, with what, and when it is made smaller. */
interface SessionContextUse extends WindowUse, ContextAttribution {
  readonly model: string;
  readonly compactions: number;
  /** The share of the window at which a summary is begun; 1 where none is. */
  readonly compactionShare: number;
}

/** Figures of one session: what it spent, and how full its model's window is. */
export class SessionMeasures {
  constructor(private readonly session: MeasuredSession) {}

  async usage(): Promise<SessionUsage> {
    const { spending } = await this.session.state();
    const totalCost = costOfAll(spending);
    return { spending, models: modelMetrics(spending), totalCost, ...creditsOf(totalCost) };
  }

  async contextUse(): Promise<WindowUse & { readonly model: string; readonly compactions: number }> {
    const plan = await this.session.tools.plan();
    const agent = agentOf(await this.session.state());
    const compactions = agent.compaction?.count ?? 0;
    return { model: plan.model, compactions, ...measureContext(agent, plan) };
  }

  /** By source. Instructions are read as they stand: the next call has them. */
  async attributedUse(): Promise<SessionContextUse> {
    const { session } = this;
    const instructions = await session.tools.instructions();
    const plan = await session.tools.plan();
    const state = await session.state();
    const agent = agentOf(state);
    const { organizationInstructions } = session.currentSettings;
    const organization = organizationInstructions === undefined ? {} : { organizationInstructions };
    const { isEnabled, background } = compactionSettings(session, state);
    return {
      ...(await this.contextUse()),
      ...attributeContext(agent, plan, { instructions, ...organization }),
      compactionShare: isEnabled ? background : 1,
    };
  }

  /** All messages that the model sees, the heaviest first. */
  async heaviestMessages(): Promise<readonly WeighedMessage[]> {
    const { model } = await this.session.tools.plan();
    return weighMessages(agentOf(await this.session.state()), model);
  }
}
