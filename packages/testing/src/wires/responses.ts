import type { Answer, AnswerPart, Message, Question } from '../conversation.js';
import { argumentsOf, isJson, type Json, objectsIn, textOf, without } from '../json.js';
import { frame } from '../sse.js';
import { contentText, inPieces } from './content.js';
import type { AskedFor, Wire } from './wire.js';

/** OpenAI's Responses API. */
export const responsesWire: Wire = {
  readQuestion,
  readWhole,
  readStream,
  writeWhole,
  writeStream,
  writeFailure: (message, code) => ({ error: { message, type: code, code } }),
};

const spoken = [
  'model',
  'instructions',
  'input',
  'tools',
  'stream',
  'stream_options',
  'user',
  'metadata',
  'prompt_cache_key',
  'safety_identifier',
];

function readQuestion(body: Json): Question {
  const items: readonly Json[] =
    typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : objectsIn(body.input);
  return {
    model: textOf(body.model),
    messages: [
      ...(typeof body.instructions === 'string'
        ? [{ role: 'system', text: body.instructions } as const]
        : []),
      ...joinAnswers(items.flatMap(readItem)),
    ],
    tools: objectsIn(body.tools),
    settings: without(body, spoken),
  };
}

/** Thoughts go back sealed and are not compared. */
function readItem(item: Json): readonly Message[] {
  const text = contentText(item.content);
  switch (item.type ?? 'message') {
    case 'message':
      if (item.role === 'assistant') return [{ role: 'assistant', text, calls: [] }];
      if (item.role === 'user') return [{ role: 'user', text }];
      return [{ role: 'system', text }];
    case 'function_call': {
      const call = {
        id: textOf(item.call_id),
        name: textOf(item.name),
        argumentsText: textOf(item.arguments),
      };
      return [{ role: 'assistant', text: '', calls: [call] }];
    }
    case 'function_call_output':
      return [{ role: 'tool', callId: textOf(item.call_id), text: contentText(item.output) }];
    case 'reasoning':
      return [];
    default:
      return [{ role: 'other', text: JSON.stringify(item) }];
  }
}

/** Items of one answer are one message. */
function joinAnswers(messages: readonly Message[]): readonly Message[] {
  const joined: Message[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (last?.role !== 'assistant' || message.role !== 'assistant') joined.push(message);
    else
      joined[joined.length - 1] = {
        role: 'assistant',
        text: last.text + message.text,
        calls: [...last.calls, ...message.calls],
      };
  }
  return joined;
}

function readWhole(body: Json): Answer {
  if (isJson(body.error)) return { parts: [], ending: 'failed', error: body };
  const parts = objectsIn(body.output).flatMap((item) => partsOf(item, undefined));
  return { parts, ending: 'complete', ...answerParts(body) };
}

function readStream(frames: readonly Json[]): Answer {
  const items = new ItemList();
  for (const each of frames) {
    const { type, response } = each;
    if (type === 'error' || type === 'response.failed')
      return { parts: items.parts(), ending: 'failed', error: each };
    if ((type === 'response.completed' || type === 'response.incomplete') && isJson(response)) {
      // Some services send nothing before the end.
      const parts = items.isEmpty ? readWhole(response).parts : items.parts();
      return { parts, ending: 'complete', ...answerParts(response) };
    }
    items.add(each);
  }
  return { parts: items.parts(), ending: 'unfinished' };
}

/** The items of an answer as they come in, and the pieces of each. */
class ItemList {
  private readonly items = new Map<unknown, Json>();
  private readonly pieces = new Map<unknown, string[]>();
  private readonly sections = new Map<unknown, unknown>();

  get isEmpty(): boolean {
    return this.items.size === 0;
  }

  add(event: Json): void {
    const { type, output_index: index, item, delta } = event;
    if (isJson(item)) this.items.set(index, item);
    if (typeof delta !== 'string' || !isSpoken(type)) return;
    const known = this.pieces.get(index) ?? [];
    const section = event.summary_index ?? event.content_index;
    const isNext = known.length > 0 && section !== this.sections.get(index);
    known.push(isNext ? `\n\n${delta}` : delta);
    this.pieces.set(index, known);
    this.sections.set(index, section);
  }

  parts(): readonly AnswerPart[] {
    return [...this.items].flatMap(([index, item]) => partsOf(item, this.pieces.get(index)));
  }
}

/** The deltas whose sum is an item's text or arguments. */
function isSpoken(type: unknown): boolean {
  return /^response\.(output_text|refusal|reasoning_(summary_)?text|function_call_arguments)\.delta$/.test(
    textOf(type),
  );
}

function partsOf(item: Json, streamed: readonly string[] | undefined): readonly AnswerPart[] {
  switch (item.type) {
    case 'message':
      return messageParts(item, streamed);
    case 'reasoning':
      return [thoughtOf(item, streamed)];
    case 'function_call': {
      // An item that was cut off has its arguments only in pieces.
      const argumentsText = argumentsOf(item.arguments) || (streamed ?? []).join('');
      return [{ type: 'call', call: { id: textOf(item.call_id), name: textOf(item.name), argumentsText } }];
    }
    default:
      return [{ type: 'other', content: item }];
  }
}

function messageParts(item: Json, streamed: readonly string[] | undefined): readonly AnswerPart[] {
  const phase = typeof item.phase === 'string' ? { phase: item.phase } : {};
  const contents = objectsIn(item.content);
  const isRefusal = contents.some((each) => each.type === 'refusal');
  const pieces = piecesOf(contentText(contents), streamed);
  if (pieces.length === 0) return [];
  return isRefusal ? [{ type: 'refusal', pieces }] : [{ type: 'text', pieces, ...phase }];
}

function thoughtOf(item: Json, streamed: readonly string[] | undefined): AnswerPart {
  const isOpen = Array.isArray(item.content) && item.content.length > 0;
  const pieces = piecesOf(contentText(isOpen ? item.content : item.summary), streamed);
  const seal = textOf(item.encrypted_content);
  return { type: 'thought', pieces, ...(isOpen && { field: 'content' }), ...(seal !== '' && { seal }) };
}

/** The pieces it was streamed in, if they are all of it; an item that was never done has nothing else. */
function piecesOf(whole: string, streamed: readonly string[] | undefined): readonly string[] {
  if (streamed && (whole === '' || streamed.join('') === whole))
    return streamed.filter((each) => each !== '');
  return whole === '' ? [] : [whole];
}

function answerParts(response: Json): Partial<Answer> {
  const details = isJson(response.incomplete_details) ? response.incomplete_details : {};
  const finish = textOf(details.reason) || textOf(response.status);
  return {
    ...(finish !== '' && { finish }),
    ...(isJson(response.usage) && { usage: response.usage }),
    ...(typeof response.model === 'string' && { model: response.model }),
  };
}

function writeWhole(answer: Answer, asked: AskedFor): Json {
  if (answer.error) return isJson(answer.error.response) ? answer.error.response : answer.error;
  const isComplete = (answer.finish ?? 'completed') === 'completed';
  return {
    ...head(answer, asked),
    status: isComplete ? 'completed' : 'incomplete',
    incomplete_details: isComplete ? null : { reason: answer.finish },
    output: answer.parts.map((part, index) => itemOf(part, idOf(asked, index))),
    ...(answer.usage && { usage: answer.usage }),
  };
}

function writeStream(answer: Answer, asked: AskedFor): readonly string[] {
  const events: readonly Json[] = [
    { type: 'response.created', response: head(answer, asked) },
    { type: 'response.in_progress', response: head(answer, asked) },
    ...answer.parts.flatMap((part, index) => itemEvents(part, index, idOf(asked, index))),
    ...endOf(answer, asked),
  ];
  return events.map((event, index) => frame({ ...event, sequence_number: index }, textOf(event.type)));
}

function endOf(answer: Answer, asked: AskedFor): readonly Json[] {
  if (answer.error) return [answer.error];
  if (answer.ending !== 'complete') return [];
  const response = writeWhole(answer, asked);
  return [{ type: `response.${textOf(response.status)}`, response }];
}

/** An item as it is announced, its pieces, and the whole. */
function itemEvents(part: AnswerPart, index: number, id: string): readonly Json[] {
  const item = itemOf(part, id);
  const at = { output_index: index, item_id: item.id };
  return [
    { type: 'response.output_item.added', output_index: index, item: begunItem(part, item) },
    ...pieceEvents(part, item).map((event) => ({ ...event, ...at })),
    { type: 'response.output_item.done', output_index: index, item },
  ];
}

function pieceEvents(part: AnswerPart, item: Json): readonly Json[] {
  switch (part.type) {
    case 'text':
    case 'refusal': {
      const [whole] = objectsIn(item.content);
      const name = part.type === 'text' ? 'output_text' : 'refusal';
      const field = part.type === 'text' ? 'text' : 'refusal';
      const at = { content_index: 0 };
      return [
        { type: 'response.content_part.added', ...at, part: { ...whole, [field]: '' } },
        ...part.pieces.map((delta) => ({ type: `response.${name}.delta`, ...at, delta, logprobs: [] })),
        { type: `response.${name}.done`, ...at, [field]: part.pieces.join(''), logprobs: [] },
        { type: 'response.content_part.done', ...at, part: whole },
      ];
    }
    case 'thought': {
      const name = part.field === 'content' ? 'reasoning_text' : 'reasoning_summary_text';
      const at = part.field === 'content' ? { content_index: 0 } : { summary_index: 0 };
      if (part.pieces.length === 0) return [];
      return [
        ...part.pieces.map((delta) => ({ type: `response.${name}.delta`, ...at, delta })),
        { type: `response.${name}.done`, ...at, text: part.pieces.join('') },
      ];
    }
    case 'call':
      return [
        ...inPieces(part.call.argumentsText).map((delta) => ({
          type: 'response.function_call_arguments.delta',
          delta,
        })),
        { type: 'response.function_call_arguments.done', arguments: part.call.argumentsText },
      ];
    case 'other':
      return [];
  }
}

function itemOf(part: AnswerPart, id: string): Json {
  const text = 'pieces' in part ? part.pieces.join('') : '';
  const done = { status: 'completed' };
  switch (part.type) {
    case 'text':
    case 'refusal': {
      const content =
        part.type === 'text'
          ? { type: 'output_text', text, annotations: [], logprobs: [] }
          : { type: 'refusal', refusal: text };
      const phase = part.type === 'text' && part.phase !== undefined ? { phase: part.phase } : {};
      return { id: `msg_${id}`, type: 'message', role: 'assistant', ...done, content: [content], ...phase };
    }
    case 'thought': {
      const isOpen = part.field === 'content';
      return {
        id: `rs_${id}`,
        type: 'reasoning',
        summary: !isOpen && text !== '' ? [{ type: 'summary_text', text }] : [],
        ...(isOpen && { content: [{ type: 'reasoning_text', text }] }),
        ...(part.seal !== undefined && { encrypted_content: part.seal }),
      };
    }
    case 'call': {
      const { id: callId, name, argumentsText } = part.call;
      return {
        id: `fc_${id}`,
        type: 'function_call',
        ...done,
        call_id: callId,
        name,
        arguments: argumentsText,
      };
    }
    case 'other':
      return part.content;
  }
}

function begunItem(part: AnswerPart, item: Json): Json {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { ...item, status: 'in_progress', content: [] };
    case 'thought':
      return { ...item, ...begunSeal(part), summary: [], ...(part.field === 'content' && { content: [] }) };
    case 'call':
      return { ...item, status: 'in_progress', arguments: '' };
    case 'other':
      return item;
  }
}

/** A thought is sealed when it is complete; what is announced has another seal. */
function begunSeal({ seal }: Extract<AnswerPart, { type: 'thought' }>): Json {
  return seal === undefined ? {} : { encrypted_content: `begun ${seal}` };
}

function idOf({ number }: AskedFor, index: number): string {
  return `${number}_${index + 1}`;
}

function head(answer: Answer, { model, number }: AskedFor): Json {
  return {
    id: `resp_${number}`,
    object: 'response',
    created_at: 0,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    model: answer.model ?? model,
    output: [],
    usage: null,
  };
}
