import { type EventData, isObject, type JsonObject } from '@groundcrew/protocol';
import { StoreError } from '@groundcrew/store';
import type { Clock } from '../clock.js';
import type { HookGuard } from '../hooks/guard.js';
import type { Hooks } from '../hooks/hooks.js';
import { Interruption } from '../interruption.js';
import type { AgentLog } from '../log/agent-log.js';
import type { Draft } from '../log/session-log.js';
import type { OpenCall } from '../log/state.js';
import type { PermissionQuestion, PermissionRequest } from '../permissions/question.js';
import type { CallQuestion, CallQuestionKind, CallQuestions } from '../questions/call-questions.js';
import type { Offers } from '../questions/offers.js';
import type { Answers, Questions } from '../questions/questions.js';
import type { Waits } from '../questions/waits.js';
import type { TraceContext } from '../settings/session-settings.js';
import { externalResult } from '../tools/external.js';
import type { McpCall, PreparedCall, ResultType, ToolEnvironment, ToolResult } from '../tools/tool.js';
import { boundResult, fits, reviewedParts, wholeResult } from './bound-result.js';
import { type CallToRun, callsOf, type GateTurn, type Passage, traceOf } from './call.js';
import { CallHooks } from './call-hooks.js';
import { CallPermissions, type GatePermissions } from './call-permissions.js';
import { failureOf, interrupted } from './failed-result.js';
import { PlanModeCheck } from './plan-mode-check.js';
import { prepareCall } from './prepare.js';
import { receiptOf } from './receipt.js';

/** A call to an MCP server that no model made: the app of a server did. */
export interface ForeignCall {
  /** As models know the tool. */
  readonly name: string;
  readonly mcpCall: McpCall;
  /** What rules judge of it, by the arguments that hooks have left. */
  question(args: JsonObject): PermissionQuestion;
}

/** What the gate works with. */
export interface GateParts {
  readonly log: AgentLog;
  readonly clock: Clock;
  readonly questions: Questions;
  /** Questions whose answer is the result of a call. */
  readonly callQuestions: CallQuestions;
  readonly offers: Offers;
  readonly waits: Waits;
  readonly hooks: Hooks;
  readonly guard: HookGuard;
  readonly permissions: GatePermissions;
  /** What tools find around them now. */
  toolEnvironment(): ToolEnvironment;
}

/**
 * The one way to run a tool, from whichever source: hooks → find → parse → prepare → policy → question → intent → run →
 * hooks → bound → receipt. A failing tool is an answer, never an exception.
 */
export class Gate {
  private readonly permissions: CallPermissions;
  private readonly callHooks: CallHooks;

  constructor(private readonly parts: GateParts) {
    this.permissions = new CallPermissions(parts);
    this.callHooks = new CallHooks(parts);
  }

  /** What a call begins with: its event, and what the event does not say. */
  async startOf(call: CallToRun, { toolset, model, turnId }: GateTurn): Promise<Draft[]> {
    const preview = await toolset.find(call.name)?.preview?.(call.arguments);
    const { toolCallId, name: toolName, problem } = call;
    const data = { toolCallId, toolName, arguments: call.arguments, turnId, model, ...preview };
    const start: Draft = { type: 'tool.execution_start', data };
    if (problem === undefined) return [start];
    return [start, { note: 'call.unreadable', data: { toolCallId, problem } }];
  }

  /** Runs the calls of one message side by side. False when a rejection ends the turn. */
  async runAll(calls: readonly CallToRun[], turn: GateTurn, signal: AbortSignal): Promise<boolean> {
    const reviews = this.callHooks.reviewsOf(calls);
    const passages = calls.map((call) => ({ call, original: call, turn, signal, ...reviews }));
    const outcomes = await Promise.all(
      passages.map((passage) => this.guarded(passage, () => this.pass(passage))),
    );
    return !outcomes.includes('rejected');
  }

  /** Asks permission for something that is no tool call; resolves with the reason of a denial, or with undefined. */
  async permit(request: PermissionRequest, signal: AbortSignal): Promise<string | undefined> {
    const { clock, guard } = this.parts;
    const call = { toolCallId: clock.newId(), name: '', arguments: {}, argumentsText: '' };
    const asking = guard.isAway ? 'always' : 'as the policy says';
    return (await this.permissions.seekAside(call, { request }, { asking, signal })).refusal?.text;
  }

  /** Judges a call that no model made: returns what is sent to the server, or why it is denied. */
  async reviewForeign(
    { mcpCall, name, question }: ForeignCall,
    signal: AbortSignal,
  ): Promise<{ readonly denial: string } | { readonly call: McpCall; readonly meta?: JsonObject }> {
    const given = { toolCallId: this.parts.clock.newId(), name, argumentsText: '' };
    const original: CallToRun = { ...given, arguments: mcpCall.arguments };
    const reviewed = await this.callHooks.review({ call: original, original, signal });
    if ('denial' in reviewed) return reviewed;
    const { passage } = reviewed;
    const { call } = passage;
    if (!isObject(call.arguments)) return { denial: `The arguments of ${name} must be an object` };
    const asked = question(call.arguments);
    const forbidden = await this.permissions.prohibition(call, asked);
    const planMode = new PlanModeCheck(this.parts, call, undefined);
    const refusal = forbidden ?? (await planMode.refusalOf(asked));
    if (refusal) return { denial: refusal.text };
    const own = reviewed.question ?? this.callHooks.guardQuestion(passage);
    const permission = own ? await this.permissions.seekAside(call, own, { asking: 'always', signal }) : {};
    // Rules and the mode may have changed while users were asked.
    const late =
      permission.refusal ?? (await this.permissions.prohibition(call, asked)) ?? (await planMode.refusal());
    if (late) return { denial: late.text };
    const leaving = { ...mcpCall, arguments: call.arguments };
    const left = await this.callHooks.reviewLeaving(passage, leaving);
    return 'denial' in left ? left : { call: leaving, ...left };
  }

  /** Runs one call from the beginning. */
  async run(call: CallToRun, turn: GateTurn, signal: AbortSignal): Promise<ResultType> {
    return this.begin({ call, original: call, turn, signal });
  }

  private begin(passage: Passage): Promise<ResultType> {
    return this.guarded(passage, () => this.pass(passage));
  }

  /**
   * Goes on with a call that another process had begun, at the question or answer it was at. A call that may have run is
   * not run again unless its tool says that it may. `replan` gives the turn as it is when a question has been answered.
   */
  async continue(
    open: OpenCall,
    { turn, replan }: { readonly turn: GateTurn; replan(): Promise<GateTurn> },
    signal: AbortSignal,
  ): Promise<ResultType> {
    const { toolCallId } = open;
    const passage: Passage = { ...callsOf(open), turn, signal, isUnguarded: open.isUnguarded ?? false };
    const { call } = passage;
    if (open.answer) return this.finish(passage, open.answer);
    const question = this.parts.log.state.questions.find((each) => each.toolCallId === toolCallId);
    if (question?.kind === 'external_tool')
      return this.guarded(passage, () => this.awaitClient(passage, question.requestId));
    const asked = this.parts.callQuestions.left(question);
    if (asked) return this.guarded(passage, () => this.awaitAnswer(passage, asked));
    if (question?.kind === 'permission') {
      const refusal = await this.permissions.awaitDecision(call, question.requestId, signal);
      if (refusal) return this.conclude(passage, refusal);
      const granted = [...(call.granted ?? []), question.event];
      return this.runAgain({ ...passage, call: { ...call, granted }, turn: await replan() });
    }
    const fresh = await replan();
    const mayRun = open.attempts === 0 || fresh.toolset.find(call.name)?.isRepeatable;
    if (mayRun) return this.begin({ ...passage, turn: fresh });
    // This result has no content of a tool, so hooks that look at results need not see it.
    return this.conclude({ ...passage, isUnguarded: true }, interrupted);
  }

  /** With the tools of the clients that are attached now, which may differ from those when the turn was taken up. */
  private async runAgain(passage: Passage): Promise<ResultType> {
    this.parts.log.append(...(await this.startOf(passage.original, passage.turn)));
    return this.begin(passage);
  }

  private async guarded(
    passage: Passage,
    work: (passage: Passage) => Promise<ResultType>,
  ): Promise<ResultType> {
    try {
      return await work(passage);
    } catch (error) {
      const endsTurn = error instanceof StoreError || error instanceof Interruption;
      if (passage.signal.aborted || endsTurn) throw error;
      return this.conclude(passage, failureOf(passage.call, error));
    }
  }

  private async pass(passage: Passage): Promise<ResultType> {
    const reviewed = await this.callHooks.review(passage);
    if ('denial' in reviewed) return this.conclude(passage, { type: 'denied', text: reviewed.denial });
    const { call, signal, turn } = reviewed.passage;
    const prepared = await prepareCall(call, turn.toolset, this.parts);
    const questions = prepared.questions ?? [];
    const planMode = new PlanModeCheck(this.parts, call, turn.toolset.find(call.name));
    // mutation: plan mode holds nothing back
    const held = questions.length === 0 ? await planMode.refusal() : undefined;
    if (held) return this.conclude(reviewed.passage, held);
    const own =
      reviewed.question ??
      (questions.length === 0 ? this.callHooks.guardQuestion(reviewed.passage) : undefined);
    let isHardened = false;
    for (const next of own ? [own, ...questions] : questions) {
      const question = typeof next === 'function' ? await next() : next;
      const refusal = next === own ? undefined : await planMode.refusalOf(question);
      if (refusal) return this.conclude(reviewed.passage, refusal);
      const asking = next === own ? 'always' : reviewed.asking;
      const permission = await this.permissions.seek(call, question, { asking, signal });
      if (permission.refusal) return this.conclude(reviewed.passage, permission.refusal);
      isHardened ||= permission.isHardened ?? false;
    }
    const heldNow = await planMode.refusal();
    if (heldNow) return this.conclude(reviewed.passage, heldNow);
    return this.perform(reviewed.passage, prepared, isHardened || planMode.isPlanning);
  }

  /** What comes after permission was given: the intent is durable before the effect. */
  private async perform(passage: Passage, prepared: PreparedCall, isHardened: boolean): Promise<ResultType> {
    const { call, signal } = passage;
    const { log, waits, clock } = this.parts;
    const { callQuestions } = this.parts;
    if (prepared.type === 'ask')
      return this.awaitAnswer(passage, callQuestions.askUser(prepared.question, call.toolCallId));
    if (prepared.type === 'ask-about-plan')
      return this.awaitAnswer(passage, callQuestions.askAboutPlan(prepared.question, call.toolCallId));
    const mcpCall = prepared.type === 'run' ? prepared.mcpCall : undefined;
    const reviewed = mcpCall ? await this.callHooks.reviewLeaving(passage, mcpCall) : {};
    if ('denial' in reviewed) return this.conclude(passage, { type: 'denied', text: reviewed.denial });
    // mutation: forget the intent record
    log.append(this.intentOf(passage));
    if (prepared.type === 'run' && !isLeftToClient(prepared, isHardened)) {
      await log.stored();
      const wait = { kind: 'tool', toolCallId: call.toolCallId, toolName: call.name } as const;
      const run = (isHardened && prepared.runHardened) || prepared.run;
      const leaving = mcpCall ? withTrace(reviewed, traceOf(passage)) : reviewed;
      return this.conclude(passage, await waits.during(wait, run.call(prepared, signal, leaving)));
    }
    const requestId = clock.newId();
    log.append({ type: 'external_tool.requested', data: this.externalRequest(passage, requestId) });
    return this.awaitClient(passage, requestId);
  }

  private intentOf({ call: { toolCallId }, isUnguarded }: Passage): Draft {
    const attempt = this.callHooks.attemptsOf(toolCallId) + 1;
    return {
      note: 'call.intended',
      data: { toolCallId, attempt, ...(isUnguarded && { isUnguarded }) },
    };
  }

  /** Waits for some client's answer to a call it was asked to run, and closes the call with it. */
  private async awaitClient(passage: Passage, requestId: string): Promise<ResultType> {
    const { call, signal } = passage;
    const { questions, waits } = this.parts;
    const completed: Draft = { type: 'external_tool.completed', data: { requestId } };
    const endWait = waits.begin({ kind: 'tool', toolCallId: call.toolCallId, toolName: call.name });
    const settle = (answer: Answers['external_tool']) => {
      endWait();
      const result = externalResult({ toolName: call.name, arguments: call.arguments }, answer);
      return this.answered(passage, [completed], result);
    };
    return questions.ask({ kind: 'external_tool', requestId }, settle, signal).finally(endWait);
  }

  /** Waits for the answer to a question that a call has asked, and closes the call with it. */
  private async awaitAnswer<K extends CallQuestionKind>(
    passage: Passage,
    asked: CallQuestion<K>,
  ): Promise<ResultType> {
    const { questions, offers } = this.parts;
    const settle = (answer: Answers[K]) => {
      const { completed, result } = asked.close(answer);
      return this.answered(passage, completed, result);
    };
    const answered = questions.ask(asked, settle, passage.signal, asked.read);
    offers.put(asked.offer);
    return answered.finally(() => offers.close(asked.requestId));
  }

  /** An answer is a record from the moment it arrives: a crash after it loses nothing and repeats nothing. */
  private answered(passage: Passage, completed: readonly Draft[], result: ToolResult): Promise<ResultType> {
    const { log } = this.parts;
    if (this.concludesAtOnce(passage, result)) {
      log.append(...completed, ...receiptOf(passage, wholeResult(result)));
      return Promise.resolve(result.type);
    }
    log.append(...completed);
    return this.conclude(passage, result);
  }

  /** Closes a call: hooks see the whole result, what they return is bounded, and the receipt is written. */
  private async conclude(passage: Passage, result: ToolResult): Promise<ResultType> {
    const { log } = this.parts;
    if (this.concludesAtOnce(passage, result)) {
      log.append(...receiptOf(passage, wholeResult(result)));
      return result.type;
    }
    log.append({ note: 'call.answered', data: { toolCallId: passage.call.toolCallId, result } });
    await log.stored();
    return this.finish(passage, result);
  }

  /** The answer is stored: what follows may be done again after a crash. */
  private async finish(passage: Passage, result: ToolResult): Promise<ResultType> {
    const { log, toolEnvironment } = this.parts;
    await this.callHooks.release(passage, result);
    if (await this.callHooks.mayTryAgain(passage, result)) return this.tryAgain(passage);
    const reviewed = await this.callHooks.reviewResult(passage, wholeResult(result));
    const { toolCallId } = passage.call;
    const texts = reviewed.contexts;
    if (texts.length > 0)
      log.append({ note: 'call.context', data: { toolCallId, source: 'postToolUseFailure', texts } });
    const bounded = await boundResult(reviewedParts(result, reviewed.result), toolEnvironment().largeOutput);
    log.append(...receiptOf(passage, bounded));
    return bounded.type;
  }

  /** From the beginning, through every check; what users have approved for it stays approved. */
  private tryAgain({ original, turn, signal }: Passage): Promise<ResultType> {
    const { toolCallId } = original;
    const open = this.parts.log.latest.calls.find((each) => each.toolCallId === toolCallId);
    const call = { ...original, granted: open?.granted ?? [] };
    return this.begin({ call, original, turn, signal });
  }

  /** Nothing has to be waited for between the answer and its receipt: one commit holds both. */
  private concludesAtOnce(passage: Passage, result: ToolResult): boolean {
    const isShort = fits(result, this.parts.toolEnvironment().largeOutput);
    return this.parts.hooks.isEmpty && isShort && !this.callHooks.isHeldBack(passage, result);
  }

  private externalRequest({ call, turn }: Passage, requestId: string): EventData<'external_tool.requested'> {
    const { log } = this.parts;
    return {
      requestId,
      sessionId: log.sessionId,
      toolCallId: call.toolCallId,
      toolName: call.name,
      arguments: call.arguments,
      workingDirectory: log.session.context.cwd,
      ...traceOf({ call, turn }),
    };
  }
}

/** The client that declared the tool does the work; a call that runs unasked because it only reads is the runtime's own. */
function isLeftToClient(prepared: PreparedCall & { readonly type: 'run' }, isHardened: boolean): boolean {
  return prepared.isHandedOver === true && !(isHardened && prepared.runHardened);
}

/** What goes to an MCP server with a call, and the trace that the call belongs to; a hook's own word goes first. */
function withTrace<T extends { readonly meta?: JsonObject | undefined }>(leaving: T, trace: TraceContext): T {
  if (trace.traceparent === undefined) return leaving;
  return { ...leaving, meta: { ...trace, ...leaving.meta } };
}
