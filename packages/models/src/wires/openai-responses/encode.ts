import { sentStyle } from '../../answer-style.js';
import { knownModel } from '../../catalog.js';
import type { ChatMessage, KeptBlock, ModelRequest, Part, ToolSpec } from '../../model.js';
import { jsonSchemaFormat } from '../../output-format.js';
import { inPlace } from '../answer-order.js';
import { fittingId, fittingName } from '../call-ids.js';
import { EncodingMemory } from '../encoding-memory.js';
import { objectSchema } from '../tool-schema.js';
import { readPhase, readReasoningItem } from './kept-reasoning.js';
import type { Effort, ResponsesBody, ResponsesContentPart, ResponsesItem, ResponsesTool } from './schema.js';

const wire = 'openai-responses';
const longestId = 64;
const fewestOutputTokens = 16;
const efforts: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The body of a call. The service stores nothing: thoughts travel with the conversation, sealed. */
export function encodeResponses(request: ModelRequest, memory = new EncodingMemory()): ResponsesBody {
  const { model, system, stream, toolChoice, maxOutputTokens, origin } = request;
  const tools = memory.each(request.tools, encodeTool, 'openai-responses tools');
  return {
    model,
    ...(system !== '' && { instructions: system }),
    store: false,
    ...thinking(request),
    ...(maxOutputTokens !== undefined && {
      max_output_tokens: Math.max(maxOutputTokens, fewestOutputTokens),
    }),
    ...wording(request),
    ...(origin && { prompt_cache_key: fittingId(origin.sessionId, longestId) }),
    ...(stream && { stream }),
    ...(tools.length > 0 && {
      tools,
      ...(toolChoice && { tool_choice: toolChoice }),
      parallel_tool_calls: true,
    }),
    input: memory.each(withRemark(request), encodeMessage, 'openai-responses').flat(),
  };
}

function withRemark({ messages, remark }: ModelRequest): readonly ChatMessage[] {
  return remark === undefined
    ? messages
    : [...messages, { role: 'user', parts: [{ type: 'text', text: remark }] }];
}

/** A model that is known not to think refuses every word about it. */
function thinking(request: ModelRequest): Partial<ResponsesBody> {
  const { model, reasoningEffort } = request;
  const known = knownModel(model);
  if (reasoningEffort === undefined && known && !known.reasoningEfforts?.length) return {};
  const sealed = { include: ['reasoning.encrypted_content' as const] };
  const effort = reasoningEffort !== undefined && isEffort(reasoningEffort) ? reasoningEffort : undefined;
  const { reasoningSummary = effort && 'auto' } = sentStyle(wire, model, request);
  const summary = reasoningSummary === 'none' ? undefined : reasoningSummary;
  if (effort === undefined && summary === undefined) return sealed;
  return { ...sealed, reasoning: { ...(effort && { effort }), ...(summary && { summary }) } };
}

/** The form of the answer, and how much it says. */
function wording(request: ModelRequest): Pick<ResponsesBody, 'text'> {
  const { output, model } = request;
  const { verbosity } = sentStyle(wire, model, request);
  if (!output && verbosity === undefined) return {};
  return {
    text: {
      ...(output && { format: { type: 'json_schema', ...jsonSchemaFormat(output) } }),
      ...(verbosity && { verbosity }),
    },
  };
}

function isEffort(word: string): word is Effort {
  return efforts.includes(word);
}

function encodeMessage(message: ChatMessage): ResponsesItem[] {
  switch (message.role) {
    case 'user':
      return [{ type: 'message', role: 'user', content: encodeParts(message.parts) }];
    case 'assistant':
      return encodeAnswer(message);
    case 'tool':
      return [
        { type: 'function_call_output', call_id: fittingId(message.callId, longestId), output: message.text },
      ];
  }
}

function encodeParts(parts: readonly Part[]): ResponsesContentPart[] {
  return parts.length === 0 ? [{ type: 'input_text', text: '' }] : parts.map(encodePart);
}

function encodePart(part: Part): ResponsesContentPart {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  const data = `data:${part.mimeType};base64,${part.base64}`;
  if (part.type === 'image') return { type: 'input_image', image_url: data, detail: 'auto' };
  return { type: 'input_file', filename: part.name ?? 'document', file_data: data };
}

type Answer = Extract<ChatMessage, { role: 'assistant' }>;

/** A thought goes before what came of it; one that came to nothing is refused, and left out. */
function encodeAnswer({ text, toolCalls, kept = [] }: Answer): ResponsesItem[] {
  const own = kept.filter(({ wire }) => wire === 'openai-responses');
  const phase = own.map(readPhase).find((each) => each !== undefined);
  const assistantItem: ResponsesItem = {
    type: 'message',
    role: 'assistant',
    content: text,
    ...(phase !== undefined && { phase }),
  };
  const calls = toolCalls.map(
    (call): ResponsesItem => ({
      type: 'function_call',
      call_id: fittingId(call.callId, longestId),
      name: fittingName(call.name),
      arguments: call.argumentsText,
    }),
  );
  return inPlace<ResponsesItem>({
    text: text === '' ? undefined : assistantItem,
    calls,
    thoughts: own.flatMap((each) => thoughtOf(each)),
  });
}

function thoughtOf({ place, block }: KeptBlock): { readonly place: number; readonly item: ResponsesItem }[] {
  const item = readReasoningItem(block);
  return item ? [{ place, item }] : [];
}

function encodeTool({ name, description, inputSchema }: ToolSpec): ResponsesTool {
  return { type: 'function', name, description, parameters: objectSchema(inputSchema), strict: false };
}
