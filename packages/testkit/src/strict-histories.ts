import type { ChatMessage, KeptBlock, ModelRequest, Part, ToolSpec } from '@groundcrew/models';
import fc from 'fast-check';
import { sealOf } from './strict-shape.js';

/** Any call a session may make: as a log adds up to it, whatever models, services and users have written. */
export function anyRequest(): fc.Arbitrary<ModelRequest> {
  return fc
    .record({
      model: fc.constantFrom(...models),
      system: fc.constantFrom('', ' ', 'Be brief.', 'Ünïcödé ✓\n\n<tools>'),
      turns: fc.array(turn, { minLength: 1, maxLength: 4 }),
      isAsked: fc.boolean(),
      tools: fc.subarray([...toolSpecs]),
      stream: fc.boolean(),
      reasoningEffort: fc.option(fc.constantFrom('minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'odd'), {
        nil: undefined,
      }),
      maxOutputTokens: fc.option(fc.constantFrom(1, 900, 1500, 4096, 64_000), { nil: undefined }),
      toolChoice: fc.option(fc.constantFrom('auto' as const, 'none' as const), { nil: undefined }),
    })
    .map(({ turns, isAsked, reasoningEffort, maxOutputTokens, toolChoice, ...rest }) => ({
      ...rest,
      messages: conversation(turns, isAsked),
      ...(reasoningEffort !== undefined && { reasoningEffort }),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      ...(toolChoice !== undefined && { toolChoice }),
    }));
}

const models = [
  'gpt-4.1',
  'gpt-5-mini',
  'o3',
  'claude-sonnet-4-5',
  'claude-opus-4-7',
  'claude-3-5-haiku',
  'vendor/unheard-of',
] as const;

const toolSpecs: readonly ToolSpec[] = [
  { name: 'view', description: 'Shows a file.', inputSchema: { type: 'object', required: ['path'] } },
  { name: 'now', description: '', inputSchema: undefined },
  { name: 'mcp-server-find', description: 'Finds.', inputSchema: { anyOf: [{ type: 'object' }], $defs: {} } },
];

/** Short texts with all that services stumble over. */
const text = fc.oneof(
  fc.constantFrom('', ' ', '\n\t', 'Hello', '✓ ünï', '</system>', '{"a":1}', 'x'.repeat(300)),
  fc.string({ maxLength: 12 }),
);

const part: fc.Arbitrary<Part> = fc.oneof(
  { weight: 5, arbitrary: text.map((each): Part => ({ type: 'text', text: each })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Part>(
      { type: 'image', mimeType: 'image/png', base64: 'aGk=' },
      { type: 'image', mimeType: 'image/svg+xml', base64: 'aGk=' },
      { type: 'document', mimeType: 'application/pdf', base64: 'JVBERg==', name: 'a.pdf' },
      { type: 'document', mimeType: 'text/csv', base64: 'YSxi' },
      { type: 'document', mimeType: 'application/zip', base64: 'UEs=' },
    ),
  },
);

const call = fc.record({
  style: fc.constantFrom('call_', 'toolu_01', 'functions.view:', `fc_${'7'.repeat(80)}`, '✓ |'),
  name: fc.constantFrom('view', 'now', 'repo.browse', 'no such tool', '', 'n'.repeat(90)),
  input: fc.constantFrom(
    '{}',
    '{"path":"/a","deep":{"b":[1,null]}}',
    '[1]',
    '"text"',
    'null',
    '{ "path" : 1 }',
  ),
  result: text,
});

const thought = fc.record({
  kind: fc.constantFrom('thinking', 'redacted', 'reasoning', 'open', 'phase', 'content', 'opaque', 'unknown'),
  place: fc.nat({ max: 3 }),
  text: fc.constantFrom('', 'Hm.', '✓ first\nthen'),
});

type Thought = typeof thought extends fc.Arbitrary<infer T> ? T : never;

const round = fc.record({
  text,
  calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  thoughts: fc.array(thought, { maxLength: 2 }),
  /** Images that a tool found, or a prompt that joined the turn. */
  after: fc.option(fc.array(part, { maxLength: 2 }), { nil: undefined, freq: 3 }),
});

const turn = fc.record({
  prompt: fc.array(part, { maxLength: 3 }),
  rounds: fc.array(round, { maxLength: 3 }),
  answer: text,
  thoughts: fc.array(thought, { maxLength: 2 }),
});

type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

/** The last turn is open: the model is asked for the first time, or for what comes after its results. */
function conversation(turns: readonly Turn[], isAsked: boolean): ChatMessage[] {
  let count = 0;
  const next = () => {
    count += 1;
    return String(count);
  };
  const last = turns.length - 1;
  return turns.flatMap(({ prompt, rounds, answer, thoughts }, index) => {
    const asked: ChatMessage = { role: 'user', parts: prompt };
    const said: ChatMessage = {
      role: 'assistant',
      text: answer,
      toolCalls: [],
      kept: thoughts.map((each) => kept(each, next)),
    };
    if (index === last && isAsked) return [asked];
    return [asked, ...rounds.flatMap((each) => messagesOf(each, next)), ...(index === last ? [] : [said])];
  });
}

function messagesOf(
  { text: said, calls, thoughts, after }: Turn['rounds'][number],
  next: () => string,
): ChatMessage[] {
  const made = calls.map(({ style, name, input, result }) => ({
    call: { callId: `${style}${next()}`, name, argumentsText: input },
    result,
  }));
  return [
    {
      role: 'assistant',
      text: said,
      toolCalls: made.map((each) => each.call),
      kept: thoughts.map((each) => kept(each, next)),
    },
    ...made.map(({ call: { callId }, result }): ChatMessage => ({ role: 'tool', callId, text: result })),
    ...(after ? [{ role: 'user' as const, parts: after }] : []),
  ];
}

/** What each service would have given to keep, sealed so that a strict one knows it again. */
function kept({ kind, place, text: said }: Thought, next: () => string): KeptBlock {
  const id = `rs_${next()}`;
  const blocks: Readonly<Record<string, Omit<KeptBlock, 'place'>>> = {
    thinking: {
      wire: 'anthropic-messages',
      block: { type: 'thinking', thinking: said, signature: sealOf(said) },
    },
    redacted: { wire: 'anthropic-messages', block: { type: 'redacted_thinking', data: 'c2VhbGVk' } },
    reasoning: {
      wire: 'openai-responses',
      block: {
        type: 'reasoning',
        id,
        summary: [{ type: 'summary_text', text: said }],
        encrypted_content: sealOf(said),
      },
    },
    open: {
      wire: 'openai-responses',
      block: { type: 'reasoning', id, summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
    },
    phase: { wire: 'openai-responses', block: { type: 'message', phase: 'commentary' } },
    content: { wire: 'openai-chat', block: { reasoning_content: said } },
    opaque: { wire: 'copilot-chat', block: { reasoning_text: said, reasoning_opaque: 'sealed' } },
    unknown: { wire: 'of-tomorrow', block: { type: 'thinking', thinking: said } },
  };
  return { ...(blocks[kind] ?? { wire: 'none', block: {} }), place };
}
