import type { Answer, AnswerPart, Message, Question } from '../conversation.js';
import { isJson, type Json, objectsIn, parseJson, textOf, without } from '../json.js';
import { frame } from '../sse.js';
import { contentText, inPieces } from './content.js';
import type { AskedFor, Wire } from './wire.js';

/** Anthropic's Messages API. */
export const messagesWire: Wire = {
  readQuestion,
  readWhole,
  readStream,
  writeWhole,
  writeStream,
  writeFailure: (message, code) => ({ type: 'error', error: { type: code, message } }),
};

const spoken = ['model', 'system', 'messages', 'tools', 'stream', 'metadata'];

function readQuestion(body: Json): Question {
  const system = contentText(body.system);
  return {
    model: textOf(body.model),
    messages: [
      ...(system === '' ? [] : [{ role: 'system', text: system } as const]),
      ...objectsIn(body.messages).flatMap(readMessage),
    ],
    tools: objectsIn(body.tools).map((tool) => without(tool, ['cache_control'])),
    settings: without(body, spoken),
  };
}

function readMessage(message: Json): readonly Message[] {
  const blocks = typeof message.content === 'string' ? [] : objectsIn(message.content);
  if (message.role === 'assistant') {
    const calls = blocks
      .filter((block) => block.type === 'tool_use')
      .map((block) => ({
        id: textOf(block.id),
        name: textOf(block.name),
        argumentsText: JSON.stringify(block.input),
      }));
    const said = blocks.filter((block) => block.type === 'text').map((block) => textOf(block.text));
    return [{ role: 'assistant', text: textOf(message.content) + said.join(''), calls }];
  }
  const results = blocks.filter((block) => block.type === 'tool_result').map(readResult);
  const rest = blocks.filter((block) => block.type !== 'tool_result').map(unmarked);
  const text = typeof message.content === 'string' ? message.content : contentText(rest);
  const hasText = rest.length > 0 || typeof message.content === 'string';
  return [...results, ...(hasText ? [{ role: 'user', text } as const] : [])];
}

function readResult(block: Json): Message {
  return {
    role: 'tool',
    callId: textOf(block.tool_use_id),
    text: contentText(block.content),
    ...(block.is_error === true && { isError: true as const }),
  };
}

/** Cache marks wander from call to call and say nothing. */
function unmarked(block: Json): Json {
  return without(block, ['cache_control']);
}

function readWhole(body: Json): Answer {
  if (body.type === 'error') return { parts: [], ending: 'failed', error: body };
  const parts = objectsIn(body.content).map((block) => partOf(block, []));
  return { parts: parts.filter(isSomething), ending: 'complete', ...answerParts(body) };
}

interface OpenBlock {
  readonly block: Json;
  readonly pieces: string[];
  json: string;
  signature: string;
}

function readStream(frames: readonly Json[]): Answer {
  const blocks = new Map<unknown, OpenBlock>();
  const parts = () => [...blocks.values()].map(closed).filter(isSomething);
  let end: Partial<Answer> = {};
  for (const each of frames) {
    switch (each.type) {
      case 'message_start':
        if (isJson(each.message)) end = { ...end, ...answerParts(each.message) };
        break;
      case 'content_block_start':
        if (isJson(each.content_block))
          blocks.set(each.index, { block: each.content_block, pieces: [], json: '', signature: '' });
        break;
      case 'content_block_delta':
        grow(blocks.get(each.index), each.delta);
        break;
      case 'message_delta':
        end = {
          ...end,
          ...answerParts({ ...(isJson(each.delta) ? each.delta : {}), usage: each.usage }, end.usage),
        };
        break;
      case 'error':
        return { parts: parts(), ending: 'failed', ...end, error: each };
      case 'message_stop':
        return { parts: parts(), ending: 'complete', ...end };
      default:
    }
  }
  return { parts: parts(), ending: end.finish === undefined ? 'unfinished' : 'complete', ...end };
}

function grow(open: OpenBlock | undefined, delta: unknown): void {
  if (!open || !isJson(delta)) return;
  open.pieces.push(textOf(delta.text) + textOf(delta.thinking));
  open.json += textOf(delta.partial_json);
  open.signature += textOf(delta.signature);
}

function closed({ block, pieces, json, signature }: OpenBlock): AnswerPart {
  const sealed = signature === '' ? block : { ...block, signature };
  return partOf(sealed, pieces, json);
}

function partOf(block: Json, more: readonly string[], json = ''): AnswerPart {
  const pieces = [textOf(block.text) + textOf(block.thinking), ...more].filter((piece) => piece !== '');
  const signature = textOf(block.signature);
  switch (block.type) {
    case 'text':
      return { type: 'text', pieces };
    case 'thinking':
      return { type: 'thought', pieces, ...(signature !== '' && { seal: signature }) };
    case 'tool_use': {
      const argumentsText = json === '' ? JSON.stringify(block.input ?? {}) : json;
      return { type: 'call', call: { id: textOf(block.id), name: textOf(block.name), argumentsText } };
    }
    default:
      return { type: 'other', content: block };
  }
}

function isSomething(part: AnswerPart): boolean {
  return part.type !== 'text' || part.pieces.length > 0;
}

function answerParts(message: Json, before: Json = {}): Partial<Answer> {
  return {
    ...(typeof message.stop_reason === 'string' && { finish: message.stop_reason }),
    ...(isJson(message.stop_details) && { details: message.stop_details }),
    ...(isJson(message.usage) && { usage: { ...before, ...message.usage } }),
    ...(typeof message.model === 'string' && { model: message.model }),
  };
}

function writeWhole(answer: Answer, asked: AskedFor): Json {
  if (answer.error) return answer.error;
  const content = answer.parts.map(blockOf);
  return { ...head(answer, asked), content, ...stopOf(answer), usage: usageOf(answer) };
}

function writeStream(answer: Answer, asked: AskedFor): readonly string[] {
  const usage = usageOf(answer);
  const events: readonly Json[] = [
    { type: 'message_start', message: { ...head(answer, asked), usage: { ...usage, output_tokens: 1 } } },
    ...answer.parts.flatMap((part, index) => [
      { type: 'content_block_start', index, content_block: begunBlock(part) },
      ...deltasOf(part).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    ...endOf(answer, usage),
  ];
  return events.map((event) => frame(event, textOf(event.type)));
}

function endOf(answer: Answer, usage: Json): readonly Json[] {
  if (answer.error) return [answer.error];
  if (answer.ending !== 'complete') return [];
  return [
    {
      type: 'message_delta',
      delta: { ...stopOf(answer), stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    },
    { type: 'message_stop' },
  ];
}

function blockOf(part: AnswerPart): Json {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: part.pieces.join('') };
    case 'thought':
      return { type: 'thinking', thinking: part.pieces.join(''), signature: part.seal ?? '' };
    case 'call': {
      const input = parseJson(part.call.argumentsText);
      return { type: 'tool_use', id: part.call.id, name: part.call.name, input: isJson(input) ? input : {} };
    }
    case 'other':
      return part.content;
  }
}

function begunBlock(part: AnswerPart): Json {
  const block = blockOf(part);
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { ...block, text: '' };
    case 'thought':
      return { ...block, thinking: '', signature: '' };
    case 'call':
      return { ...block, input: {} };
    case 'other':
      return block;
  }
}

function deltasOf(part: AnswerPart): readonly Json[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.pieces.map((text) => ({ type: 'text_delta', text }));
    case 'thought': {
      const seal = part.seal === undefined ? [] : [{ type: 'signature_delta', signature: part.seal }];
      return [...part.pieces.map((thinking) => ({ type: 'thinking_delta', thinking })), ...seal];
    }
    case 'call':
      return inPieces(part.call.argumentsText).map((text) => ({
        type: 'input_json_delta',
        partial_json: text,
      }));
    case 'other':
      return [];
  }
}

function stopOf({ finish, details, parts }: Answer): Json {
  const reason = finish ?? (parts.some((part) => part.type === 'call') ? 'tool_use' : 'end_turn');
  return { stop_reason: reason, ...(details && { stop_details: details }) };
}

function usageOf({ usage }: Answer): Json {
  return { input_tokens: 0, output_tokens: 0, ...usage };
}

function head(answer: Answer, { model, number }: AskedFor): Json {
  return {
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model: answer.model ?? model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}
