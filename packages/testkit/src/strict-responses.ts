import * as z from 'zod';
import { firstFault, isJson, isObjectSchema, sealOf, shapeFault, toolName, twice } from './strict-shape.js';

const callId = z.string().min(1).max(64);

const inputPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('input_text'), text: z.string() }),
  z.strictObject({
    type: z.literal('input_image'),
    image_url: z.string().regex(/^data:image\/[a-z+.-]+;base64,/),
    detail: z.enum(['auto', 'low', 'high', 'original']),
  }),
  z.strictObject({
    type: z.literal('input_file'),
    filename: z.string().min(1),
    file_data: z.string().startsWith('data:'),
  }),
]);

const item = z.union([
  z.strictObject({
    type: z.literal('message'),
    role: z.literal('user'),
    content: z.array(inputPart).min(1),
  }),
  z.strictObject({
    type: z.literal('message'),
    role: z.literal('assistant'),
    content: z.string().min(1),
    phase: z.optional(z.enum(['commentary', 'final_answer'])),
  }),
  z.strictObject({
    type: z.literal('function_call'),
    call_id: callId,
    name: z.string().regex(toolName),
    arguments: z.string().refine(isJson, 'the arguments are no JSON'),
  }),
  z.strictObject({ type: z.literal('function_call_output'), call_id: callId, output: z.string() }),
  z.strictObject({
    type: z.literal('reasoning'),
    id: z.string().min(1),
    summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
    content: z.optional(z.array(z.strictObject({ type: z.literal('reasoning_text'), text: z.string() }))),
    encrypted_content: z.optional(z.string().min(1)),
  }),
]);

type Item = z.infer<typeof item>;

const body = z.strictObject({
  model: z.string().min(1),
  instructions: z.optional(z.string().min(1)),
  store: z.literal(false),
  include: z.optional(z.array(z.literal('reasoning.encrypted_content')).min(1)),
  reasoning: z.optional(
    z.strictObject({
      effort: z.optional(z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])),
      summary: z.optional(z.enum(['auto', 'concise', 'detailed'])),
    }),
  ),
  max_output_tokens: z.optional(z.int().min(16)),
  text: z.optional(
    z.strictObject({
      format: z.optional(
        z.strictObject({
          type: z.literal('json_schema'),
          name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
          schema: z.looseObject({}),
          strict: z.optional(z.boolean()),
        }),
      ),
      verbosity: z.optional(z.enum(['low', 'medium', 'high'])),
    }),
  ),
  prompt_cache_key: z.optional(z.string().min(1).max(64)),
  stream: z.optional(z.boolean()),
  parallel_tool_calls: z.optional(z.boolean()),
  tool_choice: z.optional(z.enum(['auto', 'none', 'required'])),
  tools: z.optional(
    z
      .array(
        z.strictObject({
          type: z.literal('function'),
          name: z.string().regex(toolName),
          description: z.string(),
          parameters: z.record(z.string(), z.unknown()).refine(isObjectSchema),
          strict: z.boolean(),
        }),
      )
      .min(1),
  ),
  input: z.array(item).min(1),
});

/** Why a strict service of the Responses API would refuse the call; undefined when it would take it. */
export function responsesFault(call: unknown): string | undefined {
  const shape = shapeFault(body, call);
  if (shape !== undefined) return shape;
  const { input, tools = [], tool_choice } = call as z.infer<typeof body>; // as checked
  return firstFault(
    () => callFault(input),
    () => reasoningFault(input),
    () => (tool_choice !== undefined && tools.length === 0 ? 'a tool_choice without tools' : undefined),
    () => twice(tools.map((tool) => tool.name)),
  );
}

/** Every call has one output, after all calls of its answer and before anything else. */
function callFault(input: readonly Item[]): string | undefined {
  const seen = new Set<string>();
  let open: string[] = [];
  let answered = false;
  for (const [index, each] of input.entries()) {
    const where = `input.${index}`;
    if (each.type === 'function_call_output') {
      if (!open.includes(each.call_id)) return `${where}: no tool call found for the output ${each.call_id}`;
      open = open.filter((id) => id !== each.call_id);
      answered = true;
      continue;
    }
    const belongs = !answered && (each.type === 'function_call' || each.type === 'reasoning');
    if (open.length > 0 && !belongs) return `${where}: no tool output found for ${open.join(', ')}`;
    if (open.length === 0) answered = false;
    if (each.type !== 'function_call') continue;
    if (seen.has(each.call_id)) return `${where}: the call id ${each.call_id} is used twice`;
    seen.add(each.call_id);
    open.push(each.call_id);
  }
  return open.length > 0 ? `no tool output found for ${open.join(', ')}` : undefined;
}

/** A thought is followed by what came of it, and is as it was when it was sealed. */
function reasoningFault(input: readonly Item[]): string | undefined {
  const ids = input.flatMap((each) => (each.type === 'reasoning' ? [each.id] : []));
  const again = twice(ids);
  if (again !== undefined) return `the item ${again} is there twice`;
  for (const [index, each] of input.entries()) {
    if (each.type !== 'reasoning') continue;
    const next = input[index + 1];
    const follows =
      next?.type === 'reasoning' ||
      next?.type === 'function_call' ||
      (next?.type === 'message' && next.role === 'assistant');
    if (!follows) return `input.${index}: ${each.id} was provided without its required following item`;
    if (each.encrypted_content === undefined && each.content === undefined)
      return `input.${index}: ${each.id} not found: items are not persisted when store is false`;
    if (each.encrypted_content !== undefined && each.encrypted_content !== sealOf(summaryOf(each)))
      return `input.${index}: the encrypted content of ${each.id} could not be verified`;
  }
  return undefined;
}

/** What the seal of a thought stands for. */
function summaryOf({ summary }: Extract<Item, { type: 'reasoning' }>): string {
  return summary.map(({ text }) => text).join('');
}
