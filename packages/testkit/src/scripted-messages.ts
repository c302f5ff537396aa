import type { ScriptedAnswer } from './completion.js';
import { sealOf } from './strict-shape.js';

type Json = Readonly<Record<string, unknown>>;

/** The answer as one JSON body of the Messages API. */
export function messageOf(answer: ScriptedAnswer, model: string): Json {
  return {
    ...begunMessage(model),
    content: blocksOf(answer).map(({ block }) => block),
    stop_reason: stopOf(answer),
    usage: { ...inputUsage, output_tokens: 3 },
  };
}

/** The answer as server-sent events of the Messages API; the last two are usage and the end. */
export function messageStreamOf(answer: ScriptedAnswer, model = 'scripted'): readonly string[] {
  const events = [
    { type: 'message_start', message: begunMessage(model) },
    { type: 'ping' },
    ...blocksOf(answer).flatMap(({ begun, deltas }, index) => [
      { type: 'content_block_start', index, content_block: begun },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: stopOf(answer), stop_sequence: null },
      usage: { output_tokens: 3 },
    },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

const inputUsage = { input_tokens: 4, cache_creation_input_tokens: 1, cache_read_input_tokens: 2 };

function begunMessage(model: string): Json {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...inputUsage, output_tokens: 1 },
  };
}

interface Block {
  /** The block as it begins, its pieces, and the whole. */
  readonly begun: Json;
  readonly deltas: readonly Json[];
  readonly block: Json;
}

function blocksOf({ reasoning, chunks, calls }: ScriptedAnswer): readonly Block[] {
  return [
    ...(reasoning ? [thinking(reasoning)] : []),
    ...(chunks.length > 0 ? [text(chunks)] : []),
    ...calls.map(({ id, name, arguments: given }) => {
      const json = typeof given === 'string' ? given : JSON.stringify(given);
      const begun = { type: 'tool_use', id, name, input: {} };
      const input: unknown = typeof given === 'string' ? {} : given;
      return {
        begun,
        deltas: [{ type: 'input_json_delta', partial_json: json }],
        block: { ...begun, input },
      };
    }),
  ];
}

function thinking(pieces: readonly string[]): Block {
  const whole = pieces.join('');
  return {
    begun: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...pieces.map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature: sealOf(whole) },
    ],
    block: { type: 'thinking', thinking: whole, signature: sealOf(whole) },
  };
}

function text(chunks: readonly string[]): Block {
  return {
    begun: { type: 'text', text: '' },
    deltas: chunks.map((chunk) => ({ type: 'text_delta', text: chunk })),
    block: { type: 'text', text: chunks.join('') },
  };
}

function stopOf({ calls }: ScriptedAnswer): string {
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}
