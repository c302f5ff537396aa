import type { AgentState } from '../log/state.js';
import type { AgentContext, ModelPlan } from './context.js';

/** Window assumed for a model that nobody knows. */
const defaultTokenLimit = 128_000;

/** How full the model's window is; sizes are estimated at four characters a token. */
export interface ContextUse {
  readonly tokenLimit: number;
  readonly currentTokens: number;
  readonly systemTokens: number;
  readonly conversationTokens: number;
  readonly toolDefinitionsTokens: number;
  readonly messagesLength: number;
}

export function measureContext(agent: AgentState, plan: ModelPlan): ContextUse {
  const systemTokens = tokens(plan.system.length);
  const conversationTokens = tokens(agent.historySize);
  const toolDefinitionsTokens = tokens(plan.toolset.size);
  return {
    tokenLimit: plan.info?.maxPromptTokens ?? plan.info?.contextWindow ?? defaultTokenLimit,
    currentTokens: systemTokens + conversationTokens + toolDefinitionsTokens,
    systemTokens,
    conversationTokens,
    toolDefinitionsTokens,
    messagesLength: agent.history.length + 1,
  };
}

export function reportContextUse(context: AgentContext, plan: ModelPlan): void {
  const { log, interaction } = context;
  const isInitial = interaction.rounds === 1;
  log.emit({ type: 'session.usage_info', data: { isInitial, ...measureContext(log.latest, plan) } });
}

function tokens(characters: number): number {
  return Math.ceil(characters / 4);
}
