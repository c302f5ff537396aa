import type { ModelInfo } from '@groundcrew/models';
import type { ServerEnvironment } from '@groundcrew/server';

type WireModel = Awaited<ReturnType<ServerEnvironment['listModels']>>[number];

/** A model as clients read it. */
export function wireModel(model: ModelInfo): WireModel {
  const { policy, billing } = (model.raw ?? {}) as {
    policy?: WireModel['policy'];
    billing?: { multiplier?: number };
  };
  const efforts = model.reasoningEfforts ?? [];
  return {
    id: model.id,
    name: model.name,
    capabilities: {
      supports: { vision: model.vision, reasoningEffort: efforts.length > 0 },
      limits: {
        max_context_window_tokens: model.contextWindow ?? 128_000,
        ...(model.maxPromptTokens !== undefined && { max_prompt_tokens: model.maxPromptTokens }),
        ...(model.maxOutputTokens !== undefined && { max_output_tokens: model.maxOutputTokens }),
      },
    },
    ...(policy && { policy }),
    ...(billing && { billing: { multiplier: billing.multiplier ?? 1 } }),
    ...(efforts.length > 0 && { supportedReasoningEfforts: [...efforts] }),
    ...(model.defaultReasoningEffort !== undefined && {
      defaultReasoningEffort: model.defaultReasoningEffort,
    }),
  };
}
