import { knownModel } from '../../catalog.js';
import type { ModelRequest, ToolSpec } from '../../model.js';
import { EncodingMemory } from '../encoding-memory.js';
import { objectSchema } from '../tool-schema.js';
import { encodeConversation } from './conversation.js';
import type { MessageParam, MessagesBody, MessagesTool } from './schema.js';
import { thinkingFor, wantsThoughtsBack } from './thinking.js';

const mark = { type: 'ephemeral' } as const;

/** The limit of output tokens when the caller sets none. */
const usualOutputTokens = 32_000;

/**
 * The body of a call. Two marks make the service keep what it has read: one after the tools and the system prompt,
 * which stay, and one that it moves itself to the end of the conversation, so that no message ever changes.
 */
export function encodeMessages(request: ModelRequest, memory = new EncodingMemory()): MessagesBody {
  const { model, system, toolChoice, remark, citations = false } = request;
  const maxTokens = outputTokens(request);
  const withThoughts = encodeConversation(request.messages, { keepsThoughts: true, citations, memory });
  const thinking = thinkingFor(request, { maxTokens, messages: withThoughts });
  const messages = wantsThoughtsBack(model, thinking)
    ? withThoughts
    : encodeConversation(request.messages, { keepsThoughts: false, citations, memory });
  const tools = toolsFor(request.tools, messages, memory);
  const choice = request.tools.length === 0 ? 'none' : toolChoice;
  return {
    model,
    max_tokens: maxTokens,
    // A long answer that is not streamed dies on its way: connections that are silent for minutes do not last.
    stream: true,
    ...thinking,
    ...(request.output && {
      output_config: {
        ...thinking.output_config,
        format: { type: 'json_schema', schema: request.output.schema },
      },
    }),
    ...(remark === undefined && { cache_control: mark }),
    ...(tools.length > 0 && { tools, ...(choice && { tool_choice: { type: choice } }) }),
    ...(system.trim() !== '' && { system: [{ type: 'text', text: system, cache_control: mark }] }),
    messages: remark === undefined ? messages : withRemark(messages, remark),
  };
}

/** Where the end of the conversation will not be there the next time, the mark is set before it. */
function withRemark(messages: readonly MessageParam[], text: string): MessageParam[] {
  const textBlock = { type: 'text', text } as const;
  const last = messages.at(-1);
  if (last?.role !== 'user') return [...messages, { role: 'user', content: [textBlock] }];
  const content = last.content.map((block, index) =>
    index === last.content.length - 1 ? { ...block, cache_control: mark } : block,
  );
  return [...messages.slice(0, -1), { role: 'user', content: [...content, textBlock] }];
}

function outputTokens({ model, maxOutputTokens }: ModelRequest): number {
  if (maxOutputTokens !== undefined) return Math.max(1, maxOutputTokens);
  return Math.min(usualOutputTokens, knownModel(model)?.maxOutputTokens ?? usualOutputTokens);
}

/** A conversation with calls needs tools, even when none is offered any more. */
function toolsFor(
  offered: readonly ToolSpec[],
  messages: readonly MessageParam[],
  memory: EncodingMemory,
): MessagesTool[] {
  if (offered.length > 0) return memory.each(offered, encodeTool, 'anthropic-messages tools');
  const called = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : [])),
  );
  return [...new Set(called)].map((name) =>
    encodeTool({ name, description: 'No longer available.', inputSchema: undefined }),
  );
}

function encodeTool({ name, description, inputSchema }: ToolSpec): MessagesTool {
  return { name, description, input_schema: objectSchema(inputSchema) };
}
