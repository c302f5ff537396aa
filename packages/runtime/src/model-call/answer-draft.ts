import { type KeptBlock, ModelError, type ModelEvent, type ToolCall } from '@groundcrew/models';
import type { ModelCallParts, ModelCallRequest } from './call-request.js';

/** Of more pieces in one read the total is emitted once: as often as they, it would be half of all that clients read. */
const mostCountedApart = 16;

/** Many times what any model says at once; to store more would hold up everybody else. */
const longestAnswer = 8 * 1024 * 1024;

/** An answer that is still coming in; what streams is emitted piece by piece. */
export class AnswerDraft {
  messageId: string;
  text = '';
  reasoning = '';
  reasoningId = '';
  calls: ToolCall[] = [];
  kept: KeptBlock[] = [];
  end: Extract<ModelEvent, { type: 'end' }> | undefined;
  /** Characters of any sort that have come. */
  size = 0;
  /** The bytes of the batch at hand are in the total, and emitted. */
  private isCounted = false;

  constructor(
    private readonly parts: Pick<ModelCallParts, 'log' | 'clock'>,
    private readonly request: Pick<ModelCallRequest, 'streaming' | 'countBytes'>,
  ) {
    this.messageId = parts.clock.newId();
  }

  /** Takes what came in one read. */
  takeAll(batch: readonly ModelEvent[]): void {
    this.isCounted = batch.length > mostCountedApart;
    if (this.isCounted) this.count(batch.map(deltaOf).join(''));
    for (const event of batch) this.take(event);
    if (this.size > longestAnswer)
      throw new ModelError('bad_response', `The model's answer has more than ${longestAnswer} characters`);
    this.isCounted = false;
  }

  private take(event: ModelEvent): void {
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
        this.size += event.call.argumentsText.length;
        this.calls.push({ ...event.call, callId: this.freshCallId(event.call.callId) });
        return;
      case 'kept':
        this.kept.push(event.kept);
        return;
      case 'end':
        this.end = event;
        return;
      case 'retry':
        return;
    }
  }

  /** What a failed attempt said is void: the next one is another message. */
  startAgain(): void {
    this.messageId = this.parts.clock.newId();
    this.text = '';
    this.reasoning = '';
    this.reasoningId = '';
    this.calls = [];
    this.kept = [];
    this.size = 0;
  }

  private takeText(delta: string): void {
    this.size += delta.length;
    if (this.request.streaming && delta !== '') {
      const { log } = this.parts;
      this.countOne(delta);
      if (this.text === '')
        log.emit({ type: 'assistant.message_start', data: { messageId: this.messageId } });
      log.emitDelta({ type: 'text', messageId: this.messageId, text: delta });
    }
    this.text += delta;
  }

  private takeReasoning(delta: string): void {
    this.size += delta.length;
    this.reasoning += delta;
    if (!this.request.streaming) return;
    this.reasoningId ||= this.parts.clock.newId();
    this.countOne(delta);
    this.parts.log.emitDelta({ type: 'reasoning', reasoningId: this.reasoningId, text: delta });
  }

  private takeCallDelta(event: Extract<ModelEvent, { type: 'tool_call_delta' }>): void {
    if (!this.request.streaming) return;
    this.countOne(event.delta);
    this.parts.log.emit({
      type: 'assistant.tool_call_delta',
      data: { toolCallId: event.callId, toolName: event.name, toolType: 'function', inputDelta: event.delta },
    });
  }

  private countOne(delta: string): void {
    if (!this.isCounted) this.count(delta);
  }

  private count(text: string): void {
    if (!this.request.streaming) return;
    const bytes = this.request.countBytes(Buffer.byteLength(text));
    this.parts.log.emitDelta({ type: 'total', bytes });
  }

  /** Ids must differ in the whole conversation: some services repeat theirs, others refuse a history that does. */
  private freshCallId(callId: string): string {
    const isTaken =
      callId === '' || this.calls.some((call) => call.callId === callId) || this.isKnown(callId);
    return isTaken ? `call_${this.parts.clock.newId()}` : callId;
  }

  private isKnown(callId: string): boolean {
    for (const entry of this.parts.log.latest.history)
      if (entry.role === 'assistant')
        for (const call of entry.toolCalls) if (call.callId === callId) return true;
    return false;
  }
}

function deltaOf(event: ModelEvent): string {
  return 'delta' in event ? event.delta : '';
}
