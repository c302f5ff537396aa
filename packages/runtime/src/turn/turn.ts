import type { ToolCall } from '@groundcrew/models';
import type { EventData } from '@groundcrew/protocol';
import type { CallToRun, GateTurn } from '../gate/call.js';
import type { Draft } from '../log/session-log.js';
import { modeOf } from '../log/state.js';
import type { ModelAnswer } from '../model-call/model-call.js';
import type { AgentContext, ModelPlan } from './agent-context.js';
import { excessIn } from './argument-bounds.js';
import { continuationOf } from './autopilot.js';
import { appendSystemPrompt, askAvailableModel } from './available-model.js';
import { reportContextUse } from './context-use.js';
import { deliver, deliverSteering } from './deliver.js';
import { blockOf, startSession } from './prompt-hooks.js';
import { sentDrafts } from './request.js';
import { checkOutput } from './structured-output.js';
import { shorterViewDrafts } from './window.js';

/** A bound of the loop was reached. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached';
}

/** One prompt, turn after turn, until the model asks for no tool. Prompts that wait get an interaction of their own. */
export async function runUntilAnswered(
  context: AgentContext,
  signal: AbortSignal,
  /** How the turn ended that an earlier process had left open. */
  last?: TurnEnd,
): Promise<void> {
  const { log, interaction, session } = context;
  for (let left = last; ; left = undefined) {
    signal.throwIfAborted();
    const end = left ?? (await runTurn(context, signal));
    if (end === 'results wait') continue;
    const reason = await blockOf(context, signal);
    if (reason !== undefined) interaction.blocks += 1;
    const next = reason === undefined ? await continuationOf(context, end) : { text: reason };
    if (!next) {
      if ((await checkOutput(context, signal)) === 'repaired') continue;
      if (log.latest.stop?.isOpen) log.append({ note: 'stop.decided', data: {} });
      return;
    }
    const { promptMode } = log.session;
    const prompt = {
      messageId: session.clock.newId(),
      mode: 'enqueue' as const,
      ...next,
      // A prompt that the runtime writes keeps the mode of the prompt it belongs to.
      ...(promptMode && { agentMode: promptMode }),
    };
    await deliver(prompt, { delivery: 'queued', signal }, context);
  }
}

/** How a turn ended: the model waits for results, it has answered, or a user has rejected a call. */
export type TurnEnd = 'results wait' | 'answered' | 'rejected';

/** One model answer and the tools it asked for. */
async function runTurn(context: AgentContext, signal: AbortSignal): Promise<TurnEnd> {
  const { log, interaction, gate, planner, session } = context;
  await deliverSteering(context, signal);
  let first = await planner.freshPlan(signal);
  noticeServers(context);
  begin(context, first);
  if (await startSession(context, signal)) {
    first = planner.plan();
    appendSystemPrompt(context, first);
  }
  const { answer, plan } = await askWhileStoring(context, first, signal);
  const turn = gateTurn(context, plan);
  const calls = answer.calls.map(readCall);
  const isTooMuch = calls.length > 0 && interaction.rounds > session.limits.toolRounds;
  const starts = isTooMuch ? [] : await Promise.all(calls.map((call) => gate.startOf(call, turn)));
  log.append(
    ...sentDrafts(context, plan),
    ...shorterViewDrafts(context, plan),
    ...answerDrafts(answer, calls, { context, plan }),
    ...starts.flat(),
  );
  emitReasoning(context, answer, plan);
  if (isTooMuch) throw tooManyRounds(session.limits.toolRounds);
  const end = await endOf(calls, { gate, turn }, signal);
  log.append(...turnEnd(context, interaction.turnId, end));
  if (end !== 'results wait') await log.stored();
  return end;
}

/**
 * What closes a turn. Where hooks or autopilot may have the agent go on, the same commit says that it has not stopped: a
 * crash before they are asked does not end its work.
 */
export function turnEnd({ log, interaction, hooks }: AgentContext, turnId: string, end: TurnEnd): Draft[] {
  const ended: Draft = { type: 'assistant.turn_end', data: { turnId } };
  const mayGoOn = modeOf(log.session) === 'autopilot' || hooks.has('agentStop');
  if (end === 'results wait' || log.agentId !== undefined || !mayGoOn) return [ended];
  const { id: interactionId, blocks } = interaction;
  return [{ note: 'stop.asked', data: { interactionId, blocks, isRejected: end === 'rejected' } }, ended];
}

async function endOf(
  calls: readonly CallToRun[],
  { gate, turn }: { readonly gate: AgentContext['gate']; readonly turn: GateTurn },
  signal: AbortSignal,
): Promise<TurnEnd> {
  if (calls.length === 0) return 'answered';
  return (await gate.runAll(calls, turn, signal)) ? 'results wait' : 'rejected';
}

/** Between two calls of a prompt the tools of servers may have changed. */
function noticeServers({ log, interaction, planner }: AgentContext): void {
  if (interaction.rounds === 0) return;
  const content = planner.noticeOfServers().trim();
  if (content === '') return;
  log.append({
    type: 'system.notification',
    data: { content, kind: { type: 'unclassified', metadata: { tools: 'changed' } } },
  });
}

/**
 * A prompt's first model call waits until the prompt is stored: nothing is spent on one that may be refused yet. Later
 * calls go out while the results they carry are stored; a failed commit ends them.
 */
async function askWhileStoring(context: AgentContext, plan: ModelPlan, signal: AbortSignal) {
  const { log, interaction } = context;
  const begun = log.stored();
  if (interaction.rounds <= 1) {
    await begun;
    reportContextUse(context, plan);
    return askAvailableModel(context, plan, signal);
  }
  const failure = new AbortController();
  begun.catch((error: unknown) => failure.abort(error));
  reportContextUse(context, plan);
  const answered = await askAvailableModel(context, plan, AbortSignal.any([signal, failure.signal]));
  await begun;
  return answered;
}

/** The turn as the gate needs to know it. */
export function gateTurn({ interaction }: AgentContext, { toolset, model }: ModelPlan): GateTurn {
  const { id: interactionId, turnId, options, watch } = interaction;
  return { toolset, model, interactionId, turnId, trace: options.trace, ...(watch && { watch }) };
}

function tooManyRounds(toolRounds: number): LimitReached {
  return new LimitReached(
    `The turn was ended after ${toolRounds} rounds of tool calls. Send another prompt to go on.`,
  );
}

function begin(context: AgentContext, plan: ModelPlan): void {
  const { log, interaction, planner } = context;
  for (const message of planner.promptWarnings())
    log.append({ type: 'session.warning', data: { warningType: 'system_message', message } });
  appendSystemPrompt(context, plan);
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

function answerDrafts(
  answer: ModelAnswer,
  calls: readonly CallToRun[],
  { context, plan }: { readonly context: AgentContext; readonly plan: ModelPlan },
): Draft[] {
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

function emitReasoning({ log, session }: AgentContext, answer: ModelAnswer, plan: ModelPlan): void {
  if (!plan.streaming || answer.reasoning === '') return;
  log.emit({
    type: 'assistant.reasoning',
    ephemeral: true,
    data: { reasoningId: answer.reasoningId ?? session.clock.newId(), content: answer.reasoning },
  });
}
