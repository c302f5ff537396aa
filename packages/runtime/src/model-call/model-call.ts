import {
  costOf,
  type KeptBlock,
  ModelError,
  type ModelEvent,
  type Price,
  type ToolCall,
  type Usage,
} from '@groundcrew/models';
import type { SettledCall } from '../budget/spending.js';
import { monotonic } from '../clock.js';
import { ErrorSkipped, Interruption, TurnAborted } from '../interruption.js';
import type { EphemeralDraft } from '../log/session-log.js';
import type { Waits } from '../questions/waits.js';
import { findAllowance, seekAllowance } from './allowance.js';
import { AnswerDraft } from './answer-draft.js';
import { lossOf, reportFailure, reportPatience, reportRetry } from './attempt-reports.js';
import type { Allowance, ModelCallParts, ModelCallRequest } from './call-request.js';

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
  /** What clients receive of that, right before the answer. */
  readonly usage: EphemeralDraft;
}

/** Calls models: inside the session's budget, with retries that clients can see, and with what each call took in the log. */
export class ModelCalls {
  constructor(private readonly parts: ModelCallParts) {}

  /** One answer; throws ModelError when it cannot be had, LimitsExhausted when the budget has no room for it. */
  async call(request: ModelCallRequest, signal: AbortSignal): Promise<ModelAnswer> {
    const call = new ModelCall(this.parts, request);
    while (!(await call.attempt(signal)));
    return call.answer();
  }
}

/** One call of a model, however many attempts it takes. */
class ModelCall {
  private readonly draft: AnswerDraft;
  private readonly price: Promise<Price | undefined>;
  private attempts = 1;
  private startedAt = 0;
  private firstAt = 0;
  private hookRetries = 0;
  /** What the attempt took is counted already. */
  private isLost = false;
  private allowance: Allowance = { estimatedInput: 0 };
  private stopWaiting: () => void = () => undefined;

  constructor(
    private readonly parts: ModelCallParts,
    private readonly request: ModelCallRequest,
  ) {
    this.draft = new AnswerDraft(parts, request);
    this.price = parts.priceOf(request.model);
  }

  /** True when the answer is there; false when there is none yet and another attempt may be made. */
  async attempt(signal: AbortSignal): Promise<boolean> {
    const { request, price, parts } = this;
    this.allowance = await seekAllowance({ request, price, ...parts }, signal);
    this.startedAt = monotonic();
    this.waitFor({ kind: 'model', model: request.model, attempt: this.attempts });
    try {
      for await (const batch of request.provider.stream(request.modelRequest(this.allowance), signal)) {
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
      if (request.isOptional) throw error;
      reportPatience(parts.log, error);
      if (!(await this.mayTryAgain(error, signal))) throw error;
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

  /** An attempt failed and the provider makes another one; false when the budget has no room for it. */
  private async retry(event: Extract<ModelEvent, { type: 'retry' }>, signal: AbortSignal): Promise<boolean> {
    const { request, price, parts } = this;
    if (request.isOptional) throw event.error;
    await this.fail(event.error, signal);
    await this.handle(event.error, true, signal);
    this.startAgain();
    const allowance = await findAllowance({ request, price, ...parts });
    if (!('estimatedInput' in allowance)) return false;
    this.allowance = allowance;
    this.startedAt = monotonic() + event.delayMs;
    reportRetry(parts.log, event);
    const at = new Date(parts.clock.now().getTime() + event.delayMs).toISOString();
    const reason = event.error.message;
    this.waitFor({ kind: 'retry', model: request.model, attempt: this.attempts, at, reason });
    return true;
  }

  /** Whether hooks want another attempt where the provider has given up. */
  private async mayTryAgain(error: ModelError, signal: AbortSignal): Promise<boolean> {
    const { action, retryCount } = await this.handle(error, false, signal);
    if (action !== 'retry' || this.hookRetries >= retryCount) return false;
    this.hookRetries += 1;
    return true;
  }

  private async handle(error: ModelError, recoverable: boolean, signal: AbortSignal) {
    const handling = await this.parts.failed(error, recoverable, signal);
    if (handling.action === 'skip') throw new ErrorSkipped(error);
    if (handling.action === 'abort') throw new TurnAborted('user_abort');
    return handling;
  }

  private startAgain(): void {
    this.draft.startAgain();
    this.attempts += 1;
    this.isLost = false;
    this.firstAt = 0;
  }

  private async fail(error: ModelError, signal: AbortSignal): Promise<void> {
    const { request, parts } = this;
    reportFailure({ log: parts.log, request, error, milliseconds: monotonic() - this.startedAt });
    await this.lose(error, signal);
  }

  /** A service that refused at once took nothing; the attempt is a call all the same. */
  private async lose(error: unknown, signal: AbortSignal): Promise<void> {
    if (this.isLost) return;
    this.isLost = true;
    const { log } = this.parts;
    const { size } = this.draft;
    const hasTaken = size > 0 || signal.aborted || (error instanceof ModelError && error.kind === 'timeout');
    const isLimited = log.latest.spending.reserved !== undefined;
    if (!hasTaken && !isLimited) return;
    const { estimatedInput } = this.allowance;
    const price = await this.price;
    const loss = hasTaken ? lossOf({ estimatedInput, size, price }) : { tokens: 0, cost: 0 };
    log.append({ note: 'ask.lost', data: loss });
    const isClosing = signal.reason instanceof Interruption && signal.reason.kind === 'close';
    if (isClosing) await log.stored();
  }

  private async settle(): Promise<SettledCall> {
    const { model } = this.request;
    const { end, size } = this.draft;
    const { estimatedInput } = this.allowance;
    const usage = end?.usage ?? noUsage;
    const milliseconds = monotonic() - this.startedAt;
    const price = await this.price;
    const base = { model, usage, milliseconds, estimatedInput };
    if (usage.inputTokens + usage.outputTokens > 0) return { cost: costOf(usage, price), ...base };
    const isFree = price?.input === 0 && price.output === 0;
    return { cost: isFree ? 0 : null, unreported: lossOf({ estimatedInput, size, price }), ...base };
  }

  private usageOf({ usage, cost, milliseconds }: SettledCall): EphemeralDraft {
    const { model, initiator, reasoningEffort } = this.request;
    const { end, calls } = this.draft;
    const { billed, ...tokens } = usage;
    const first = this.firstAt === 0 ? undefined : Math.max(0, this.firstAt - this.startedAt);
    const between = first === undefined ? 0 : (milliseconds - first) / (usage.outputTokens - 1);
    return {
      type: 'assistant.usage',
      data: {
        model,
        ...tokens,
        cost,
        ...(billed !== undefined && { copilotUsage: { totalNanoAiu: Math.round(billed * 1e11) } }),
        duration: Math.round(milliseconds),
        initiator,
        numToolCalls: calls.length,
        ...(first !== undefined && { timeToFirstTokenMs: Math.round(first) }),
        ...(usage.outputTokens > 1 && first !== undefined && { interTokenLatencyMs: between }),
        ...(end && { finishReason: end.reason }),
        ...(end?.responseId !== undefined && { apiCallId: end.responseId }),
        ...(end?.requestId !== undefined && { providerCallId: end.requestId }),
        ...(reasoningEffort !== undefined && { reasoningEffort }),
      },
    };
  }

  private waitFor(wait: Parameters<Waits['begin']>[0]): void {
    if (this.request.isOptional) return;
    this.stopWaiting();
    this.stopWaiting = this.parts.waits.begin(wait);
  }
}

const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};
