import type { ToolCall } from '@groundcrew/models';
import type { EventData } from '@groundcrew/protocol';
import type { Draft } from '../session/log.js';
import type { ModelAnswer } from './answer.js';
import { excessIn } from './argument-bounds.js';
import { askAvailableModel, tellSystemPrompt } from './available.js';
import type { LoopContext, ModelPlan } from './context.js';
import { deliverSteering } from './deliver.js';
import { type CallToRun, type Gate, runToolCalls, startOf } from './tool-calls.js';
import { reportContextUse } from './usage.js';
import { shorterViewDrafts } from './window.js';

/** A bound of the loop was reached. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached';
}

/** One model answer and the tools it asked for. True when the model now waits for their results. */
export async function runTurn(context: LoopContext, signal: AbortSignal): Promise<boolean> {
  const { log, interaction, limits } = context;
  await deliverSteering(context);
  const first = context.plan();
  begin(context, first);
  const begun = log.stored();
  // Nobody's money is spent on a prompt that may be refused yet. Results of tools are stored while the model reads them.
  if (interaction.rounds <= 1) await begun;
  else begun.catch(context.giveUp);
  reportContextUse(context, first);
  const { answer, plan } = await askAvailableModel(context, first, signal);
  await begun;
  const calls = answer.calls.map(readCall);
  const isTooMuch = calls.length > 0 && interaction.rounds > limits.toolRounds;
  const starts = isTooMuch ? [] : await Promise.all(calls.map((call) => startOf(call, { context, plan })));
  log.append(...shorterViewDrafts(context, plan), ...saying(answer, calls, { context, plan }), ...starts);
  tellReasoning(context, answer, plan);
  if (isTooMuch) throw tooManyRounds(limits);
  const goesOn = calls.length > 0 && (await runToolCalls(calls, { context, plan }, signal));
  log.append({ type: 'assistant.turn_end', data: { turnId: interaction.turnId } });
  if (!goesOn) await log.stored();
  return goesOn;
}

function tooManyRounds({ toolRounds }: LoopContext['limits']): LimitReached {
  return new LimitReached(
    `The turn was ended after ${toolRounds} rounds of tool calls. Send another prompt to go on.`,
  );
}

function begin(context: LoopContext, plan: ModelPlan): void {
  const { log, interaction } = context;
  tellSystemPrompt(context, plan);
  if (interaction.isContinued) {
    interaction.isContinued = false;
    return;
  }
  interaction.rounds += 1;
  log.append({
    type: 'assistant.turn_start',
    data: { turnId: interaction.turnId, interactionId: interaction.id },
  });
}

/** Parses what the model wrote; arguments that are no JSON are cleared and the call fails with the reason. */
function readCall(call: ToolCall): CallToRun {
  const base = { toolCallId: call.callId, name: call.name };
  if (call.argumentsText.trim() === '') return { arguments: {}, argumentsText: '{}', ...base };
  const excess = excessIn(call.argumentsText);
  if (excess !== undefined) {
    const problem = `The arguments for the tool call '${call.name}' were not taken: ${excess}. The arguments have been cleared. Call the tool with less at once.`;
    return { arguments: {}, argumentsText: '{}', problem, ...base };
  }
  try {
    const parsed: unknown = JSON.parse(call.argumentsText);
    return { arguments: parsed ?? {}, argumentsText: call.argumentsText, ...base };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const problem = `The arguments for the tool call '${call.name}' were not valid JSON. The arguments have been cleared. Arguments: ${shortened(call.argumentsText)}. JSON parse error: ${reason}`;
    return { arguments: {}, argumentsText: '{}', problem, ...base };
  }
}

/** As much as shows what is wrong. */
function shortened(text: string): string {
  return text.length > 4000 ? `${text.slice(0, 4000)}… (${text.length} characters)` : text;
}

type ToolRequest = NonNullable<EventData<'assistant.message'>['toolRequests']>[number];

function saying(answer: ModelAnswer, calls: readonly CallToRun[], { context, plan }: Gate): Draft[] {
  const { interaction } = context;
  const unusual = calls.filter((call) => JSON.stringify(call.arguments) !== call.argumentsText);
  const data: EventData<'assistant.message'> = {
    messageId: answer.messageId,
    model: plan.model,
    content: answer.text,
    toolRequests: calls.map((call) => requestOf(call, plan)),
    interactionId: interaction.id,
    turnId: interaction.turnId,
    outputTokens: answer.settled.usage.outputTokens,
    ...(answer.reasoning !== '' && { reasoningText: answer.reasoning }),
    ...(answer.responseId !== undefined && { apiCallId: answer.responseId }),
  };
  const kept: Draft = { note: 'verbatim', data: { id: answer.messageId, text: '', kept: answer.kept } };
  return [
    answer.usage,
    { note: 'ask.settled', data: answer.settled },
    ...(answer.kept.length > 0 ? [kept] : []),
    ...unusual.map(
      (call): Draft => ({ note: 'verbatim', data: { id: call.toolCallId, text: call.argumentsText } }),
    ),
    { type: 'assistant.message', data },
  ];
}

function requestOf(call: CallToRun, plan: ModelPlan): ToolRequest {
  const intention = plan.toolset.find(call.name)?.intention?.(call.arguments);
  return {
    toolCallId: call.toolCallId,
    name: call.name,
    arguments: call.arguments,
    type: 'function',
    ...(intention !== undefined && { intentionSummary: intention }),
  };
}

function tellReasoning({ log, clock }: LoopContext, answer: ModelAnswer, plan: ModelPlan): void {
  if (!plan.streaming || answer.reasoning === '') return;
  log.emit({
    type: 'assistant.reasoning',
    ephemeral: true,
    data: { reasoningId: answer.reasoningId ?? clock.newId(), content: answer.reasoning },
  });
}
