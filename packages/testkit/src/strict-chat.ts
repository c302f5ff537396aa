import * as z from 'zod';
import { type CompletionMessage, faultIn } from './strict-history.js';
import { firstFault, isObjectSchema, shapeFault, toolName, twice } from './strict-shape.js';

const callId = z.string().min(1).max(40);

const contentPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({
    type: z.literal('image_url'),
    image_url: z.strictObject({ url: z.string().regex(/^data:image\/[a-z+.-]+;base64,/) }),
  }),
  z.strictObject({
    type: z.literal('file'),
    file: z.strictObject({ filename: z.string().min(1), file_data: z.string().startsWith('data:') }),
  }),
]);

const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string() }),
  z.strictObject({ role: z.literal('user'), content: z.union([z.string(), z.array(contentPart).min(1)]) }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.nullable(z.string()),
    tool_calls: z.optional(
      z
        .array(
          z.strictObject({
            id: callId,
            type: z.literal('function'),
            function: z.strictObject({ name: z.string().regex(toolName), arguments: z.string() }),
          }),
        )
        .min(1),
    ),
    // Of services beside OpenAI, which want their own thoughts back.
    reasoning_content: z.optional(z.string()),
    reasoning_text: z.optional(z.string()),
    reasoning_opaque: z.optional(z.string()),
    reasoning_details: z.optional(z.array(z.looseObject({ type: z.string() }))),
  }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: callId, content: z.string() }),
]);

const body = z.strictObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  temperature: z.optional(z.number().min(0).max(2)),
  top_p: z.optional(z.number().min(0).max(1)),
  frequency_penalty: z.optional(z.number()),
  presence_penalty: z.optional(z.number()),
  max_tokens: z.optional(z.int().min(1)),
  max_completion_tokens: z.optional(z.int().min(1)),
  reasoning_effort: z.optional(z.string()),
  verbosity: z.optional(z.enum(['low', 'medium', 'high'])),
  response_format: z.optional(
    z.strictObject({
      type: z.literal('json_schema'),
      json_schema: z.strictObject({
        name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
        schema: z.looseObject({}),
        strict: z.optional(z.boolean()),
      }),
    }),
  ),
  stream: z.optional(z.boolean()),
  stream_options: z.optional(z.strictObject({ include_usage: z.boolean() })),
  tools: z.optional(
    z
      .array(
        z.strictObject({
          type: z.literal('function'),
          function: z.strictObject({
            name: z.string().regex(toolName),
            description: z.string(),
            parameters: z.record(z.string(), z.unknown()).refine(isObjectSchema),
          }),
        }),
      )
      .min(1),
  ),
  tool_choice: z.optional(z.enum(['auto', 'none', 'required'])),
});

/** Why a strict service of chat completions would refuse the call; undefined when it would take it. */
export function chatFault(call: unknown): string | undefined {
  const shape = shapeFault(body, call);
  if (shape !== undefined) return shape;
  const { messages, tools = [], tool_choice, stream, stream_options } = call as z.infer<typeof body>; // as checked
  return firstFault(
    () => faultIn(messages as readonly CompletionMessage[]), // the shape is the stricter one
    () =>
      messages.findIndex(({ role }) => role === 'system') > 0 ? 'a system message is not first' : undefined,
    () => (tool_choice !== undefined && tools.length === 0 ? 'a tool_choice without tools' : undefined),
    () => (stream_options && !stream ? 'stream_options without stream' : undefined),
    () => twice(tools.map((tool) => tool.function.name)),
  );
}

/** The same for the Copilot service, which knows marks and a switch that others refuse. */
export function copilotFault(call: unknown): string | undefined {
  const own = ['copilot_cache_control', 'snippy'];
  return chatFault(
    JSON.parse(JSON.stringify(call), (key: string, value: unknown) =>
      own.includes(key) ? undefined : value,
    ),
  );
}
