import { ModelError } from '../../errors.js';
import { failureInAnswer } from '../../failure.js';
import { countOrNothing, isObject, property, textOrNothing } from '../../json.js';
import type { EndReason, ModelEvent, Usage } from '../../model.js';
import { placeAfter } from '../answer-order.js';
import { type Frame, type IncomingAnswer, listOf, wrongShape } from '../frames.js';
import { FunctionCalls } from './function-calls.js';
import { readReasoningItem, readTexts } from './kept-reasoning.js';

/** One item of the answer: a message, a thought or a call. */
interface OpenItem {
  /** What has been emitted of its text. */
  emitted: string;
  isDone: boolean;
}

/** One answer as it comes in: items, each in pieces and then whole. What was emitted in pieces is not emitted again. */
export class ResponsesAnswer implements IncomingAnswer {
  readonly #items = new Map<number, OpenItem>();
  readonly #calls: FunctionCalls;
  #hasText = false;
  #hasThoughts = false;
  #breakIsDue = false;
  #isRefused = false;
  #response: Frame = {};

  constructor(newId: () => string) {
    this.#calls = new FunctionCalls(newId);
  }

  add(frame: Frame, events: ModelEvent[]): boolean {
    switch (frame.type) {
      case 'response.output_text.delta':
        this.#emitText(this.#itemOf(frame), deltaOf(frame), events);
        return false;
      case 'response.refusal.delta':
        this.#isRefused = true;
        this.#emitText(this.#itemOf(frame), deltaOf(frame), events);
        return false;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#think(this.#itemOf(frame), deltaOf(frame), events);
        return false;
      case 'response.function_call_arguments.delta':
        this.#itemOf(frame);
        this.#calls.write(indexOf(frame), deltaOf(frame), events);
        return false;
      case 'response.reasoning_summary_part.added':
        this.#breakIsDue = this.#hasThoughts;
        return false;
      case 'response.output_item.added':
        this.#begin(frame, events);
        return false;
      case 'response.output_item.done':
        this.#finishItem(indexOf(frame), itemIn(frame.item), events);
        return false;
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        this.#response = isObject(frame.response) ? frame.response : this.#response;
        return false;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.#finish(frame.response, events);
        return true;
      default:
        // Tools that the service runs itself, annotations, signs of life: nothing that was asked for.
        return false;
    }
  }

  /** An answer that came in one piece. */
  addWhole(response: Frame, events: ModelEvent[]): void {
    if (!Array.isArray(response.output)) throw new ModelError('bad_response', 'The answer has no output');
    this.#finish(response, events);
  }

  end({ complete }: { readonly complete: boolean }): readonly ModelEvent[] {
    if (!complete) throw new ModelError('unavailable', 'The answer ended before it was complete');
    const calls = this.#calls.finish();
    const model = textOrNothing(this.#response.model);
    const responseId = textOrNothing(this.#response.id);
    return [
      ...calls.map((call) => ({ type: 'tool_call', call }) as const),
      {
        type: 'end',
        reason: this.#endReason(calls.length > 0),
        usage: readUsage(this.#response.usage),
        ...(model !== undefined && { model }),
        ...(responseId !== undefined && { responseId }),
      },
    ];
  }

  #begin(frame: Frame, events: ModelEvent[]): void {
    const item = itemIn(frame.item);
    this.#itemOf(frame);
    if (item.type === 'reasoning') this.#breakIsDue = this.#hasThoughts;
    if (item.type === 'function_call') this.#calls.begin(indexOf(frame), item, events);
  }

  #finishItem(index: number, item: Frame, events: ModelEvent[]): void {
    const open = this.#itemAt(index);
    if (open.isDone) return;
    open.isDone = true;
    if (item.type === 'function_call') this.#calls.complete(index, item, events);
    if (item.type === 'message') this.#finishMessage(open, item, events);
    if (item.type === 'reasoning') this.#finishThought(open, item, events);
  }

  #finishMessage(open: OpenItem, item: Frame, events: ModelEvent[]): void {
    if (textOrNothing(item.phase) !== undefined) this.#keep({ type: 'message', phase: item.phase }, events);
    const parts = listOf(item.content, 'content').filter(isObject);
    this.#isRefused ||= parts.some((part) => part.type === 'refusal');
    const texts = parts.map((part) => textOrNothing(part.text) ?? textOrNothing(part.refusal) ?? '');
    this.#emitText(open, remainderOf(texts.join(''), open.emitted), events);
  }

  #finishThought(open: OpenItem, item: Frame, events: ModelEvent[]): void {
    if (open.emitted === '') {
      this.#breakIsDue = this.#hasThoughts;
      const whole = [...readTexts(item.summary), ...readTexts(item.content)].join('\n\n');
      this.#think(open, whole, events);
    }
    const kept = readReasoningItem(item);
    if (kept) this.#keep({ ...kept }, events);
  }

  #keep(block: Frame, events: ModelEvent[]): void {
    const place = placeAfter({ hasText: this.#hasText, calls: this.#calls.count });
    events.push({ type: 'kept', kept: { wire: 'openai-responses', place, block } });
  }

  #emitText(open: OpenItem, delta: string, events: ModelEvent[]): void {
    if (delta === '') return;
    open.emitted += delta;
    this.#hasText = true;
    events.push({ type: 'text', delta });
  }

  /** Thoughts come in paragraphs that do not say where they end. */
  #think(open: OpenItem, text: string, events: ModelEvent[]): void {
    if (text === '') return;
    const delta = this.#breakIsDue ? `\n\n${text}` : text;
    this.#breakIsDue = false;
    this.#hasThoughts = true;
    open.emitted += delta;
    events.push({ type: 'reasoning', delta });
  }

  #finish(response: unknown, events: ModelEvent[]): void {
    if (!isObject(response)) throw wrongShape('a response');
    if (isObject(response.error)) throw failureInAnswer(response.error);
    if (response.status === 'failed' || response.status === 'cancelled')
      throw new ModelError('unavailable', 'The model service gave up without a reason');
    this.#response = response;
    // Some services say everything at once, at the end.
    if (this.#items.size > 0) return;
    for (const [index, item] of listOf(response.output, 'output').entries())
      this.#finishItem(index, itemIn(item), events);
  }

  #endReason(called: boolean): EndReason {
    if (this.#isRefused) return 'refused';
    if (this.#response.status !== 'incomplete') return called ? 'tool_calls' : 'stop';
    return property(this.#response.incomplete_details, 'reason') === 'content_filter' ? 'refused' : 'length';
  }

  #itemOf(frame: Frame): OpenItem {
    return this.#itemAt(indexOf(frame));
  }

  #itemAt(index: number): OpenItem {
    const found = this.#items.get(index);
    if (found) return found;
    const item: OpenItem = { emitted: '', isDone: false };
    this.#items.set(index, item);
    return item;
  }
}

function indexOf(frame: Frame): number {
  return countOrNothing(frame.output_index) ?? 0;
}

function deltaOf(frame: Frame): string {
  if (typeof frame.delta !== 'string') throw wrongShape('a delta');
  return frame.delta;
}

function itemIn(item: unknown): Frame {
  if (!isObject(item)) throw wrongShape('an item');
  return item;
}

/** What the whole has beyond the pieces that were emitted. */
function remainderOf(whole: string, emitted: string): string {
  return whole.startsWith(emitted) ? whole.slice(emitted.length) : '';
}

function readUsage(usage: unknown): Usage {
  const count = (value: unknown) => countOrNothing(value) ?? 0;
  const input = property(usage, 'input_tokens_details');
  return {
    inputTokens: count(property(usage, 'input_tokens')),
    outputTokens: count(property(usage, 'output_tokens')),
    cacheReadTokens: count(property(input, 'cached_tokens')),
    cacheWriteTokens: count(property(input, 'cache_write_tokens')),
    reasoningTokens: count(property(property(usage, 'output_tokens_details'), 'reasoning_tokens')),
  };
}
