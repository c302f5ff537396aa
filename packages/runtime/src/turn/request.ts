import type { ModelRequest } from '@groundcrew/models';
import { viewOf } from '../log/history-view.js';
import type { Allowance, ModelQuestion } from '../model-call/question.js';
import type { AgentContext, ModelPlan } from './context.js';
import { measureContext } from './context-use.js';

/** What a turn asks its model: the conversation so far. */
export function questionOf(context: AgentContext, plan: ModelPlan): ModelQuestion {
  const { interaction, log } = context;
  const { provider, model, info, streaming, reasoningEffort } = plan;
  return {
    provider,
    model,
    info,
    streaming,
    ...(reasoningEffort !== undefined && { reasoningEffort }),
    initiator: interaction.initiator,
    estimate: () => measureContext(log.latest, plan, interaction.view).currentTokens,
    request: (allowance) => makeRequest(context, plan, allowance),
    countBytes: (bytes) => interaction.countBytes(bytes),
  };
}

/** The next call to the model, made from what the log adds up to. */
function makeRequest(
  context: AgentContext,
  plan: ModelPlan,
  { maxOutputTokens, remark }: Allowance,
): ModelRequest {
  const { interaction, planner, session, log, memory } = context;
  const { requestHeaders, trace } = interaction.options;
  const { history, view } = log.latest;
  return {
    model: plan.model,
    system: plan.system,
    messages: memory.use().read(viewOf(history, interaction.view ?? view, plan.model), {
      canSeeImages: planner.canSeeImages(),
      documents: planner.documents(),
      model: plan.model,
    }),
    tools: plan.toolset.tools,
    stream: plan.streaming,
    ...(plan.reasoningEffort !== undefined && { reasoningEffort: plan.reasoningEffort }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(remark !== undefined && { remark }),
    ...(plan.citations && { citations: true }),
    headers: { ...requestHeaders?.values, ...trace },
    ...(requestHeaders?.strategy === 'override' && { replacesHeaders: true }),
    origin: {
      sessionId: session.sessionId,
      interactionId: interaction.id,
      clientName: session.clientName,
      initiator: interaction.initiator,
      interactionType: `conversation-${interaction.initiator}`,
    },
  };
}
