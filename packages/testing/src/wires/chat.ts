import type { Answer, AnswerPart, Call, Message, Question } from '../conversation.js';
import { argumentsOf, isJson, type Json, objectsIn, textOf, without } from '../json.js';
import { doneMark, frame } from '../sse.js';
import { contentText, inPieces } from './content.js';
import { PartList } from './part-list.js';
import type { AskedFor, Wire } from './wire.js';

/** OpenAI's chat completions, and all that speak like them. */
export const chatWire: Wire = {
  readQuestion,
  readWhole,
  readStream,
  writeWhole,
  writeStream,
  writeFailure: (message, code) => ({ error: { message, type: code, code } }),
};

/** Where services write thoughts; the first is OpenAI-compatible servers' own. */
const thoughtFields = ['reasoning_content', 'reasoning_text', 'reasoning'] as const;
const knownFields = ['role', 'content', 'refusal', 'tool_calls', 'reasoning_opaque', ...thoughtFields];
const spoken = [
  'model',
  'messages',
  'tools',
  'stream',
  'stream_options',
  'user',
  'metadata',
  'prompt_cache_key',
];

function readQuestion(body: Json): Question {
  return {
    model: textOf(body.model),
    messages: objectsIn(body.messages).map(readMessage),
    tools: objectsIn(body.tools).map((tool) => without(tool, ['copilot_cache_control'])),
    settings: without(body, spoken),
  };
}

function readMessage(message: Json): Message {
  const text = contentText(message.content);
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', text };
    case 'user':
      return { role: 'user', text };
    case 'assistant':
      return { role: 'assistant', text, calls: objectsIn(message.tool_calls).map(readCall) };
    case 'tool':
      return { role: 'tool', callId: textOf(message.tool_call_id), text };
    default:
      return { role: 'other', text: JSON.stringify(message) };
  }
}

function readCall(call: Json): Call {
  const called = isJson(call.function) ? call.function : {};
  return { id: textOf(call.id), name: textOf(called.name), argumentsText: argumentsOf(called.arguments) };
}

function readWhole(body: Json): Answer {
  if (body.error !== undefined) return { parts: [], ending: 'failed', error: body };
  const parts = new PartList();
  const choices = objectsIn(body.choices);
  for (const { message } of choices) {
    if (!isJson(message)) continue;
    readPiece(message, parts);
    for (const call of objectsIn(message.tool_calls)) parts.addWholeCall(readCall(call));
  }
  return { parts: parts.done(), ending: 'complete', ...answerParts(body, choices) };
}

function readStream(frames: readonly Json[]): Answer {
  const parts = new PartList();
  let end: Partial<Answer> = {};
  let isComplete = false;
  for (const each of frames) {
    if (each.error !== undefined) return { parts: parts.done(), ending: 'failed', ...end, error: each };
    const choices = objectsIn(each.choices);
    for (const { delta } of choices) {
      if (!isJson(delta)) continue;
      readPiece(delta, parts);
      for (const call of objectsIn(delta.tool_calls)) parts.addCall(call.index, readCall(call));
    }
    end = { ...end, ...answerParts(each, choices) };
    isComplete ||= end.finish !== undefined || each[doneMark] === true;
  }
  return { parts: parts.done(), ending: isComplete ? 'complete' : 'unfinished', ...end };
}

/** A whole message and a piece of one have the same fields; calls are distinguished differently. */
function readPiece(piece: Json, parts: PartList): void {
  for (const field of thoughtFields) {
    if (typeof piece[field] !== 'string') continue;
    parts.add({ type: 'thought', pieces: [piece[field]], ...(field !== 'reasoning_content' && { field }) });
  }
  if (typeof piece.reasoning_opaque === 'string') parts.seal(piece.reasoning_opaque);
  const text = textIn(piece.content);
  if (text !== '') parts.add({ type: 'text', pieces: [text] });
  if (typeof piece.refusal === 'string') parts.add({ type: 'refusal', pieces: [piece.refusal] });
  const content = without(piece, knownFields);
  const known = Object.entries(content).filter(([, value]) => isWorthKeeping(value));
  if (known.length > 0) parts.add({ type: 'other', content: Object.fromEntries(known) });
}

/** Some services send a list of parts; what is no text among them is ignored. */
function textIn(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content);
  return objectsIn(content)
    .filter((part) => part.type === 'text')
    .map((part) => textOf(part.text))
    .join('');
}

function isWorthKeeping(value: unknown): boolean {
  return value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0);
}

/** Where an answer comes in several choices, calls in any of them are what it stopped for. */
function answerParts(body: Json, choices: readonly Json[]): Partial<Answer> {
  const reasons = choices
    .map((choice) => choice.finish_reason)
    .filter((reason) => typeof reason === 'string');
  const finish = reasons.find((reason) => reason === 'tool_calls') ?? reasons[0];
  return {
    ...(finish !== undefined && { finish }),
    ...(isJson(body.usage) && { usage: { ...body.usage, ...billOf(body) } }),
    ...(typeof body.model === 'string' && body.model !== '' && { model: body.model }),
  };
}

/** What the Copilot service charges stands beside its usage, and is kept with it. */
function billOf({ copilot_usage: bill }: Json): Json {
  return isJson(bill) ? { copilot_usage: bill } : {};
}

function usageOf({ usage }: Answer): Json | undefined {
  return usage && { usage: without(usage, ['copilot_usage']), ...billOf(usage) };
}

function writeWhole(answer: Answer, asked: AskedFor): Json {
  if (answer.error) return answer.error;
  const { parts } = answer;
  const textIn = (type: 'text' | 'refusal') =>
    parts.flatMap((part) => (part.type === type ? part.pieces : [])).join('');
  const calls = parts.flatMap((part) => (part.type === 'call' ? [writeCall(part.call)] : []));
  const text = textIn('text');
  const refusal = textIn('refusal');
  const message = {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    ...(refusal !== '' && { refusal }),
    ...thoughtsOf(parts),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...Object.assign({}, ...parts.flatMap((part) => (part.type === 'other' ? [part.content] : []))),
  };
  return {
    ...head(answer, asked, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: finishOf(answer) }],
    ...usageOf(answer),
  };
}

function thoughtsOf(parts: readonly AnswerPart[]): Json {
  const thoughts = parts.filter((part) => part.type === 'thought');
  const [first] = thoughts;
  if (!first) return {};
  const seal = thoughts.findLast((part) => part.seal !== undefined)?.seal;
  const text = thoughts.flatMap((part) => part.pieces).join('');
  return {
    ...(text !== '' && { [first.field ?? 'reasoning_content']: text }),
    ...(seal !== undefined && { reasoning_opaque: seal }),
  };
}

function writeStream(answer: Answer, asked: AskedFor): readonly string[] {
  const say = (choices: readonly Json[], more: Json = {}) =>
    frame({ ...head(answer, asked, 'chat.completion.chunk'), choices, ...more });
  const deltas = deltasOf(answer.parts).map((delta, index) =>
    say([{ index: 0, delta: index === 0 ? { role: 'assistant', ...delta } : delta, finish_reason: null }]),
  );
  if (answer.error) return [...deltas, frame(answer.error)];
  if (answer.ending !== 'complete') return deltas;
  const usage = usageOf(answer);
  const end = { index: 0, delta: {}, finish_reason: finishOf(answer) };
  const isUsageApart = isJson(asked.body.stream_options) && asked.body.stream_options.include_usage === true;
  return [
    ...deltas,
    ...(isUsageApart && usage ? [say([end]), say([], usage)] : [say([end], usage)]),
    frame(doneMark),
  ];
}

function deltasOf(parts: readonly AnswerPart[]): readonly Json[] {
  const calls: readonly AnswerPart[] = parts.filter((part) => part.type === 'call');
  return parts.flatMap((part) => partDeltas(part, calls.indexOf(part)));
}

function partDeltas(part: AnswerPart, index: number): readonly Json[] {
  switch (part.type) {
    case 'text':
      return part.pieces.map((content) => ({ content }));
    case 'refusal':
      return part.pieces.map((refusal) => ({ refusal }));
    case 'thought': {
      const field = part.field ?? 'reasoning_content';
      const seal = part.seal === undefined ? [] : [{ reasoning_opaque: part.seal }];
      return [...part.pieces.map((piece) => ({ [field]: piece })), ...seal];
    }
    case 'call': {
      const begun = writeCall({ ...part.call, argumentsText: '' });
      const pieces = inPieces(part.call.argumentsText).map((text) => ({
        tool_calls: [{ index, function: { arguments: text } }],
      }));
      return [{ tool_calls: [{ index, ...begun }] }, ...pieces];
    }
    case 'other':
      return [part.content];
  }
}

function writeCall({ id, name, argumentsText }: Call): Json {
  return { id, type: 'function', function: { name, arguments: argumentsText } };
}

function finishOf({ finish, parts }: Answer): string {
  return finish ?? (parts.some((part) => part.type === 'call') ? 'tool_calls' : 'stop');
}

function head(answer: Answer, { model, number }: AskedFor, object: string): Json {
  return { id: `chatcmpl-${number}`, object, created: 0, model: answer.model ?? model };
}
