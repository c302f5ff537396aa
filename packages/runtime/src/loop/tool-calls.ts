import { isDeepStrictEqual } from 'node:util';
import type { EventData } from '@groundcrew/protocol';
import { outcomeOf, refusalBy, refusalOf } from '../permissions/decision.js';
import { Forbidden, forbid, judge } from '../permissions/policy.js';
import { searchExclusions } from '../permissions/real-rules.js';
import { addressSubject, examine, placeSubject, type Subject, toolSubject } from '../permissions/subject.js';
import type { Draft } from '../session/log.js';
import type { Answers } from '../session/questions.js';
import { resultOfAnswer } from '../tools/ask-user.js';
import { externalResult } from '../tools/external.js';
import {
  type PermissionQuestion,
  type PermissionRequest,
  type PreparedCall,
  type ResultType,
  ToolFailure,
  ToolInputError,
  type ToolResult,
} from '../tools/tool.js';
import type { UserQuestion } from '../tools/user-question.js';
import type { LoopContext, ModelPlan } from './context.js';
import { troubleWithRules } from './deliver.js';
import { interruptedText } from './history-reader.js';

/** A call as the model made it, its arguments read. */
export interface CallToRun {
  readonly toolCallId: string;
  readonly name: string;
  readonly arguments: unknown;
  readonly argumentsText: string;
  /** Why its arguments could not be read. */
  readonly problem?: string;
  /** What it was given leave for before a process died; the same is not asked again, and nothing else is covered. */
  readonly granted?: readonly EventData<'permission.requested'>[];
}

/** What a call needs to pass the gate. */
export interface Gate {
  readonly context: LoopContext;
  readonly plan: ModelPlan;
}

/** The word that a call begins, with what there is to see of it before. */
export async function startOf(call: CallToRun, { context, plan }: Gate): Promise<Draft> {
  const preview = await plan.toolset.find(call.name)?.preview?.(call.arguments);
  return {
    type: 'tool.execution_start',
    data: {
      toolCallId: call.toolCallId,
      toolName: call.name,
      arguments: call.arguments,
      turnId: context.interaction.turnId,
      model: plan.model,
      ...preview,
    },
  };
}

/** Runs the calls of one message side by side, each through the gate. False when a rejection ends the turn. */
export async function runToolCalls(
  calls: readonly CallToRun[],
  gate: Gate,
  signal: AbortSignal,
): Promise<boolean> {
  const outcomes = await Promise.all(calls.map((call) => passGate(call, gate, signal)));
  return !outcomes.includes('rejected');
}

/** The one way to run a tool, whoever asks for it. A failing tool is an answer, never an exception. */
export async function passGate(call: CallToRun, gate: Gate, signal: AbortSignal): Promise<ResultType> {
  try {
    return await admitAndRun(call, gate, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return finish(call, failureOf(call, error), gate);
  }
}

/** Waits for some client's answer to a call it was asked to run, and closes the call with it. */
export function awaitClient(
  call: CallToRun,
  requestId: string,
  gate: Gate & { readonly signal: AbortSignal },
): Promise<ResultType> {
  const settle = (answer: Answers['external_tool']) => {
    const result = externalResult({ toolName: call.name, arguments: call.arguments }, answer);
    return finish(call, result, gate, { type: 'external_tool.completed', data: { requestId } });
  };
  const { questions, waits } = gate.context;
  const answered = questions.ask({ kind: 'external_tool', requestId }, settle, gate.signal);
  return waits.during({ kind: 'tool', toolCallId: call.toolCallId, toolName: call.name }, answered);
}

/** Waits for the answer to a question that the agent has asked, and closes the call with it. */
export async function awaitUser(
  call: CallToRun,
  asked: EventData<'user_input.requested'>,
  gate: Gate & { readonly signal: AbortSignal },
): Promise<ResultType> {
  const { requestId } = asked;
  const { questions, userInput } = gate.context;
  const settle = (answer: Answers['user_input']) =>
    finish(call, resultOfAnswer(answer), gate, {
      type: 'user_input.completed',
      data: { requestId, ...answer },
    });
  const answered = questions.ask({ kind: 'user_input', requestId }, settle, gate.signal);
  userInput.put(asked);
  return answered.finally(() => userInput.close(requestId));
}

/** Waits for a decision; undefined when the call may run, else it is already closed. */
export function awaitLeave(
  call: CallToRun,
  requestId: string,
  gate: Gate & { readonly signal: AbortSignal },
): Promise<ResultType | undefined> {
  const { context } = gate;
  const settle = (decision: Answers['permission']): ResultType | undefined => {
    const result = outcomeOf(decision);
    const completed: Draft = {
      type: 'permission.completed',
      data: { requestId, toolCallId: call.toolCallId, result },
    };
    const refusal = refusalOf(result);
    if (refusal) return finish(call, refusal, gate, completed);
    context.log.append(completed);
    return undefined;
  };
  return context.questions.ask({ kind: 'permission', requestId }, settle, gate.signal);
}

/** Closes a call of which nobody knows whether it ran: model and clients are told so, and it is not run again. */
export function closeUnknown(call: CallToRun, gate: Gate): ResultType {
  return finish(call, { type: 'failure', text: interruptedText }, gate);
}

/** What comes after leave was given: the intent is durable before the effect. */
async function runPrepared(
  call: CallToRun,
  prepared: PreparedCall,
  gate: Gate & { readonly signal: AbortSignal; readonly isHardened: boolean },
): Promise<ResultType> {
  const { context, signal } = gate;
  const { log } = context;
  if (prepared.type === 'ask') return askUser(call, prepared.question, gate);
  log.append({ note: 'call.intended', data: { toolCallId: call.toolCallId, attempt: 1 } });
  if (prepared.type === 'run') {
    await log.stored();
    const wait = { kind: 'tool', toolCallId: call.toolCallId, toolName: call.name } as const;
    const run = (gate.isHardened && prepared.runHardened) || prepared.run;
    return finish(call, await context.waits.during(wait, run.call(prepared, signal)), gate);
  }
  const requestId = context.clock.newId();
  log.append({ type: 'external_tool.requested', data: externalRequest(call, requestId, context) });
  return awaitClient(call, requestId, gate);
}

/** The event is not stored, so a note keeps the question for whoever comes after a crash. */
function askUser(
  call: CallToRun,
  question: UserQuestion,
  gate: Gate & { readonly signal: AbortSignal },
): Promise<ResultType> {
  const { clock, log } = gate.context;
  const asked = { requestId: clock.newId(), toolCallId: call.toolCallId, ...question };
  log.append({ note: 'question.asked', data: asked }, { type: 'user_input.requested', data: asked });
  return awaitUser(call, asked, gate);
}

/** Finds the tool and lets it check its input; nothing has happened yet when this throws. */
async function prepareCall(call: CallToRun, { context, plan }: Gate): Promise<PreparedCall> {
  const tool = plan.toolset.find(call.name);
  if (!tool) throw unknownTool(call.name, plan);
  if (call.problem !== undefined) throw new ToolFailure(call.problem);
  const occasion = { toolName: call.name, workingDirectory: context.workingDirectory };
  requireNotForbidden(toolSubject(occasion), context);
  return tool.prepare(call.arguments, {
    checkPlace: (place) => requireNotForbidden(placeSubject(place, occasion), context),
    checkAddress: (url) => requireNotForbidden(addressSubject(url, occasion), context),
    searchExclusions: () => searchExclusions(context.prohibitions().deny, context.workingDirectory),
    sessionId: context.sessionId,
    toolCallId: call.toolCallId,
    notify: (notice) => {
      if (notice.type === 'system.notification') context.log.append(notice);
      else context.log.emit(notice);
    },
    progress: (partialOutput) =>
      context.log.emit({
        type: 'tool.execution_partial_result',
        data: { toolCallId: call.toolCallId, partialOutput },
      }),
    ...context.toolSurroundings(),
  });
}

async function admitAndRun(call: CallToRun, gate: Gate, signal: AbortSignal): Promise<ResultType> {
  const prepared = await prepareCall(call, gate);
  let isHardened = false;
  for (const next of prepared.questions ?? []) {
    const question = typeof next === 'function' ? await next() : next;
    const permission = await seekLeave(call, question, { signal, ...gate });
    if (permission.refused) return permission.refused;
    isHardened ||= permission.isHardened ?? false;
  }
  return runPrepared(call, prepared, { signal, isHardened, ...gate });
}

/** What rules forbid ends before a tool has looked at anything; throws Forbidden. */
function requireNotForbidden(subject: Subject, context: LoopContext): void {
  const verdict = forbid(subject, context.prohibitions());
  if (!verdict) return;
  context.log.append(...troubleWithRules(context));
  throw new Forbidden(verdict);
}

/** What came of one question. */
interface Permission {
  /** The call is closed with this. */
  readonly refused?: ResultType | undefined;
  /** It runs unasked because it only reads. */
  readonly isHardened?: boolean;
}

async function seekLeave(
  call: CallToRun,
  asked: PermissionQuestion,
  gate: Gate & { readonly signal: AbortSignal },
): Promise<Permission> {
  const { context } = gate;
  const { request, prompt } = asked;
  const permissionRequest = { ...request, toolCallId: call.toolCallId };
  const promptRequest = prompt ? { ...prompt, toolCallId: call.toolCallId } : promptFor(permissionRequest);
  const question = { requestId: context.clock.newId(), permissionRequest, promptRequest };
  const { workingDirectory } = context;
  const subject = await examine(asked, { toolName: call.name, workingDirectory });
  const verdict = judge(subject, context.policy());
  if (verdict.type === 'allow') return { isHardened: verdict.isHardened ?? false };
  const isForbidden = verdict.rule !== undefined || verdict.problem !== undefined;
  if (!isForbidden && call.granted?.some((granted) => isSameQuestion(granted, question))) return {};
  if (verdict.type === 'deny') return { refused: finish(call, refusalBy(verdict), gate) };
  context.log.append({ type: 'permission.requested', data: question });
  return { refused: await awaitLeave(call, question.requestId, gate) };
}

/**
 * A client that came back may describe its tool in other words. The prompt counts too: leave for a place is not leave to
 * read what is there, though both ask by the same request.
 */
function isSameQuestion(
  granted: EventData<'permission.requested'>,
  asked: EventData<'permission.requested'>,
): boolean {
  const plain = ({ permissionRequest, promptRequest }: EventData<'permission.requested'>) =>
    JSON.parse(JSON.stringify([{ ...permissionRequest, toolDescription: '' }, promptRequest?.kind]));
  return isDeepStrictEqual(plain(granted), plain(asked));
}

/** Closes a call: `before` and its receipt are one commit. */
function finish(
  call: CallToRun,
  result: ToolResult,
  { context, plan }: Gate,
  ...before: Draft[]
): ResultType {
  const { interaction } = context;
  const shown = result.type === 'success' ? result.text : (result.message ?? result.text);
  const isVerbatim = shown === result.text && result.parts === undefined;
  const verbatim: Draft[] = isVerbatim
    ? []
    : [
        {
          note: 'verbatim',
          data: { id: call.toolCallId, text: result.text, ...(result.parts && { parts: result.parts }) },
        },
      ];
  const data: EventData<'tool.execution_complete'> = {
    toolCallId: call.toolCallId,
    success: result.type === 'success',
    model: plan.model,
    interactionId: interaction.id,
    turnId: interaction.turnId,
    ...(result.type === 'success'
      ? { result: successOf(result) }
      : { error: { message: shown, code: result.type } }),
    toolTelemetry: result.telemetry ?? {},
  };
  context.log.append(...before, ...verbatim, { type: 'tool.execution_complete', data });
  return result.type;
}

function successOf(result: ToolResult): EventData<'tool.execution_complete'>['result'] {
  return {
    content: result.text,
    detailedContent: result.details ?? result.text,
    ...(result.contents && { contents: result.contents }),
    ...(result.binaries && { binaryResultsForLlm: result.binaries }),
  } as EventData<'tool.execution_complete'>['result'];
}

function externalRequest(
  call: CallToRun,
  requestId: string,
  context: LoopContext,
): EventData<'external_tool.requested'> {
  return {
    requestId,
    sessionId: context.sessionId,
    toolCallId: call.toolCallId,
    toolName: call.name,
    arguments: call.arguments,
    workingDirectory: context.workingDirectory,
    ...context.interaction.options.trace,
  };
}

function promptFor(request: PermissionRequest): EventData<'permission.requested'>['promptRequest'] {
  if (request.kind !== 'shell') return request;
  const { fullCommandText, intention, commands, canOfferSessionApproval, warning, toolCallId } = request;
  return {
    kind: 'commands',
    fullCommandText,
    intention,
    commandIdentifiers: commands.map((command) => command.identifier),
    canOfferSessionApproval,
    ...(warning !== undefined && { warning }),
    ...(toolCallId !== undefined && { toolCallId }),
  };
}

function unknownTool(name: string, plan: ModelPlan): ToolFailure {
  const names = plan.toolset.tools.map((tool) => tool.name).join(', ');
  return new ToolFailure(
    `Tool '${name}' does not exist. Available tools that can be called are ${names}.`,
    `Tool '${name}' does not exist.`,
  );
}

function failureOf(call: CallToRun, error: unknown): ToolResult {
  if (error instanceof ToolInputError)
    return { type: 'failure', text: `Invalid input: ${error.message}`, message: error.message };
  if (error instanceof ToolFailure) return { type: 'failure', text: error.text, message: error.message };
  if (error instanceof Forbidden) return refusalBy(error.verdict);
  const reason = error instanceof Error ? error.message : String(error);
  const args = JSON.stringify(call.arguments) ?? '';
  const shown = args.length > longestArguments ? `${args.slice(0, longestArguments)}…` : args;
  return {
    type: 'failure',
    text: `Failed to execute \`${call.name}\` tool with arguments: ${shown} due to error: Error: ${reason}`,
    message: reason,
  };
}

/** A model that reads its own words again needs no more of them to know the call. */
const longestArguments = 2000;
