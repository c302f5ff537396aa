import {
  type Answer,
  type AnswerPart,
  type Call,
  type Message,
  messageOf,
  type Question,
} from './conversation.js';
import type { Json } from './json.js';
import type { Masking, Numbering } from './masking.js';
import { fingerprint } from './wires/content.js';
import type { WireName } from './wires/wire.js';

/** A question as it is kept and compared: nothing in it is of one run only. */
export interface KeptQuestion extends Omit<Question, 'tools'> {
  /** Their names, and a sign by which each definition is known again. */
  readonly tools: readonly string[];
}

/** What came of a model call. */
export type Outcome =
  | { readonly type: 'answer'; readonly answer: Answer }
  | {
      readonly type: 'failure';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: unknown;
    };

/** A model call and what came of it. */
export interface ModelExchange {
  readonly type: 'model';
  /** Its place in the cassette, from 1. */
  readonly number: number;
  readonly wire: WireName;
  readonly path: string;
  readonly question: KeptQuestion;
  readonly outcome: Outcome;
}

/** Any other call, such as for the list of models. */
export interface PlainExchange {
  readonly type: 'plain';
  readonly number: number;
  readonly method: string;
  readonly path: string;
  readonly request?: unknown;
  readonly status: number;
  /** JSON, or a text. */
  readonly answer: unknown;
}

/** One call of a cassette. */
export type Exchange = ModelExchange | PlainExchange;

/** All calls of one recording, in the order they came. */
export interface Cassette {
  readonly upstream: string;
  readonly exchanges: readonly Exchange[];
}

/** The question without what is of one run only, and the ids that were found in it. */
export function keptQuestion(
  question: Question,
  masking: Masking,
): { readonly question: KeptQuestion; readonly numbering: Numbering } {
  const numbering: Numbering = new Map();
  const apart: Numbering = new Map();
  const messages = question.messages.map((message) =>
    withTexts(message, (text) => masking.ofRequest(text, numbering)),
  );
  const settings = masking.value(question.settings, apart) as Json; // an object stays one
  const tools = question.tools.map((tool) => toolSign(masking.value(tool, apart) as Json));
  return { question: { model: question.model, messages, tools, settings }, numbering };
}

/** The conversation after a call that was answered, as the next request has it. */
export function historyAfter(
  { question, outcome }: Pick<ModelExchange, 'question' | 'outcome'>,
  masking: Masking,
): readonly Message[] | undefined {
  if (outcome.type !== 'answer' || outcome.answer.ending !== 'complete') return undefined;
  const numbering = numberingIn(question.messages);
  const echo = withTexts(messageOf(outcome.answer), (text) => masking.ofEcho(text, numbering));
  return [...question.messages, echo];
}

/** The messages with call ids by the order in which they turn up. */
export function withPlainIds(messages: readonly Message[]): readonly Message[] {
  const ids = new Map<string, string>();
  const plain = (id: string) => {
    const known = ids.get(id) ?? `call ${ids.size + 1}`;
    ids.set(id, known);
    return known;
  };
  return messages.map((message) => withIds(message, plain));
}

/** The message with its call ids changed. */
export function withIds(message: Message, change: (id: string) => string): Message {
  if (message.role === 'tool') return { ...message, callId: change(message.callId) };
  if (message.role !== 'assistant') return message;
  return { ...message, calls: message.calls.map((call) => ({ ...call, id: change(call.id) })) };
}

/** The answer with its pieced texts, its calls and its seals changed. */
export function withParts(
  answer: Answer,
  change: {
    pieces(pieces: readonly string[]): readonly string[];
    call(call: Call): Call;
    seal(seal: string): string;
  },
): Answer {
  const parts = answer.parts.map((part): AnswerPart => {
    if (part.type === 'call') return { type: 'call', call: change.call(part.call) };
    if (part.type === 'other') return part;
    const pieces = change.pieces(part.pieces);
    if (part.type !== 'thought' || part.seal === undefined) return { ...part, pieces };
    return { ...part, pieces, seal: change.seal(part.seal) };
  });
  return { ...answer, parts };
}

/** The message with its texts changed, in a fixed order. */
function withTexts(message: Message, change: (text: string) => string): Message {
  const text = change(message.text);
  if (message.role !== 'assistant') return { ...message, text };
  const calls = message.calls.map((call) => ({ ...call, argumentsText: change(call.argumentsText) }));
  return { ...message, text, calls };
}

/** The ids that kept messages have masks for already. */
function numberingIn(messages: readonly Message[]): Numbering {
  const masks = JSON.stringify(messages).match(/\$\{uuid-\d+\}/g) ?? [];
  return new Map(masks.map((mask) => [mask, mask]));
}

function toolSign(tool: Json): string {
  const named = [tool.name, (tool.function as Json | undefined)?.name, tool.type];
  const name = named.find((each) => typeof each === 'string') ?? 'tool';
  return `${name} ${fingerprint(JSON.stringify(tool))}`;
}
