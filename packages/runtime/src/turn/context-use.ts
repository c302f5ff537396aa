import type { WindowUse } from '../compaction/summary-call.js';
import { sizeOfAll, viewOf } from '../log/history-view.js';
import type { AgentState } from '../log/state.js';
import type { AgentContext, ModelPlan } from './agent-context.js';

/** Window assumed for an unknown model. */
const defaultTokenLimit = 128_000;

/** How full the window is with what the model sees now, or would by another view. */
export function measureContext(agent: AgentState, plan: ModelPlan, cut = agent.view): WindowUse {
  const view = viewOf(agent.history, cut, plan.model);
  const systemTokens = tokens(plan.system.length);
  const conversationTokens = tokens(view === agent.history ? agent.historySize : sizeOfAll(view));
  const toolDefinitionsTokens = tokens(plan.toolset.size);
  return {
    tokenLimit: plan.info?.maxPromptTokens ?? plan.info?.contextWindow ?? defaultTokenLimit,
    currentTokens: systemTokens + conversationTokens + toolDefinitionsTokens,
    systemTokens,
    conversationTokens,
    toolDefinitionsTokens,
    messagesLength: view.length + 1,
  };
}

export function reportContextUse(context: AgentContext, plan: ModelPlan): void {
  const { log, interaction } = context;
  const isInitial = interaction.rounds === 1;
  const use = measureContext(log.latest, plan, interaction.view);
  log.emit({ type: 'session.usage_info', data: { isInitial, ...use } });
}

function tokens(characters: number): number {
  return Math.ceil(characters / 4);
}
