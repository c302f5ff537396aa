import {
  costOf,
  type KeptBlock,
  ModelError,
  type ModelEvent,
  type ToolCall,
  type Usage,
} from '@groundcrew/models';
import type { SettledCall } from '../budget/spending.js';
import { monotonic } from '../clock.js';
import { Interruption } from '../session/interruption.js';
import type { EphemeralDraft } from '../session/log.js';
import { AnswerDraft } from './answer-draft.js';
import { lossOf, reportFailure, tellRefusal, tellRetry } from './attempts.js';
import type { LoopContext, ModelPlan } from './context.js';
import { makeRequest } from './request.js';
import { type Call, findLeave, type Leave, seekLeave } from './spend.js';
import { fitKnownWindow, giveUp, leaveHalfOut } from './window.js';

/** What the model said in one call. */
export interface ModelAnswer {
  readonly messageId: string;
  readonly text: string;
  readonly reasoning: string;
  readonly reasoningId?: string;
  readonly calls: readonly ToolCall[];
  /** What has to go back to the model with its answer. */
  readonly kept: readonly KeptBlock[];
  readonly responseId?: string;
  /** What it took. */
  readonly settled: SettledCall;
  /** What people hear of that, right before the answer. */
  readonly usage: EphemeralDraft;
}

/** Asks the model once and passes on what it streams; throws ModelError when it cannot be had. */
export async function askModel(
  context: LoopContext,
  plan: ModelPlan,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const question = new ModelQuestion({ context, plan, price: context.priceOf(plan.model) });
  let isAnswered = false;
  while (!isAnswered) isAnswered = await question.ask(signal);
  return question.answer();
}

/** One question to the model, however many attempts it takes. */
class ModelQuestion {
  private readonly draft: AnswerDraft;
  private attempt = 1;
  private startedAt = 0;
  private firstAt = 0;
  private leave: Leave = { estimatedInput: 0 };
  private stopWaiting: () => void = () => undefined;

  constructor(private readonly call: Call) {
    this.draft = new AnswerDraft(call.context, call.plan);
  }

  /** True when the answer is there; false when it is to be asked for anew. */
  async ask(signal: AbortSignal): Promise<boolean> {
    const { context, plan } = this.call;
    fitKnownWindow(context, plan);
    this.leave = await seekLeave(this.call, signal);
    this.startedAt = monotonic();
    this.waitFor({ kind: 'model', model: plan.model, attempt: this.attempt });
    try {
      const request = makeRequest(context, plan, this.leave);
      for await (const batch of plan.provider.stream(request, signal)) {
        const [first] = batch;
        if (first?.type !== 'retry') this.take(batch);
        else if (!(await this.retry(first, signal))) return false;
      }
      return true;
    } catch (error) {
      if (signal.aborted || !(error instanceof ModelError)) {
        await this.lose(error, signal);
        throw error;
      }
      await this.fail(error, signal);
      tellRefusal(context, error);
      if (error.kind !== 'context_too_long') throw error;
      const hasRoom = (await context.makeRoom(error, signal)) || leaveHalfOut(context, plan);
      if (!hasRoom) throw giveUp(context, plan, error);
      this.startAgain();
      return false;
    } finally {
      this.stopWaiting();
    }
  }

  async answer(): Promise<ModelAnswer> {
    const { messageId, text, reasoning, reasoningId, calls, kept, end } = this.draft;
    const settled = await this.settle();
    return {
      messageId,
      text,
      reasoning,
      calls,
      kept,
      settled,
      usage: this.usageOf(settled),
      ...(reasoningId !== '' && { reasoningId }),
      ...(end?.responseId !== undefined && { responseId: end.responseId }),
    };
  }

  private take(batch: readonly ModelEvent[]): void {
    if (this.firstAt === 0 && batch.some(({ type }) => type !== 'end')) this.firstAt = monotonic();
    this.draft.takeAll(batch);
  }

  /** An attempt failed and is made again by itself; false when there is no leave for another one. */
  private async retry(event: Extract<ModelEvent, { type: 'retry' }>, signal: AbortSignal): Promise<boolean> {
    const { context, plan } = this.call;
    await this.fail(event.error, signal);
    this.startAgain();
    const leave = await findLeave(this.call);
    if (!('estimatedInput' in leave)) return false;
    this.leave = leave;
    this.startedAt = monotonic() + event.delayMs;
    tellRetry(context, event);
    const at = new Date(context.clock.now().getTime() + event.delayMs).toISOString();
    const reason = event.error.message;
    this.waitFor({ kind: 'retry', model: plan.model, attempt: this.attempt, at, reason });
    return true;
  }

  private startAgain(): void {
    this.draft.startAgain();
    this.attempt += 1;
    this.firstAt = 0;
  }

  private async fail(error: ModelError, signal: AbortSignal): Promise<void> {
    const { context, plan } = this.call;
    reportFailure({ context, plan, error, milliseconds: monotonic() - this.startedAt });
    await this.lose(error, signal);
  }

  /** A service that refused at once took nothing; the attempt is a call all the same. */
  private async lose(error: unknown, signal: AbortSignal): Promise<void> {
    const { log } = this.call.context;
    const { size } = this.draft;
    const hasTaken = size > 0 || signal.aborted || (error instanceof ModelError && error.kind === 'timeout');
    const isLimited = Object.keys(log.state.limits).length > 0;
    if (!hasTaken && !isLimited) return;
    const { estimatedInput } = this.leave;
    const price = await this.call.price;
    const loss = hasTaken ? lossOf({ estimatedInput, size, price }) : { tokens: 0, cost: 0 };
    log.append({ note: 'ask.lost', data: loss });
    const isClosing = signal.reason instanceof Interruption && signal.reason.kind === 'close';
    if (isClosing) await log.stored();
  }

  private async settle(): Promise<SettledCall> {
    const { plan } = this.call;
    const { end, size } = this.draft;
    const { estimatedInput } = this.leave;
    const usage = end?.usage ?? noUsage;
    const milliseconds = monotonic() - this.startedAt;
    const price = await this.call.price;
    const base = { model: plan.model, usage, milliseconds, estimatedInput };
    if (usage.inputTokens + usage.outputTokens > 0) return { cost: costOf(usage, price), ...base };
    const isFree = price?.input === 0 && price.output === 0;
    return { cost: isFree ? 0 : null, unreported: lossOf({ estimatedInput, size, price }), ...base };
  }

  private usageOf({ usage, cost, milliseconds }: SettledCall): EphemeralDraft {
    const { context, plan } = this.call;
    const { end, calls } = this.draft;
    const { billed, ...tokens } = usage;
    const first = this.firstAt === 0 ? undefined : Math.max(0, this.firstAt - this.startedAt);
    const between = first === undefined ? 0 : (milliseconds - first) / (usage.outputTokens - 1);
    return {
      type: 'assistant.usage',
      data: {
        model: plan.model,
        ...tokens,
        cost,
        ...(billed !== undefined && { copilotUsage: { totalNanoAiu: Math.round(billed * 1e11) } }),
        duration: Math.round(milliseconds),
        initiator: context.interaction.initiator,
        numToolCalls: calls.length,
        ...(first !== undefined && { timeToFirstTokenMs: Math.round(first) }),
        ...(usage.outputTokens > 1 && first !== undefined && { interTokenLatencyMs: between }),
        ...(end && { finishReason: end.reason }),
        ...(end?.responseId !== undefined && { apiCallId: end.responseId }),
        ...(end?.requestId !== undefined && { providerCallId: end.requestId }),
        ...(plan.reasoningEffort !== undefined && { reasoningEffort: plan.reasoningEffort }),
      },
    };
  }

  private waitFor(wait: Parameters<LoopContext['waits']['begin']>[0]): void {
    this.stopWaiting();
    this.stopWaiting = this.call.context.waits.begin(wait);
  }
}

const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};
