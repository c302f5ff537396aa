import { ModelError } from '../../errors.js';
import { countOrNothing, isObject, property, textOrNothing } from '../../json.js';
import type { EndReason, ModelEvent, ToolCall, Usage } from '../../model.js';
import { placeAfter } from '../answer-order.js';
import { CallIds } from '../call-ids.js';
import { type Frame, type IncomingAnswer, listOf, wrongShape } from '../frames.js';
import { readThought } from './thinking.js';

const reasons: ReadonlyMap<string, EndReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'refused'],
]);

/** A block of the answer while it comes in. */
type OpenBlock =
  | { readonly type: 'text' }
  | { readonly type: 'thought'; readonly place: number; thinking: string; signature: string }
  | { readonly type: 'sealed'; readonly place: number; readonly data: unknown }
  | {
      readonly type: 'call';
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
      json: string;
    }
  /** Of tools that the service runs itself, which no request asked for. */
  | { readonly type: 'other' };

/** One answer as it comes in: blocks, one after the other, each in pieces. */
export class MessagesAnswer implements IncomingAnswer {
  readonly #ids: CallIds;
  readonly #blocks = new Map<number, OpenBlock>();
  readonly #calls: Extract<OpenBlock, { type: 'call' }>[] = [];
  #usage: Frame = {};
  #hasText = false;
  #hasThoughts = false;
  #breakIsDue = false;
  #stopReason: string | undefined;
  #explanation: string | undefined;
  #model: string | undefined;
  #responseId: string | undefined;

  constructor(newId: () => string) {
    this.#ids = new CallIds(newId);
  }

  add(frame: Frame, events: ModelEvent[]): boolean {
    switch (frame.type) {
      case 'content_block_delta':
        this.#write(this.#blockAt(frame.index), frame.delta, events);
        return false;
      case 'content_block_start':
        this.#blocks.set(indexOf(frame.index), this.#begin(frame.content_block, events));
        return false;
      case 'content_block_stop':
        this.#finish(this.#blockAt(frame.index), events);
        return false;
      case 'message_start':
        this.#describe(objectOf(frame.message, 'a message'));
        return false;
      case 'message_delta':
        this.#describe(objectOf(frame.delta, 'a delta'));
        this.#count(frame.usage);
        return false;
      case 'message_stop':
        return true;
      default:
        // Signs of life, and what later versions add.
        return false;
    }
  }

  /** An answer that came in one piece. */
  addWhole(message: Frame, events: ModelEvent[]): void {
    if (!Array.isArray(message.content)) throw new ModelError('bad_response', 'The answer has no content');
    this.#describe(message);
    for (const content of listOf(message.content, 'content')) {
      const block = this.#begin(content, events);
      this.#finish(block, events);
    }
  }

  end({ complete }: { readonly complete: boolean }): readonly ModelEvent[] {
    if (!complete && this.#stopReason === undefined)
      throw new ModelError('unavailable', 'The answer ended before it was complete');
    const calls = this.#calls.map(finishCall);
    const reason = this.#endReason(calls.length > 0);
    const excuse = reason === 'refused' && !this.#hasText ? this.#explanation : undefined;
    return [
      ...(excuse !== undefined ? [{ type: 'text', delta: excuse } as const] : []),
      ...calls.map((call) => ({ type: 'tool_call', call }) as const),
      {
        type: 'end',
        reason,
        usage: readUsage(this.#usage),
        ...(this.#model !== undefined && { model: this.#model }),
        ...(this.#responseId !== undefined && { responseId: this.#responseId }),
      },
    ];
  }

  /** What the beginning, the end and the whole of an answer say of it. */
  #describe(message: Frame): void {
    this.#model = textOrNothing(message.model) ?? this.#model;
    this.#responseId = textOrNothing(message.id) ?? this.#responseId;
    this.#stopReason = textOrNothing(message.stop_reason) ?? this.#stopReason;
    this.#explanation = textOrNothing(property(message.stop_details, 'explanation')) ?? this.#explanation;
    this.#count(message.usage);
  }

  /** Figures are totals: the last one that is one counts. */
  #count(usage: unknown): void {
    if (!isObject(usage)) return;
    const known = Object.entries(usage).filter(([, value]) => value !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) };
  }

  #begin(content: unknown, events: ModelEvent[]): OpenBlock {
    const block = objectOf(content, 'a content block');
    switch (block.type) {
      case 'text':
        this.#emitText(textOrNothing(block.text), events);
        return { type: 'text' };
      case 'thinking': {
        this.#breakIsDue = this.#hasThoughts;
        const thought = { type: 'thought' as const, place: this.#place(), thinking: '', signature: '' };
        this.#think(thought, textOrNothing(block.thinking), events);
        thought.signature = textOrNothing(block.signature) ?? '';
        return thought;
      }
      case 'redacted_thinking':
        return { type: 'sealed', place: this.#place(), data: block.data };
      case 'tool_use':
        return this.#beginCall(block);
      default:
        return { type: 'other' };
    }
  }

  #beginCall(block: Frame): OpenBlock {
    const name = textOrNothing(block.name);
    if (name === undefined) throw new ModelError('bad_response', 'The answer calls a tool without a name');
    const id = this.#ids.take(textOrNothing(block.id));
    const call = { type: 'call' as const, id, name, input: block.input, json: '' };
    this.#calls.push(call);
    return call;
  }

  #write(block: OpenBlock, delta: unknown, events: ModelEvent[]): void {
    const piece = objectOf(delta, 'a delta');
    if (block.type === 'text') this.#emitText(textOrNothing(piece.text), events);
    if (block.type === 'call') writeCall(block, textOrNothing(piece.partial_json), events);
    if (block.type === 'thought') {
      this.#think(block, textOrNothing(piece.thinking), events);
      block.signature += textOrNothing(piece.signature) ?? '';
    }
  }

  #finish(block: OpenBlock, events: ModelEvent[]): void {
    if (block.type !== 'thought' && block.type !== 'sealed') return;
    const { place } = block;
    const thought =
      block.type === 'thought'
        ? readThought({ type: 'thinking', thinking: block.thinking, signature: block.signature })
        : readThought({ type: 'redacted_thinking', data: block.data });
    if (thought)
      events.push({ type: 'kept', kept: { wire: 'anthropic-messages', place, block: { ...thought } } });
  }

  #emitText(delta: string | undefined, events: ModelEvent[]): void {
    if (delta === undefined) return;
    this.#hasText = true;
    events.push({ type: 'text', delta });
  }

  /** Clients see each thought as a paragraph; its own text stays as it came. */
  #think(
    thought: Extract<OpenBlock, { type: 'thought' }>,
    text: string | undefined,
    events: ModelEvent[],
  ): void {
    if (text === undefined) return;
    thought.thinking += text;
    const delta = this.#breakIsDue ? `\n\n${text}` : text;
    this.#breakIsDue = false;
    this.#hasThoughts = true;
    events.push({ type: 'reasoning', delta });
  }

  #place(): number {
    return placeAfter({ hasText: this.#hasText, calls: this.#calls.length });
  }

  #endReason(called: boolean): EndReason {
    return reasons.get(this.#stopReason ?? '') ?? (called ? 'tool_calls' : 'stop');
  }

  #blockAt(index: unknown): OpenBlock {
    const block = this.#blocks.get(indexOf(index));
    if (!block) throw wrongShape('a piece of nothing');
    return block;
  }
}

function indexOf(value: unknown): number {
  return countOrNothing(value) ?? 0;
}

function objectOf(value: unknown, what: string): Frame {
  if (!isObject(value)) throw wrongShape(what);
  return value;
}

function writeCall(
  call: Extract<OpenBlock, { type: 'call' }>,
  delta: string | undefined,
  events: ModelEvent[],
): void {
  if (delta === undefined) return;
  call.json += delta;
  events.push({ type: 'tool_call_delta', callId: call.id, name: call.name, delta });
}

/** Arguments come in pieces of JSON; some services give them whole when the call begins. */
function finishCall({ id, name, input, json }: Extract<OpenBlock, { type: 'call' }>): ToolCall {
  return { callId: id, name, argumentsText: json === '' ? JSON.stringify(input ?? {}) : json };
}

/** What came from the cache and what went into it is counted beside the rest of the prompt. */
function readUsage(usage: Frame): Usage {
  const count = (value: unknown) => countOrNothing(value) ?? 0;
  const cacheReadTokens = count(usage.cache_read_input_tokens);
  const cacheWriteTokens = count(usage.cache_creation_input_tokens);
  return {
    inputTokens: count(usage.input_tokens) + cacheReadTokens + cacheWriteTokens,
    outputTokens: count(usage.output_tokens),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: count(property(usage.output_tokens_details, 'thinking_tokens')),
  };
}
