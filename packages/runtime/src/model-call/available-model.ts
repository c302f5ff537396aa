import { ModelError } from '@groundcrew/models';
import type { LoopContext, ModelPlan } from '../turn/context.js';
import { askModel, type ModelAnswer } from './model-call.js';

/** An answer, and the plan it was given by. */
export interface Answered {
  readonly answer: ModelAnswer;
  readonly plan: ModelPlan;
}

/** Asks the model; where it is rate limited, and people agree, another one in its place. */
export async function askAvailableModel(
  context: LoopContext,
  plan: ModelPlan,
  signal: AbortSignal,
): Promise<Answered> {
  try {
    return { answer: await askModel(context, plan, signal), plan };
  } catch (error) {
    if (!(await mayAskAnother(error, { context, plan }, signal))) throw error;
  }
  const other = context.plan();
  tellSystemPrompt(context, other);
  return { answer: await askModel(context, other, signal), plan: other };
}

/** What the model is told before all else is an event, whenever it is another text. */
export function tellSystemPrompt({ log, interaction }: LoopContext, { system }: ModelPlan): void {
  if (system === log.latest.systemPrompt) return;
  log.append({
    type: 'system.message',
    data: { role: 'system', content: system, interactionId: interaction.id },
  });
}

async function mayAskAnother(
  error: unknown,
  { context, plan }: { readonly context: LoopContext; readonly plan: ModelPlan },
  signal: AbortSignal,
): Promise<boolean> {
  if (!(error instanceof ModelError) || error.kind !== 'rate_limit' || signal.aborted) return false;
  if (plan.otherModel === undefined || context.log.state.model === 'auto') return false;
  const { code, retryAfter } = error;
  const limit = {
    model: plan.model,
    ...(code !== undefined && { errorCode: code }),
    ...(retryAfter !== undefined && { retryAfterSeconds: retryAfter }),
  };
  return context.modelSwitch.seek(limit, signal);
}
