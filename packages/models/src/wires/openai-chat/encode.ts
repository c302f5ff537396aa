import { knownModel } from '../../catalog.js';
import type { ChatMessage, ModelRequest, Part, ToolCall, ToolSpec } from '../../model.js';

/**
 * The Copilot service caches what ends with a mark, and takes any sampling for any model.
 * Others refuse unknown marks, and reasoning models of OpenAI any sampling but the default one.
 */
export type ChatDialect = 'openai' | 'copilot';

type JsonObject = Record<string, unknown>;

const cacheMarker = { copilot_cache_control: { type: 'ephemeral' } };

/** The body of a chat completions call. Calls of earlier answers go back exactly as the model wrote them. */
export function encodeChat(request: ModelRequest, dialect: ChatDialect): JsonObject {
  const messages = [{ role: 'system', content: request.system }, ...request.messages.map(encodeMessage)];
  const tools = request.tools.map(encodeTool);
  return {
    model: request.model,
    messages: dialect === 'copilot' ? marked(messages, [0, messages.length - 1]) : messages,
    ...sampling(request, dialect),
    snippy: { enabled: false },
    ...(tools.length > 0 && {
      tools: dialect === 'copilot' ? marked(tools, [tools.length - 1]) : tools,
      ...(request.toolChoice && { tool_choice: request.toolChoice }),
    }),
    ...(request.stream && { stream: true, stream_options: { include_usage: true } }),
  };
}

function encodeMessage(message: ChatMessage): JsonObject {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: encodeParts(message.parts) };
    case 'assistant':
      return encodeAnswer(message.text, message.toolCalls);
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.text };
  }
}

function encodeParts(parts: readonly Part[]): string | JsonObject[] {
  const [first] = parts;
  if (first === undefined) return '';
  if (parts.length === 1 && first.type === 'text') return first.text;
  return parts.map(encodePart);
}

function encodePart(part: Part): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  return { type: 'image_url', image_url: { url: `data:${part.mimeType};base64,${part.base64}` } };
}

function encodeAnswer(text: string, toolCalls: readonly ToolCall[]): JsonObject {
  if (toolCalls.length === 0) return { role: 'assistant', content: text };
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    tool_calls: toolCalls.map((call) => ({
      id: call.callId,
      type: 'function',
      function: { name: call.name, arguments: call.argumentsText },
    })),
  };
}

function encodeTool(tool: ToolSpec): JsonObject {
  const parameters = tool.inputSchema ?? { type: 'object', properties: {} };
  return { type: 'function', function: { name: tool.name, description: tool.description, parameters } };
}

function sampling(request: ModelRequest, dialect: ChatDialect): JsonObject {
  const { reasoningEffort, maxOutputTokens } = request;
  const limit = (name: string) => maxOutputTokens !== undefined && { [name]: maxOutputTokens };
  const fixed = dialect === 'openai' && knownModel(request.model)?.fixedSampling;
  if (reasoningEffort === undefined && !fixed)
    return { temperature: 0, top_p: 0.95, frequency_penalty: 0, presence_penalty: 0, ...limit('max_tokens') };
  return {
    temperature: 1,
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort }),
    ...limit('max_completion_tokens'),
  };
}

function marked(items: readonly JsonObject[], positions: readonly number[]): JsonObject[] {
  return items.map((item, position) => (positions.includes(position) ? { ...item, ...cacheMarker } : item));
}
