import type { Answer, AnswerPart } from './conversation.js';
import type { Json } from './json.js';
import type { ScriptedAnswer } from './scripted-reply.js';
import type { WireName } from './wires/wire.js';
import { wireNamed } from './wires/wires.js';

/** What services add to what a model says. */
export interface AnswerStyle {
  /** What each API counts; some small figures unless given. */
  readonly usage?: Readonly<Record<WireName, Json>>;
  /** What a thought is sealed with, where the API seals them. */
  readonly seal?: (thought: string) => string;
}

/** The call that an answer is written for. */
export interface WrittenFor extends AnswerStyle {
  readonly wire: WireName;
  readonly model: string;
  /** Makes the ids of answers differ. */
  readonly number: number;
  /** The request as it came. */
  readonly body?: Json;
  /** The answer breaks off after its last piece. */
  readonly isCut?: boolean;
}

/** An answer in one piece, as the API sends it. */
export function writeWhole(answer: ScriptedAnswer, call: WrittenFor): Json {
  return wireNamed(call.wire).writeWhole(answerOf(answer, call), askedBy(call));
}

/** An answer as server-sent events, one for each piece. */
export function writeEvents(answer: ScriptedAnswer, call: WrittenFor): readonly string[] {
  return wireNamed(call.wire).writeStream(answerOf(answer, call), askedBy(call));
}

function askedBy({ model, number, body = {} }: WrittenFor) {
  return { model, number, body };
}

function answerOf({ thoughts = [], pieces = [], calls = [] }: ScriptedAnswer, call: WrittenFor): Answer {
  const { wire, usage = usages, seal = () => 'scripted', isCut = false } = call;
  const called = calls.map(({ name, arguments: given = {}, id }, index): AnswerPart => {
    const argumentsText = typeof given === 'string' ? given : JSON.stringify(given);
    return { type: 'call', call: { id: id ?? `call_${index + 1}`, name, argumentsText } };
  });
  const thought: AnswerPart = {
    type: 'thought',
    pieces: thoughts,
    ...(wire !== 'openai-chat' && { seal: seal(thoughts.join('')) }),
  };
  const parts: readonly AnswerPart[] = [
    ...(thoughts.length > 0 ? [thought] : []),
    ...(pieces.length > 0 ? [{ type: 'text', pieces } as const] : []),
    ...called,
  ];
  return { parts, ending: isCut ? 'broken' : 'complete', usage: usage[wire] };
}

/** Some small figures, as each API counts. */
const usages: Readonly<Record<WireName, Json>> = {
  'openai-chat': { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  'openai-responses': { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
  'anthropic-messages': { input_tokens: 7, output_tokens: 3 },
};
