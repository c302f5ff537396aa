import { isObject } from '../../json.js';
import type { ChatMessage, Part } from '../../model.js';
import { inPlace } from '../answer-order.js';
import { fittingId, fittingName } from '../call-ids.js';
import type { EncodingMemory } from '../encoding-memory.js';
import type { AnswerBlock, ImageType, MessageParam, TextBlock, UserBlock } from './schema.js';
import { readThought } from './thinking.js';

type Answer = Extract<ChatMessage, { role: 'assistant' }>;
type SentMessage = Exclude<ChatMessage, { role: 'assistant' }>;

const longestId = 64;

/** Stands for a message in which there is nothing to read. */
const nothing: TextBlock = { type: 'text', text: '(no text)' };
const silence: MessageParam = { role: 'user', content: [nothing] };

/**
 * The conversation as the service wants it: the user begins, both take turns, nothing is blank,
 * and results come first in what follows the calls.
 */
export function encodeConversation(
  messages: readonly ChatMessage[],
  options: { readonly keepsThoughts: boolean; readonly citations: boolean; readonly memory: EncodingMemory },
): MessageParam[] {
  const { keepsThoughts, citations, memory } = options;
  const answerOf = (answer: Answer) => encodeAnswer(answer, keepsThoughts);
  const blocksOf = (message: SentMessage) => encodeSent(message, citations);
  const answerWay = `anthropic-messages ${keepsThoughts ? 'with' : 'without'} thoughts`;
  const blocksWay = `anthropic-messages ${citations ? 'with' : 'without'} citations`;
  const join = (turns: MessageParam[], message: ChatMessage) => {
    if (message.role === 'assistant') joinAnswer(turns, memory.once(message, answerOf, answerWay));
    else joinUser(turns, memory.once(message, blocksOf, blocksWay));
  };
  const turns = memory.folded(messages, join, `${answerWay}, ${blocksWay}`);
  return turns[0]?.role === 'user' ? turns : [silence, ...turns];
}

function encodeSent(message: SentMessage, citations: boolean): UserBlock[] {
  if (message.role === 'tool') return [encodeResult(message)];
  const blocks = encodeParts(message.parts);
  return citations ? blocks.map(withCitations) : blocks;
}

function joinUser(turns: MessageParam[], content: readonly UserBlock[]): void {
  const last = turns.at(-1);
  if (last?.role === 'user')
    turns[turns.length - 1] = { role: 'user', content: [...last.content, ...content] };
  else turns.push({ role: 'user', content: [...content] });
}

function joinAnswer(turns: MessageParam[], content: readonly AnswerBlock[]): void {
  const last = turns.at(-1);
  if (content.length === 0) return;
  if (last?.role === 'assistant')
    turns[turns.length - 1] = { role: 'assistant', content: [...last.content, ...content] };
  else turns.push({ role: 'assistant', content: [...content] });
}

function encodeParts(parts: readonly Part[]): UserBlock[] {
  const blocks = parts.filter((part) => part.type !== 'text' || part.text.trim() !== '').map(encodePart);
  return blocks.length === 0 ? [nothing] : blocks;
}

function encodePart(part: Part): UserBlock {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      if (!isImageType(part.mimeType)) return unreadable(part.mimeType);
      return { type: 'image', source: { type: 'base64', media_type: part.mimeType, data: part.base64 } };
    case 'document':
      return encodeDocument(part);
  }
}

function encodeDocument({ mimeType, base64, name }: Extract<Part, { type: 'document' }>): UserBlock {
  const title = name !== undefined && { title: name };
  if (mimeType === 'application/pdf') {
    const source = { type: 'base64', media_type: 'application/pdf', data: base64 } as const;
    return { type: 'document', source, ...title };
  }
  if (!mimeType.startsWith('text/')) return unreadable(mimeType);
  const data = Buffer.from(base64, 'base64').toString('utf8');
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data }, ...title };
}

function withCitations(block: UserBlock): UserBlock {
  return block.type === 'document' ? { ...block, citations: { enabled: true } } : block;
}

function unreadable(mimeType: string): TextBlock {
  return { type: 'text', text: `[${mimeType}: this model cannot read it]` };
}

const imageTypes: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

function isImageType(mimeType: string): mimeType is ImageType {
  return imageTypes.includes(mimeType);
}

function encodeResult({ callId, text }: Extract<ChatMessage, { role: 'tool' }>): UserBlock {
  return {
    type: 'tool_result',
    tool_use_id: fittingId(callId, longestId),
    ...(text !== '' && { content: text }),
  };
}

function encodeAnswer({ text, toolCalls, kept = [] }: Answer, keepsThoughts: boolean): AnswerBlock[] {
  const own = keepsThoughts ? kept.filter(({ wire }) => wire === 'anthropic-messages') : [];
  return inPlace<AnswerBlock>({
    text: text.trim() === '' ? undefined : { type: 'text', text },
    calls: toolCalls.map((call) => ({
      type: 'tool_use',
      id: fittingId(call.callId, longestId),
      name: fittingName(call.name),
      input: inputOf(call.argumentsText),
    })),
    thoughts: own.flatMap(({ place, block }) => {
      const item = readThought(block);
      return item ? [{ place, item }] : [];
    }),
  });
}

/** Arguments that are no JSON object cannot be said here. */
function inputOf(argumentsText: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(argumentsText);
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
