import { type ModelError, type ModelInfo, restate } from '@groundcrew/models';
import { lastUnit, shorterView } from '../log/history-view.js';
import type { Draft } from '../log/session-log.js';
import { estimateInput } from '../model-call/allowance.js';
import type { AgentContext, ModelPlan } from './agent-context.js';
import { measureContext } from './context-use.js';
import { callRequestOf } from './request.js';

/** How much of a window is filled again after a cut: one that is cut at every call would never be cached. */
const filledAgain = 0.75;

/** Leaves the oldest rounds out before the model is asked, where its window is known and too small for all. */
export function fitKnownWindow(context: AgentContext, plan: ModelPlan, share = 1): void {
  const known = promptLimit(plan.info);
  if (known === undefined) return;
  const limit = known * share;
  const { currentTokens, systemTokens, toolDefinitionsTokens } = measure(context, plan);
  // Some services count less than they take: they are not believed beyond half of what it looks like.
  const estimate = Math.max(estimateInput(context.log, callRequestOf(context, plan)), currentTokens / 2);
  if (estimate <= limit) return;
  const allowed = (limit * filledAgain * currentTokens) / estimate - systemTokens - toolDefinitionsTokens;
  // A window without room for prompt and tools is no window: the service knows better.
  if (allowed > 0) shorten(context, plan, allowed * 4);
}

/** Leaves the oldest half out after the service said that there is no room; false when nothing can be left out any more. */
export function omitHalf(context: AgentContext, plan: ModelPlan): boolean {
  return shorten(context, plan, measure(context, plan).conversationTokens * 2);
}

/** Leaves all out that can be; false when that was done already. */
export function omitMost(context: AgentContext, plan: ModelPlan): boolean {
  return shorten(context, plan, 0);
}

/** What the log says of a view that has had its first answer. */
export function shorterViewDrafts({ interaction, log }: AgentContext, plan: ModelPlan): readonly Draft[] {
  const { view } = interaction;
  interaction.view = undefined;
  if (view?.model !== plan.model) return [];
  const before = measureContext(log.latest, plan);
  const after = measureContext(log.latest, plan, view);
  const removed = before.messagesLength - after.messagesLength;
  const message = `The conversation has no more room in the window of ${plan.model}: the oldest ${removed} messages are left out of what the model sees. The session keeps them.`;
  return [
    { note: 'view.cut', data: view },
    {
      type: 'session.truncation',
      data: {
        tokenLimit: before.tokenLimit,
        preTruncationMessagesLength: before.messagesLength,
        preTruncationTokensInMessages: before.conversationTokens,
        postTruncationMessagesLength: after.messagesLength,
        postTruncationTokensInMessages: after.conversationTokens,
        messagesRemovedDuringTruncation: removed,
        tokensRemovedDuringTruncation: before.conversationTokens - after.conversationTokens,
        performedBy: 'groundcrew',
      },
    },
    { type: 'session.warning', data: { warningType: 'context_window', message } },
  ];
}

/**
 * What to do when even the shortest view does not fit: leaves out the prompt or the results that are too large, so that the
 * next prompt has room, and returns the error for users. The view from before stays as it was.
 */
export function giveUp(context: AgentContext, plan: ModelPlan, error: ModelError): ModelError {
  const { log, interaction } = context;
  const { history } = log.latest;
  const alone = measure(context, plan);
  const unit = lastUnit(history);
  interaction.view = undefined;
  const fixed = alone.systemTokens + alone.toolDefinitionsTokens;
  if (fixed >= (promptLimit(plan.info) ?? Number.POSITIVE_INFINITY)) {
    const filled = `The system prompt and the tools alone fill the window of ${plan.model} (about ${fixed} tokens): give it fewer instructions and tools, or choose a model with a larger window. The service said: ${error.message}`;
    return restate(error, { message: filled });
  }
  const size = `about ${alone.conversationTokens} tokens, beside ${fixed} for the system prompt and the tools`;
  const choose = 'choose a model with a larger window';
  // What a summary stands for is not lost with one prompt.
  if (unit.length === history.length && log.latest.compaction) {
    const summary = `The conversation is too large for the window of ${plan.model} even as a summary (${size}): ${choose}. The service said: ${error.message}`;
    return restate(error, { message: summary });
  }
  log.append({ note: 'history.dropped', data: { eventIds: unit.map(({ eventId }) => eventId) } });
  const what = unit[0]?.role === 'user' ? 'The prompt is' : 'The results of the last tools are';
  const message = `${what} too large for the window of ${plan.model} (${size}) and will not be shown to it again: send less at once, or ${choose}. The service said: ${error.message}`;
  return restate(error, { message });
}

function shorten(context: AgentContext, plan: ModelPlan, mostCharacters: number): boolean {
  const { log, interaction } = context;
  const cut = interaction.view ?? log.latest.view;
  const view = shorterView(log.latest.history, { cut, model: plan.model, mostCharacters });
  if (view) interaction.view = view;
  return view !== undefined;
}

function measure({ log, interaction }: AgentContext, plan: ModelPlan) {
  return measureContext(log.latest, plan, interaction.view);
}

/** How many tokens a request may have: where only the whole window is known, a part of it is kept for the answer. */
export function promptLimit(info: ModelInfo | undefined): number | undefined {
  const { maxPromptTokens, contextWindow, maxOutputTokens = 0 } = info ?? {};
  if (maxPromptTokens !== undefined || contextWindow === undefined) return maxPromptTokens;
  return contextWindow - Math.min(maxOutputTokens, contextWindow / 4);
}
