import * as z from 'zod';
import { firstFault, isObjectSchema, sealOf, shapeFault, toolName, twice } from './strict-shape.js';

const mark = z.strictObject({ type: z.literal('ephemeral') });
const id = z.string().regex(/^[A-Za-z0-9_-]+$/);
const text = z.strictObject({
  type: z.literal('text'),
  text: z.string().regex(/\S/, 'text content blocks must contain non-whitespace text'),
  cache_control: z.optional(mark),
});
const base64 = z.string().regex(/^[A-Za-z0-9+/]+=*$/);

const userBlock = z.discriminatedUnion('type', [
  text,
  z.strictObject({
    type: z.literal('image'),
    cache_control: z.optional(mark),
    source: z.strictObject({
      type: z.literal('base64'),
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: base64,
    }),
  }),
  z.strictObject({
    type: z.literal('document'),
    cache_control: z.optional(mark),
    source: z.discriminatedUnion('type', [
      z.strictObject({
        type: z.literal('base64'),
        media_type: z.literal('application/pdf'),
        data: base64,
      }),
      z.strictObject({
        type: z.literal('text'),
        media_type: z.literal('text/plain'),
        data: z.string().min(1),
      }),
    ]),
    title: z.optional(z.string().min(1)),
    citations: z.optional(z.strictObject({ enabled: z.boolean() })),
  }),
  z.strictObject({
    type: z.literal('tool_result'),
    cache_control: z.optional(mark),
    tool_use_id: id,
    content: z.optional(z.string().min(1)),
  }),
]);

const answerBlock = z.discriminatedUnion('type', [
  text,
  z.strictObject({
    type: z.literal('tool_use'),
    id,
    name: z.string().regex(toolName),
    input: z.record(z.string(), z.unknown()),
  }),
  z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.strictObject({ type: z.literal('redacted_thinking'), data: z.string().min(1) }),
]);

const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), content: z.array(userBlock).min(1) }),
  z.strictObject({ role: z.literal('assistant'), content: z.array(answerBlock).min(1) }),
]);

type Message = z.infer<typeof message>;

const body = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  messages: z.array(message).min(1),
  system: z.optional(z.array(text).min(1)),
  stream: z.optional(z.boolean()),
  cache_control: z.optional(mark),
  thinking: z.optional(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1024) }),
      z.strictObject({ type: z.literal('adaptive'), display: z.optional(z.enum(['summarized', 'omitted'])) }),
    ]),
  ),
  output_config: z.optional(
    z.strictObject({
      effort: z.optional(z.enum(['low', 'medium', 'high', 'xhigh', 'max'])),
      format: z.optional(z.strictObject({ type: z.literal('json_schema'), schema: z.looseObject({}) })),
    }),
  ),
  tool_choice: z.optional(z.strictObject({ type: z.enum(['auto', 'any', 'none']) })),
  tools: z.optional(
    z
      .array(
        z.strictObject({
          name: z.string().regex(toolName),
          description: z.string(),
          input_schema: z.record(z.string(), z.unknown()).refine(isObjectSchema),
        }),
      )
      .min(1),
  ),
});

type Body = z.infer<typeof body>;

/** Why a strict service of the Messages API would refuse the call; undefined when it would take it. */
export function messagesFault(call: unknown): string | undefined {
  const shape = shapeFault(body, call);
  if (shape !== undefined) return shape;
  const checked = call as Body; // as checked
  return firstFault(
    () => turnFault(checked.messages),
    () => toolFault(checked),
    () => thoughtFault(checked),
    () => twice((checked.tools ?? []).map((tool) => tool.name)),
  );
}

function turnFault(messages: readonly Message[]): string | undefined {
  if (messages[0]?.role !== 'user') return 'messages: the first message must use the user role';
  if (messages.at(-1)?.role !== 'user') return 'messages: the conversation must end with a user message';
  const at = messages.findIndex(({ role }, index) => role === messages[index - 1]?.role);
  return at < 0 ? undefined : `messages.${at}: roles must alternate`;
}

/** Every call is answered at the beginning of the next message, and nothing else is. */
function toolFault({ messages, tools = [], tool_choice }: Body): string | undefined {
  if (tool_choice && tools.length === 0) return 'a tool_choice without tools';
  const seen = new Set<string>();
  let open: string[] = [];
  for (const [index, { content }] of messages.entries()) {
    const where = `messages.${index}`;
    const results = content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
    const first = content.slice(0, results.length).every((block) => block.type === 'tool_result');
    if (!first) return `${where}: tool_result blocks must come first`;
    if ([...results].sort().join() !== [...open].sort().join())
      return `${where}: tool_use ids ${open.join()} were answered by ${results.join()}`;
    open = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    const again = twice(open) ?? open.find((each) => seen.has(each));
    if (again !== undefined) return `${where}: tool_use ids must be unique: ${again}`;
    for (const each of open) seen.add(each);
  }
  return seen.size > 0 && tools.length === 0 ? 'a conversation with tool_use blocks needs tools' : undefined;
}

function thoughtFault({ messages, thinking, max_tokens }: Body): string | undefined {
  if (thinking?.type === 'enabled' && thinking.budget_tokens >= max_tokens)
    return 'max_tokens must be greater than thinking.budget_tokens';
  for (const [index, { content }] of messages.entries()) {
    const forged = content.find(
      (block) => block.type === 'thinking' && block.signature !== sealOf(block.thinking),
    );
    if (forged) return `messages.${index}: invalid signature in thinking block`;
    const last = content.at(-1)?.type;
    if (last === 'thinking' || last === 'redacted_thinking')
      return `messages.${index}: the final block in an assistant message cannot be thinking`;
  }
  if (thinking?.type !== 'enabled') return undefined;
  const begins = openTurn(messages)?.content[0]?.type;
  return begins === undefined || begins === 'thinking' || begins === 'redacted_thinking'
    ? undefined
    : `expected thinking or redacted_thinking, but found ${begins}`;
}

/** The first answer of the round of tools that is still going on. */
function openTurn(messages: readonly Message[]): Message | undefined {
  const isResult = ({ content }: Message) => content[0]?.type === 'tool_result';
  const begin = messages.findLastIndex((each) => each.role === 'user' && !isResult(each));
  return messages[begin + 1];
}
