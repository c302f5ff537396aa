import { sentStyle } from '../../answer-style.js';
import { knownModel } from '../../catalog.js';
import type { ChatMessage, ModelRequest, Part, ToolSpec } from '../../model.js';
import { jsonSchemaFormat } from '../../output-format.js';
import { fittingId, fittingName } from '../call-ids.js';
import { EncodingMemory } from '../encoding-memory.js';
import { objectSchema } from '../tool-schema.js';
import type { ChatBody, ChatContentPart, ChatParam, ChatTool } from './schema.js';

/**
 * The Copilot service caches what ends with a mark, and takes any sampling for any model.
 * Others refuse unknown fields, and reasoning models of OpenAI any sampling but the default one.
 */
export type ChatDialect = 'openai' | 'copilot';

const cacheMarker = { copilot_cache_control: { type: 'ephemeral' } };

/** What OpenAI takes at most. */
const longestId = 40;

/** The body of a chat completions call. Calls of earlier answers go back exactly as the model wrote them. */
export function encodeChat(
  request: ModelRequest,
  dialect: ChatDialect,
  memory = new EncodingMemory(),
): ChatBody {
  const isCopilot = dialect === 'copilot';
  const wire = `${dialect}-chat`;
  const messages: ChatParam[] = [
    memory.onceOf(request.system, (content) => ({ role: 'system' as const, content }), wire),
    ...memory.each(request.messages, (message) => encodeMessage(message, wire), wire),
  ];
  const tools = memory.each(request.tools, encodeTool, `${wire} tools`);
  return {
    model: request.model,
    ...sampling(request, dialect),
    ...pickVerbosity(request, wire),
    ...(isCopilot && { snippy: { enabled: false } }),
    ...(request.output && {
      response_format: { type: 'json_schema', json_schema: jsonSchemaFormat(request.output) },
    }),
    ...(request.stream && { stream: true, stream_options: { include_usage: true } }),
    ...(tools.length > 0 && {
      tools: isCopilot ? marked(tools, [tools.length - 1], memory) : tools,
      ...(request.toolChoice && { tool_choice: request.toolChoice }),
    }),
    messages: [
      ...(isCopilot ? marked(messages, [0, messages.length - 1], memory) : messages),
      ...(request.remark === undefined ? [] : [{ role: 'user' as const, content: request.remark }]),
    ],
  };
}

function encodeMessage(message: ChatMessage, wire: string): ChatParam {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: encodeParts(message.parts) };
    case 'assistant':
      return encodeAnswer(message, wire);
    case 'tool':
      return { role: 'tool', tool_call_id: fittingId(message.callId, longestId), content: message.text };
  }
}

function encodeParts(parts: readonly Part[]): string | ChatContentPart[] {
  const [first] = parts;
  if (first === undefined) return '';
  if (parts.length === 1 && first.type === 'text') return first.text;
  return parts.map(encodePart);
}

function encodePart(part: Part): ChatContentPart {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const data = `data:${part.mimeType};base64,${part.base64}`;
  if (part.type === 'image') return { type: 'image_url', image_url: { url: data } };
  return { type: 'file', file: { filename: part.name ?? 'document', file_data: data } };
}

type Answer = Extract<ChatMessage, { role: 'assistant' }>;

function encodeAnswer({ text, toolCalls, kept = [] }: Answer, wire: string): ChatParam {
  const own = kept.filter((each) => each.wire === wire).map(({ block }) => block);
  const thoughts: object = Object.assign({}, ...own);
  if (toolCalls.length === 0) return { role: 'assistant', content: text, ...thoughts };
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...thoughts,
    tool_calls: toolCalls.map((call) => ({
      id: fittingId(call.callId, longestId),
      type: 'function',
      function: { name: fittingName(call.name), arguments: call.argumentsText },
    })),
  };
}

function encodeTool({ name, description, inputSchema }: ToolSpec): ChatTool {
  return { type: 'function', function: { name, description, parameters: objectSchema(inputSchema) } };
}

function pickVerbosity(request: ModelRequest, wire: string): Partial<ChatBody> {
  const { verbosity } = sentStyle(wire, request.model, request);
  return verbosity === undefined ? {} : { verbosity };
}

function sampling(request: ModelRequest, dialect: ChatDialect): Partial<ChatBody> {
  const { reasoningEffort, maxOutputTokens } = request;
  const fixed = dialect === 'openai' && knownModel(request.model)?.fixedSampling;
  if (reasoningEffort === undefined && !fixed)
    return {
      temperature: 0,
      top_p: 0.95,
      frequency_penalty: 0,
      presence_penalty: 0,
      ...(maxOutputTokens !== undefined && { max_tokens: maxOutputTokens }),
    };
  return {
    temperature: 1,
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort }),
    ...(maxOutputTokens !== undefined && { max_completion_tokens: maxOutputTokens }),
  };
}

function marked<T extends object>(
  items: readonly T[],
  positions: readonly number[],
  memory: EncodingMemory,
): T[] {
  const mark = (item: T) => ({ ...item, ...cacheMarker });
  return items.map((item, position) =>
    positions.includes(position) ? memory.once(item, mark, 'marked') : item,
  );
}
