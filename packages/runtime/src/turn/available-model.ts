import { ModelError } from '@groundcrew/models';
import type { ModelAnswer } from '../model-call/model-call.js';
import type { AgentContext, ModelPlan } from './context.js';
import { questionOf } from './request.js';

/** An answer, and the plan it was given by. */
export interface Answered {
  readonly answer: ModelAnswer;
  readonly plan: ModelPlan;
}

/** Asks the model; where it is rate limited, and users agree, another one in its place. */
export async function askAvailableModel(
  context: AgentContext,
  plan: ModelPlan,
  signal: AbortSignal,
): Promise<Answered> {
  const { models, planner } = context;
  try {
    return { answer: await models.ask(questionOf(context, plan), signal), plan };
  } catch (error) {
    if (!(await mayAskAnother(error, { context, plan }, signal))) throw error;
  }
  const other = planner.plan();
  appendSystemPrompt(context, other);
  return { answer: await models.ask(questionOf(context, other), signal), plan: other };
}

/** The system prompt is an event whenever it is another text. */
export function appendSystemPrompt({ log, interaction }: AgentContext, { system }: ModelPlan): void {
  if (system === log.latest.systemPrompt) return;
  log.append({
    type: 'system.message',
    data: { role: 'system', content: system, interactionId: interaction.id },
  });
}

async function mayAskAnother(
  error: unknown,
  { context, plan }: { readonly context: AgentContext; readonly plan: ModelPlan },
  signal: AbortSignal,
): Promise<boolean> {
  if (!(error instanceof ModelError) || error.kind !== 'rate_limit' || signal.aborted) return false;
  if (plan.otherModel === undefined || context.log.session.model === 'auto') return false;
  const { code, retryAfter } = error;
  const limit = {
    model: plan.model,
    ...(code !== undefined && { errorCode: code }),
    ...(retryAfter !== undefined && { retryAfterSeconds: retryAfter }),
  };
  return context.modelSwitch.seek(limit, signal);
}
