import { ModelError } from '@groundcrew/models';
import type { ModelAnswer } from '../model-call/model-call.js';
import type { AgentContext, ModelPlan } from './agent-context.js';
import { callRequestOf, sentDrafts } from './request.js';
import { summaryCall } from './summary-call.js';
import { fitKnownWindow, giveUp, omitHalf, omitMost } from './window.js';

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
  const { planner, modelSwitch } = context;
  // A question that a process before this one had asked comes first; after a no, the model may have time again.
  const isSwitched = await modelSwitch.askAgain(plan.model, signal);
  if (!isSwitched) {
    try {
      return { answer: await askFitting(context, plan, signal), plan };
    } catch (error) {
      if (isSwitched === false || !(await mayAskAnother(error, { context, plan }, signal))) throw error;
    }
  }
  const other = await planner.freshPlan(signal);
  appendSystemPrompt(context, other);
  return { answer: await askFitting(context, other, signal), plan: other };
}

/**
 * Asks with as much of the conversation as the model has room for: after a refusal with a summary or the newer half, then with
 * the least there is, and no more.
 */
async function askFitting(context: AgentContext, plan: ModelPlan, signal: AbortSignal): Promise<ModelAnswer> {
  const { compactor } = context.window;
  const isRoomy = await compactor.makeRoom(summaryCall(context, plan), signal);
  let refusals = 0;
  // Without a summary the turn goes on with less of the conversation, before the service refuses it.
  if (!isRoomy) fitKnownWindow(context, plan, withoutSummary);
  for (;;) {
    fitKnownWindow(context, plan);
    try {
      return await context.models.call(callRequestOf(context, plan), signal);
    } catch (error) {
      if (error instanceof ModelError) context.log.append(...sentDrafts(context, plan));
      if (refusesFormat(error, context)) continue;
      const isTooLong = error instanceof ModelError && error.kind === 'context_too_long';
      if (!isTooLong || signal.aborted) throw error;
      refusals += 1;
      if (refusals === 1 && (await compactor.afterRefusal(summaryCall(context, plan), signal))) continue;
      const isShorter = refusals === 1 ? omitHalf(context, plan) : omitMost(context, plan);
      if (!isShorter || refusals >= mostRefusals) throw giveUp(context, plan, error);
    }
  }
}

/** How often a service may refuse a request as too long before the turn fails. */
const mostRefusals = 3;

/** The share of a window that is filled while no summary can be had. */
const withoutSummary = 0.95;

/** A service that refuses the form of an answer is called again without it; the model reads the form in a text. */
function refusesFormat(error: unknown, { interaction, log }: AgentContext): boolean {
  if (!(error instanceof ModelError) || !log.latest.output || !interaction.usesOutputFormat) return false;
  const { statusCode, kind } = error;
  if (kind === 'context_too_long' || (statusCode !== 400 && statusCode !== 422)) return false;
  interaction.usesOutputFormat = false;
  return true;
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
