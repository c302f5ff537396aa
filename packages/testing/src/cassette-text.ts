import type { Answer, AnswerPart, Call, Ending, Message } from './conversation.js';
import { isJson, type Json, objectsIn, parseJson, textOf } from './json.js';

/** A message as a cassette stores it: its role and its content. */
export function writeMessage(message: Message): Json {
  switch (message.role) {
    case 'assistant':
      return {
        assistant: message.text,
        calls: message.calls.length > 0 ? message.calls.map(writeCall) : undefined,
      };
    case 'tool':
      return { result: message.text, of: message.callId, isError: message.isError };
    default:
      return { [message.role]: message.text };
  }
}

/** Reads what `writeMessage` wrote, or a person by hand. Throws an error that names the place. */
export function readMessage(content: unknown, place: string): Message {
  if (isJson(content)) {
    if (typeof content.result === 'string')
      return {
        role: 'tool',
        callId: textOf(content.of),
        text: content.result,
        ...(content.isError === true && { isError: true }),
      };
    if (typeof content.assistant === 'string') {
      const calls = objectsIn(content.calls).map((call) => readCall(call, place));
      return { role: 'assistant', text: content.assistant, calls };
    }
    for (const role of ['system', 'user', 'other'] as const) {
      const text = content[role];
      if (typeof text === 'string') return { role, text };
    }
  }
  throw new Error(`${place} needs one of system, user, assistant, result or other, with a text`);
}

/** An answer as a cassette shows it; the lengths of its pieces stand beside each text that had several. */
export function writeAnswer(
  { parts, ending, finish, details, usage, model, error }: Answer,
  askedModel: string,
): Json {
  return {
    answer: parts.map(writePart),
    ending: ending === 'complete' ? undefined : ending,
    finish,
    details,
    usage,
    answeredBy: model === askedModel ? undefined : model,
    error,
  };
}

/** Reads what `writeAnswer` wrote, or a person by hand. Throws an error that names the place. */
export function readAnswer(content: Json, place: string): Answer {
  const { answer, ending = 'complete', finish, details, usage, answeredBy, error } = content;
  if (!Array.isArray(answer)) throw new Error(`${place} has neither an answer nor a failure`);
  if (!isEnding(ending)) throw new Error(`${place}.ending needs one of ${answerEndings.join(', ')}`);
  return {
    parts: answer.map((part, index) => readPart(part, `${place}.answer[${index}]`)),
    ending,
    ...(typeof finish === 'string' && { finish }),
    ...(isJson(details) && { details }),
    ...(isJson(usage) && { usage }),
    ...(typeof answeredBy === 'string' && { model: answeredBy }),
    ...(isJson(error) && { error }),
  };
}

const answerEndings: readonly Ending[] = ['complete', 'failed', 'unfinished', 'broken', 'abandoned'];

function isEnding(value: unknown): value is Ending {
  return answerEndings.some((ending) => ending === value);
}

function writePart(part: AnswerPart): Json {
  switch (part.type) {
    case 'text':
      return { text: part.pieces.join(''), phase: part.phase, pieces: lengths(part.pieces) };
    case 'refusal':
      return { refusal: part.pieces.join(''), pieces: lengths(part.pieces) };
    case 'thought':
      return {
        thought: part.pieces.join(''),
        field: part.field,
        seal: part.seal,
        pieces: lengths(part.pieces),
      };
    case 'call':
      return writeCall(part.call);
    case 'other':
      return { other: part.content };
  }
}

function readPart(content: unknown, place: string): AnswerPart {
  if (!isJson(content)) throw new Error(`${place} is no mapping`);
  if (typeof content.text === 'string') {
    const phase = typeof content.phase === 'string' ? { phase: content.phase } : {};
    return { type: 'text', pieces: cut(content.text, content.pieces), ...phase };
  }
  if (typeof content.refusal === 'string')
    return { type: 'refusal', pieces: cut(content.refusal, content.pieces) };
  if (typeof content.thought === 'string')
    return {
      type: 'thought',
      pieces: cut(content.thought, content.pieces),
      ...(typeof content.field === 'string' && { field: content.field }),
      ...(typeof content.seal === 'string' && { seal: content.seal }),
    };
  if (isJson(content.other)) return { type: 'other', content: content.other };
  return { type: 'call', call: readCall(content, place) };
}

function writeCall({ id, name, argumentsText }: Call): Json {
  const value = parseJson(argumentsText);
  const isPlain = (isJson(value) || Array.isArray(value)) && JSON.stringify(value) === argumentsText;
  return { call: name, id, arguments: isPlain ? value : argumentsText };
}

function readCall(content: Json, place: string): Call {
  const { call, id, arguments: given = {} } = content;
  if (typeof call !== 'string') throw new Error(`${place} needs a text, thought, refusal or call`);
  const argumentsText = typeof given === 'string' ? given : JSON.stringify(given);
  return { id: textOf(id), name: call, argumentsText };
}

/** One piece needs no marks. */
function lengths(pieces: readonly string[]): string | undefined {
  return pieces.length > 1 ? pieces.map((piece) => piece.length).join(' ') : undefined;
}

/** A text that was changed by hand is cut as far as the lengths go. */
function cut(text: string, given: unknown): readonly string[] {
  const pieces: string[] = [];
  let at = 0;
  for (const length of textOf(given).split(' ').map(Number)) {
    if (!(length > 0) || at + length >= text.length) break;
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return text === '' ? pieces : [...pieces, text.slice(at)];
}
