import type { SummaryCall } from '../compaction/summary-call.js';
import { estimateInput } from '../model-call/allowance.js';
import type { AgentContext, ModelPlan } from './agent-context.js';
import { measureContext } from './context-use.js';
import { HistoryReader } from './history-reader.js';
import { callRequestOf } from './request.js';
import { promptLimit } from './window.js';

/** How the model of a plan is asked for a summary: as it is asked in turns, with the same prompt and tools in front. */
export function summaryCall(context: AgentContext, plan: ModelPlan): SummaryCall {
  const { interaction, planner, session, log } = context;
  const { requestHeaders, trace } = interaction.options;
  const { provider, model, info, system, reasoningEffort, toolset } = plan;
  const view = { ...planner.view(), model };
  const limit = promptLimit(info);
  return {
    provider,
    model,
    info,
    request: {
      model,
      system,
      tools: toolset.tools,
      ...(reasoningEffort !== undefined && { reasoningEffort }),
      origin: {
        sessionId: session.sessionId,
        interactionId: interaction.id,
        clientName: session.clientName,
        initiator: 'agent',
        interactionType: 'conversation-compaction',
      },
    },
    headers: {
      headers: { ...requestHeaders?.values, ...trace },
      ...(requestHeaders?.strategy === 'override' && { replacesHeaders: true }),
    },
    read: (history) => new HistoryReader().read(history, view),
    measure: (agent) => {
      const use = measureContext(agent, plan);
      return limit === undefined ? use : { ...use, tokenLimit: Math.floor(limit) };
    },
    // Some services count less than they take: they are not believed beyond half of what it looks like.
    estimate: () =>
      Math.max(
        estimateInput(log, callRequestOf(context, plan)),
        measureContext(log.latest, plan).currentTokens / 2,
      ),
  };
}
