import type { KeptBlock, ModelError, ModelEvent, ToolCall, Usage } from '@groundcrew/models';
import { monotonic } from '../clock.js';
import type { LoopContext, ModelPlan } from './context.js';
import { makeRequest } from './request.js';

/** What the model said in one call. */
export interface ModelAnswer {
  readonly messageId: string;
  readonly text: string;
  readonly reasoning: string;
  readonly reasoningId?: string;
  readonly calls: readonly ToolCall[];
  /** What has to go back to the model with its answer. */
  readonly kept: readonly KeptBlock[];
  readonly usage: Usage;
  readonly responseId?: string;
}

/** Asks the model once and passes on what it streams; throws ModelError when it cannot be had. */
export async function askModel(
  context: LoopContext,
  plan: ModelPlan,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const request = makeRequest(context, plan);
  const startedAt = monotonic();
  const draft = new AnswerDraft(context, plan);
  for await (const batch of plan.provider.stream(request, signal)) {
    for (const event of batch) draft.take(event);
  }
  return draft.finish(monotonic() - startedAt);
}

/** Tells clients that one attempt failed. */
export function reportFailure(context: LoopContext, plan: ModelPlan, error: ModelError): void {
  context.log.emit({
    type: 'model.call_failure',
    data: {
      source: 'top_level',
      model: plan.model,
      failureKind: 'api',
      errorMessage: JSON.stringify({
        message: error.message,
        ...(error.code !== undefined && { code: error.code }),
      }),
      ...(error.statusCode !== undefined && { statusCode: error.statusCode }),
      ...(error.requestId !== undefined && { providerCallId: error.requestId }),
      ...(error.code !== undefined && { errorCode: error.code }),
    },
  });
}

/** An answer that is still coming in. */
class AnswerDraft {
  private messageId: string;
  private text = '';
  private reasoning = '';
  private reasoningId = '';
  private calls: ToolCall[] = [];
  private kept: KeptBlock[] = [];
  private end: Extract<ModelEvent, { type: 'end' }> | undefined;

  constructor(
    private readonly context: LoopContext,
    private readonly plan: ModelPlan,
  ) {
    this.messageId = context.clock.newId();
  }

  take(event: ModelEvent): void {
    switch (event.type) {
      case 'text':
        this.takeText(event.delta);
        return;
      case 'reasoning':
        this.takeReasoning(event.delta);
        return;
      case 'tool_call_delta':
        this.takeCallDelta(event);
        return;
      case 'tool_call':
        this.calls.push({ ...event.call, callId: this.freshCallId(event.call.callId) });
        return;
      case 'kept':
        this.kept.push(event.kept);
        return;
      case 'retry':
        this.startAgain(event.error);
        return;
      case 'end':
        this.end = event;
        return;
    }
  }

  finish(milliseconds: number): ModelAnswer {
    const { context, plan, messageId, text, reasoning, calls, kept } = this;
    const usage = this.end?.usage ?? noUsage;
    const { initiator } = makeOrigin(context);
    context.metrics.count({ model: plan.model, usage, milliseconds });
    context.log.emit({
      type: 'assistant.usage',
      data: {
        model: plan.model,
        ...usage,
        duration: Math.round(milliseconds),
        initiator,
        ...(this.end && { finishReason: this.end.reason }),
        ...(this.end?.responseId !== undefined && { apiCallId: this.end.responseId }),
      },
    });
    const responseId = this.end?.responseId;
    return {
      messageId,
      text,
      reasoning,
      calls,
      kept,
      usage,
      ...(this.reasoningId !== '' && { reasoningId: this.reasoningId }),
      ...(responseId !== undefined && { responseId }),
    };
  }

  private takeText(delta: string): void {
    if (this.plan.streaming && delta !== '') {
      const { log } = this.context;
      this.countBytes(delta);
      if (this.text === '')
        log.emit({ type: 'assistant.message_start', data: { messageId: this.messageId } });
      const content = JSON.stringify(delta);
      log.emitWritten(
        'assistant.message_delta',
        `{"messageId":"${this.messageId}","deltaContent":${content}}`,
      );
    }
    this.text += delta;
  }

  private takeReasoning(delta: string): void {
    this.reasoning += delta;
    if (!this.plan.streaming) return;
    this.reasoningId ||= this.context.clock.newId();
    this.countBytes(delta);
    const content = JSON.stringify(delta);
    this.context.log.emitWritten(
      'assistant.reasoning_delta',
      `{"reasoningId":"${this.reasoningId}","deltaContent":${content}}`,
    );
  }

  private takeCallDelta(event: Extract<ModelEvent, { type: 'tool_call_delta' }>): void {
    if (!this.plan.streaming) return;
    this.countBytes(event.delta);
    this.context.log.emit({
      type: 'assistant.tool_call_delta',
      data: { toolCallId: event.callId, toolName: event.name, toolType: 'function', inputDelta: event.delta },
    });
  }

  /** What a failed attempt said is void: the next one is another message. */
  private startAgain(error: ModelError): void {
    reportFailure(this.context, this.plan, error);
    this.messageId = this.context.clock.newId();
    this.text = '';
    this.reasoning = '';
    this.reasoningId = '';
    this.calls = [];
    this.kept = [];
  }

  private countBytes(delta: string): void {
    const { interaction, log } = this.context;
    interaction.responseBytes += Buffer.byteLength(delta);
    log.emitWritten('assistant.streaming_delta', `{"totalResponseSizeBytes":${interaction.responseBytes}}`);
  }

  /** Ids must differ in the whole conversation: some services repeat theirs, others refuse a history that does. */
  private freshCallId(callId: string): string {
    const isTaken =
      callId === '' ||
      this.calls.some((call) => call.callId === callId) ||
      this.context.log.state.history.some(
        (entry) => entry.role === 'assistant' && entry.toolCalls.some((call) => call.callId === callId),
      );
    return isTaken ? `call_${this.context.clock.newId()}` : callId;
  }
}

function makeOrigin(context: LoopContext): { initiator: 'user' | 'agent' } {
  return { initiator: context.interaction.rounds <= 1 ? 'user' : 'agent' };
}

const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};
