import { ModelError } from '../../errors.js';
import { countOrNothing, isObject, property, textOrNothing } from '../../json.js';
import type { EndReason, ModelEvent, Usage } from '../../model.js';
import { asFrame, type Frame, type IncomingAnswer, listOf, wrongShape } from '../frames.js';
import { Reasoning } from './reasoning.js';
import { ToolCalls } from './tool-calls.js';

const reasons: ReadonlyMap<string, EndReason> = new Map([
  ['stop', 'stop'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['content_filter', 'refused'],
]);

/** The most important reason comes last. */
const weight: Readonly<Record<EndReason, number>> = { stop: 0, tool_calls: 1, length: 2, refused: 3 };

export interface ChatAnswerOptions {
  /** Whose thoughts these are. */
  readonly wire: string;
  readonly newId: () => string;
}

/** One answer as it comes in. Services spread it over several choices now and then; they are merged. */
export class ChatAnswer implements IncomingAnswer {
  readonly #wire: string;
  readonly #calls: ToolCalls;
  readonly #reasoning = new Reasoning();
  #reason: EndReason | undefined;
  #usage: unknown;
  #nanoCredits: number | undefined;
  #model: string | undefined;
  #responseId: string | undefined;

  constructor({ wire, newId }: ChatAnswerOptions) {
    this.#wire = wire;
    this.#calls = new ToolCalls(newId);
  }

  /** Takes a chunk, or a whole answer. Its last word is no chunk: a finished answer is followed by its usage. */
  add(chunk: Frame, events: ModelEvent[]): boolean {
    this.#model ??= textOrNothing(chunk.model);
    this.#responseId ??= textOrNothing(chunk.id);
    if (isObject(chunk.usage)) this.#usage = chunk.usage;
    this.#nanoCredits ??= countOrNothing(property(chunk.copilot_usage, 'total_nano_aiu'));
    for (const [position, choice] of listOf(chunk.choices, 'choices').entries()) {
      if (!isObject(choice)) throw wrongShape('a choice');
      this.#addChoice(choice, countOrNothing(choice.index) ?? position, events);
    }
    return false;
  }

  end({ complete }: { readonly complete: boolean }): readonly ModelEvent[] {
    if (!complete && this.#reason === undefined)
      throw new ModelError('unavailable', 'The answer ended before it was complete');
    const calls = this.#calls.finish();
    const model = this.#model;
    const responseId = this.#responseId;
    const nanoCredits = this.#nanoCredits;
    const block = this.#reasoning.toSendBack({ hasCalls: calls.length > 0 });
    return [
      ...(block ? [{ type: 'kept', kept: { wire: this.#wire, place: 0, block } } as const] : []),
      ...calls.map((call) => ({ type: 'tool_call', call }) as const),
      {
        type: 'end',
        reason: this.#endReason(calls.length > 0),
        usage: {
          ...readUsage(this.#usage),
          ...(nanoCredits !== undefined && { billed: nanoCredits / nanoCreditsPerDollar }),
        },
        ...(model !== undefined && { model }),
        ...(responseId !== undefined && { responseId }),
      },
    ];
  }

  #addChoice(choice: Frame, index: number, events: ModelEvent[]): void {
    this.#finish(textOrNothing(choice.finish_reason));
    const streamed = choice.delta !== undefined && choice.delta !== null;
    const piece = streamed ? choice.delta : choice.message;
    if (piece === undefined || piece === null) return;
    if (!isObject(piece)) throw wrongShape(streamed ? 'a delta' : 'a message');
    const reasoning = this.#reasoning.add(piece);
    if (reasoning !== undefined) events.push({ type: 'reasoning', delta: reasoning });
    this.#addText(readText(piece.content), events);
    const refusal = textOrNothing(piece.refusal);
    if (refusal !== undefined) this.#finish('content_filter');
    this.#addText(refusal ?? '', events);
    for (const [position, call] of listOf(piece.tool_calls, 'tool calls').entries()) {
      if (!isObject(call)) throw wrongShape('a tool call');
      this.#calls.add({ piece: call, choice: index, position, streamed }, events);
    }
  }

  #addText(delta: string, events: ModelEvent[]): void {
    if (delta === '') return;
    events.push({ type: 'text', delta });
  }

  #finish(word: string | undefined): void {
    if (word === undefined) return;
    if (word === 'error') throw new ModelError('unavailable', 'The model service failed while it answered');
    const reason = reasons.get(word) ?? 'stop';
    if (this.#reason === undefined || weight[reason] > weight[this.#reason]) this.#reason = reason;
  }

  /** Not every service says `tool_calls` when it calls tools, and some say it when they do not. */
  #endReason(called: boolean): EndReason {
    const reason = this.#reason ?? 'stop';
    if (reason !== 'stop' && reason !== 'tool_calls') return reason;
    return called ? 'tool_calls' : 'stop';
  }
}

/** The Copilot service charges in credits, of which a dollar is a hundred. */
const nanoCreditsPerDollar = 100 * 1_000_000_000;

/** Content is a text, or parts of which those with text count. */
function readText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content, 'content')
    .map((part) => textOrNothing(property(part, 'text')) ?? '')
    .join('');
}

function readUsage(usage: unknown): Usage {
  const count = (value: unknown) => countOrNothing(value) ?? 0;
  const prompt = property(usage, 'prompt_tokens_details');
  const completion = property(usage, 'completion_tokens_details');
  return {
    inputTokens: count(property(usage, 'prompt_tokens')),
    outputTokens: count(property(usage, 'completion_tokens')),
    cacheReadTokens: count(property(prompt, 'cached_tokens') ?? property(usage, 'prompt_cache_hit_tokens')),
    cacheWriteTokens: count(
      property(prompt, 'cache_write_tokens') ?? property(prompt, 'cache_creation_input_tokens'),
    ),
    reasoningTokens: count(property(completion, 'reasoning_tokens') ?? property(usage, 'reasoning_tokens')),
  };
}

/** A chat completion that came in one piece. */
export function decodeWholeChat(body: unknown, options: ChatAnswerOptions): readonly ModelEvent[] {
  const whole = asFrame(body);
  const answer = new ChatAnswer(options);
  const events: ModelEvent[] = [];
  answer.add(whole, events);
  if (!Array.isArray(whole.choices)) throw new ModelError('bad_response', 'The answer has no choices');
  return [...events, ...answer.end({ complete: true })];
}
