import type { EventData } from '@groundcrew/protocol';
import { StoreError } from '@groundcrew/store';
import type { Clock } from '../clock.js';
import type { HookGuard } from '../hooks/guard.js';
import type { Hooks } from '../hooks/hooks.js';
import { CallReviews, reviewResult } from '../hooks/tool-hooks.js';
import type { AgentLog } from '../log/agent-log.js';
import type { Draft } from '../log/session-log.js';
import type { OpenCall } from '../log/state.js';
import { refusalBy } from '../permissions/decision.js';
import { Forbidden } from '../permissions/policy.js';
import type { PermissionQuestion } from '../permissions/question.js';
import type { CallQuestion, CallQuestionKind, CallQuestions } from '../questions/call-questions.js';
import type { Offers } from '../questions/offers.js';
import type { Answers, Questions } from '../questions/questions.js';
import type { Waits } from '../questions/waits.js';
import { externalResult, resultOfObject } from '../tools/external.js';
import {
  type PreparedCall,
  type ResultType,
  type ToolEnvironment,
  ToolFailure,
  ToolInputError,
  type ToolResult,
} from '../tools/tool.js';
import type { CallToRun, GateTurn } from './call.js';
import { type Asking, type GatePermissions, PermissionDesk } from './permission-desk.js';
import { PlanHold } from './plan-hold.js';
import { prepareCall } from './prepare.js';
import { boundResult, receiptOf } from './receipt.js';

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

/** A call on its way through the gate. */
interface Passage {
  readonly call: CallToRun;
  readonly turn: GateTurn;
  readonly signal: AbortSignal;
  /** The hooks of all calls of its message. */
  readonly reviews?: CallReviews;
}

/**
 * The one way to run a tool, whoever asks for it: hooks → find → parse → prepare → policy → question → intent → run →
 * hooks → bound → receipt. A failing tool is an answer, never an exception.
 */
export class Gate {
  private readonly desk: PermissionDesk;

  constructor(private readonly parts: GateParts) {
    this.desk = new PermissionDesk(parts);
  }

  /** The event that a call begins with. */
  async startOf(call: CallToRun, { toolset, model, turnId }: GateTurn): Promise<Draft> {
    const preview = await toolset.find(call.name)?.preview?.(call.arguments);
    const { toolCallId, name: toolName } = call;
    const data = { toolCallId, toolName, arguments: call.arguments, turnId, model, ...preview };
    return { type: 'tool.execution_start', data };
  }

  /** Runs the calls of one message side by side. False when a rejection ends the turn. */
  async runAll(calls: readonly CallToRun[], turn: GateTurn, signal: AbortSignal): Promise<boolean> {
    const { hooks } = this.parts;
    const reviews = hooks.isEmpty ? {} : { reviews: new CallReviews(hooks, calls.map(hookedCall)) };
    const passages = calls.map((call) => ({ call, turn, signal, ...reviews }));
    const outcomes = await Promise.all(
      passages.map((passage) => this.guarded(passage, () => this.pass(passage))),
    );
    return !outcomes.includes('rejected');
  }

  /** Runs one call from the beginning. */
  async run(call: CallToRun, turn: GateTurn, signal: AbortSignal): Promise<ResultType> {
    return this.guarded({ call, turn, signal }, (passage) => this.pass(passage));
  }

  /**
   * Goes on with a call that another process had begun. It waits where it waited; one that may or may not have run is
   * not run again unless its tool says that it may. `replan` gives the turn as it is when a question has been answered.
   */
  async continue(
    open: OpenCall,
    { turn, replan }: { readonly turn: GateTurn; replan(): GateTurn },
    signal: AbortSignal,
  ): Promise<ResultType> {
    const { toolCallId, toolName: name, granted = [], modified } = open;
    // Hooks that are asked again see what the model wrote, not what they made of it.
    const args = this.parts.hooks.isEmpty ? (modified ?? open).arguments : open.arguments;
    const call: CallToRun = { toolCallId, name, arguments: args, argumentsText: '', granted };
    const passage = { call, turn, signal };
    if (open.answer) return this.finish(passage, open.answer);
    const question = this.parts.log.state.questions.find((each) => each.toolCallId === toolCallId);
    if (question?.kind === 'external_tool')
      return this.guarded(passage, () => this.awaitClient(passage, question.requestId));
    const asked = this.parts.callQuestions.left(question);
    if (asked) return this.guarded(passage, () => this.awaitAnswer(passage, asked));
    if (question?.kind === 'permission') {
      const refusal = await this.desk.awaitDecision(call, question.requestId, signal);
      if (refusal) return this.conclude(passage, refusal);
      return this.runAgain({ ...call, granted: [...granted, question.event] }, replan(), signal);
    }
    const mayRun = open.attempts === 0 || turn.toolset.find(name)?.isRepeatable;
    return mayRun ? this.run(call, turn, signal) : this.conclude(passage, interrupted);
  }

  /** With the tools of the clients that are attached now, which may differ from those when the turn was taken up. */
  private async runAgain(call: CallToRun, turn: GateTurn, signal: AbortSignal): Promise<ResultType> {
    this.parts.log.append(await this.startOf(call, turn));
    return this.run(call, turn, signal);
  }

  private async guarded(
    passage: Passage,
    work: (passage: Passage) => Promise<ResultType>,
  ): Promise<ResultType> {
    try {
      return await work(passage);
    } catch (error) {
      if (passage.signal.aborted || error instanceof StoreError) throw error;
      return this.conclude(passage, failureOf(passage.call, error));
    }
  }

  private async pass(passage: Passage): Promise<ResultType> {
    const reviewed = await this.review(passage);
    if ('denial' in reviewed) return this.conclude(passage, { type: 'denied', text: reviewed.denial });
    const { call, signal, turn } = reviewed.passage;
    const prepared = await prepareCall(call, turn.toolset, this.parts);
    const questions = prepared.questions ?? [];
    const hold = new PlanHold(this.parts, call, turn.toolset.find(call.name));
    // mutation: plan mode holds nothing back
    const held = questions.length === 0 ? await hold.refusal() : undefined;
    if (held) return this.conclude(reviewed.passage, held);
    const own = reviewed.question ?? (questions.length === 0 ? this.guardQuestion(call) : undefined);
    let isHardened = false;
    for (const next of own ? [own, ...questions] : questions) {
      const question = typeof next === 'function' ? await next() : next;
      const refusal = next === own ? undefined : await hold.refusalOf(question);
      if (refusal) return this.conclude(reviewed.passage, refusal);
      const asking = next === own ? 'always' : reviewed.asking;
      const permission = await this.desk.seek(call, question, { asking, signal });
      if (permission.refusal) return this.conclude(reviewed.passage, permission.refusal);
      isHardened ||= permission.isHardened ?? false;
    }
    const heldNow = await hold.refusal();
    if (heldNow) return this.conclude(reviewed.passage, heldNow);
    return this.perform(reviewed.passage, prepared, isHardened || hold.isPlanning);
  }

  /** What hooks make of a call before anything else looks at it; also of one whose tool does not exist. */
  private async review(passage: Passage): Promise<Reviewed> {
    const { hooks, guard, permissions, log } = this.parts;
    const { call, signal } = passage;
    while (guard.isAway && !permissions.policy().canAsk) await guard.change(signal);
    if (hooks.isEmpty) return { passage, asking: guard.isAway ? 'always' : 'as the policy says' };
    const reviews = passage.reviews ?? new CallReviews(hooks, [hookedCall(call)]);
    const { decision, reason, modified, contexts } = await reviews.review(hookedCall(call), signal);
    if (decision === 'deny')
      return { denial: `Denied by preToolUse hook: ${reason ?? 'No reason provided'}` };
    const { toolCallId } = call;
    if (contexts.length > 0) {
      const texts = contexts.map((text) => `Additional context from preToolUse hook:\n${text}`);
      log.append({ note: 'call.context', data: { toolCallId, source: 'preToolUse', texts } });
    }
    if (modified) log.append({ note: 'call.modified', data: { toolCallId, ...modified } });
    const { problem: _, ...readable } = call;
    const changed = modified ? { ...readable, ...modified } : call;
    const question = decision === 'ask' ? { question: hookQuestion(changed, reason) } : {};
    const asking = decision ? 'never' : 'as the policy says';
    return { passage: { ...passage, call: changed }, asking: guard.isAway ? 'always' : asking, ...question };
  }

  /** A tool that asks nothing is asked about while the session's guard is away. */
  private guardQuestion(call: CallToRun): PermissionQuestion | undefined {
    if (!this.parts.guard.isAway) return undefined;
    return hookQuestion(call, 'The client whose hooks guard this session is not attached.');
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
    // mutation: forget the intent record
    log.append({ note: 'call.intended', data: { toolCallId: call.toolCallId, attempt: 1 } });
    if (prepared.type === 'run') {
      await log.stored();
      const wait = { kind: 'tool', toolCallId: call.toolCallId, toolName: call.name } as const;
      const run = (isHardened && prepared.runHardened) || prepared.run;
      return this.conclude(passage, await waits.during(wait, run.call(prepared, signal)));
    }
    const requestId = clock.newId();
    log.append({ type: 'external_tool.requested', data: this.externalRequest(passage, requestId) });
    return this.awaitClient(passage, requestId);
  }

  /** Waits for some client's answer to a call it was asked to run, and closes the call with it. */
  private async awaitClient(passage: Passage, requestId: string): Promise<ResultType> {
    const { call, signal } = passage;
    const { questions, waits } = this.parts;
    const completed: Draft = { type: 'external_tool.completed', data: { requestId } };
    const settle = (answer: Answers['external_tool']) =>
      this.answered(
        passage,
        [completed],
        externalResult({ toolName: call.name, arguments: call.arguments }, answer),
      );
    const answered = questions.ask({ kind: 'external_tool', requestId }, settle, signal);
    return waits.during({ kind: 'tool', toolCallId: call.toolCallId, toolName: call.name }, answered);
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
    if (this.concludesAtOnce(result)) {
      log.append(...completed, ...receiptOf(passage, result));
      return Promise.resolve(result.type);
    }
    log.append(...completed);
    return this.conclude(passage, result);
  }

  /** Closes a call: hooks see the whole result, what they return is bounded, and the receipt is written. */
  private async conclude(passage: Passage, result: ToolResult): Promise<ResultType> {
    const { log } = this.parts;
    if (this.concludesAtOnce(result)) {
      log.append(...receiptOf(passage, result));
      return result.type;
    }
    log.append({ note: 'call.answered', data: { toolCallId: passage.call.toolCallId, result } });
    await log.stored();
    return this.finish(passage, result);
  }

  /** The answer is stored: what follows may be done again after a crash. */
  private async finish(passage: Passage, result: ToolResult): Promise<ResultType> {
    const { log, hooks, toolEnvironment } = this.parts;
    const { call, signal } = passage;
    const options = { signal, readResult: resultOfObject };
    const reviewed = await reviewResult(hooks, hookedCall(call), result, options);
    const { toolCallId } = call;
    const texts = reviewed.contexts;
    if (texts.length > 0)
      log.append({ note: 'call.context', data: { toolCallId, source: 'postToolUseFailure', texts } });
    const bounded = await boundResult(reviewed.result, toolEnvironment().largeOutput);
    log.append(...receiptOf(passage, bounded));
    return bounded.type;
  }

  /** Nothing has to be waited for between the answer and its receipt: one commit holds both. */
  private concludesAtOnce(result: ToolResult): boolean {
    const { isEnabled, maxBytes } = this.parts.toolEnvironment().largeOutput;
    const fits = !isEnabled || result.isBounded === true || Buffer.byteLength(result.text) <= maxBytes;
    return this.parts.hooks.isEmpty && fits;
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
      ...turn.trace,
    };
  }
}

/** What the model reads of a call that may or may not have run. */
export const interruptedText = 'The execution of this tool, or a previous tool was interrupted.';

const interrupted: ToolResult = { type: 'failure', text: interruptedText };

/** What came of the hooks before a call: why it must not run, or how it goes on. */
type Reviewed =
  | { readonly denial: string }
  | {
      readonly passage: Passage;
      readonly asking: Asking;
      /** What a hook wants the user to be asked. */
      readonly question?: PermissionQuestion;
    };

function hookQuestion(call: CallToRun, reason: string | undefined): PermissionQuestion {
  const message = reason === undefined ? {} : { hookMessage: reason };
  return { request: { kind: 'hook', toolName: call.name, toolArgs: call.arguments, ...message } };
}

function hookedCall({ toolCallId, name: toolName, arguments: given }: CallToRun) {
  return { toolCallId, toolName, arguments: given };
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
