import type { ModelRequest } from '@groundcrew/models';
import { viewOf } from '../session/history-view.js';
import type { LoopContext, ModelPlan } from './context.js';
import type { Leave } from './spend.js';

/** The next call to the model, made from what the log adds up to. */
export function makeRequest(
  context: LoopContext,
  plan: ModelPlan,
  { maxOutputTokens, remark }: Pick<Leave, 'maxOutputTokens' | 'remark'> = {},
): ModelRequest {
  const { interaction } = context;
  const { requestHeaders, trace } = interaction.options;
  const { history, view } = context.log.latest;
  const { reader, memory } = context.memory.use();
  return {
    model: plan.model,
    system: plan.system,
    messages: reader.read(viewOf(history, interaction.view ?? view, plan.model), {
      canSeeImages: context.canSeeImages(),
      documents: context.documents(),
      model: plan.model,
    }),
    tools: plan.toolset.tools,
    stream: plan.streaming,
    ...(plan.reasoningEffort !== undefined && { reasoningEffort: plan.reasoningEffort }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(remark !== undefined && { remark }),
    ...(plan.citations && { citations: true }),
    memory,
    headers: { ...requestHeaders?.values, ...trace },
    ...(requestHeaders?.strategy === 'override' && { replacesHeaders: true }),
    origin: {
      sessionId: context.sessionId,
      interactionId: interaction.id,
      clientName: context.clientName,
      initiator: interaction.initiator,
      interactionType: `conversation-${interaction.initiator}`,
    },
  };
}
