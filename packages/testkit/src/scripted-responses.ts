import type { ScriptedAnswer, ScriptedCall } from './completion.js';
import { sealOf } from './strict-shape.js';

type Json = Readonly<Record<string, unknown>>;

/** The answer as one JSON body of the Responses API. */
export function responseOf(answer: ScriptedAnswer, model: string): Json {
  return {
    ...begunResponse(model),
    status: 'completed',
    output: itemsOf(answer).map(({ item }) => item),
    usage,
  };
}

/** The answer as server-sent events of the Responses API; the last two end its last item and itself. */
export function responseStreamOf(answer: ScriptedAnswer, model = 'scripted'): readonly string[] {
  const events = [
    { type: 'response.created', response: begunResponse(model) },
    ...itemsOf(answer).flatMap(({ item, begun, pieces }, index) => [
      { type: 'response.output_item.added', output_index: index, item: begun },
      ...pieces.map((piece) => ({ ...piece, output_index: index, item_id: item.id })),
      { type: 'response.output_item.done', output_index: index, item },
    ]),
    { type: 'response.completed', response: responseOf(answer, model) },
  ];
  return events.map(
    (event, index) =>
      `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`,
  );
}

const usage = {
  input_tokens: 7,
  input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
  output_tokens: 3,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 10,
};

function begunResponse(model: string): Json {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_760_000_000,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    model,
    output: [],
    usage: null,
  };
}

interface Item {
  /** The item as it is announced, its pieces, and the whole. */
  readonly begun: Json;
  readonly pieces: readonly (Json & { readonly type: string })[];
  readonly item: Json;
}

function itemsOf({ reasoning, chunks, calls }: ScriptedAnswer): readonly Item[] {
  return [
    ...(reasoning ? [thought(reasoning)] : []),
    ...(chunks.length > 0 ? [message(chunks)] : []),
    ...calls.map(functionCall),
  ];
}

/** Thoughts are told apart by what is thought: the strict service knows the seal again by the id. */
function thought(pieces: readonly string[]): Item {
  const id = `rs_${Buffer.from(pieces.join('')).toString('hex').slice(0, 40)}`;
  const begun = { id, type: 'reasoning', summary: [], encrypted_content: sealOf(`begun ${id}`) };
  const summary = [{ type: 'summary_text', text: pieces.join('') }];
  return {
    begun,
    pieces: pieces.map((delta) => ({
      type: 'response.reasoning_summary_text.delta',
      summary_index: 0,
      delta,
    })),
    item: { ...begun, summary, encrypted_content: sealOf(id) },
  };
}

function message(chunks: readonly string[]): Item {
  const begun = { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] };
  const content = [{ type: 'output_text', text: chunks.join(''), annotations: [], logprobs: [] }];
  return {
    begun,
    pieces: chunks.map((delta) => ({
      type: 'response.output_text.delta',
      content_index: 0,
      delta,
      logprobs: [],
    })),
    item: { ...begun, status: 'completed', content },
  };
}

function functionCall({ id, name, arguments: given }: ScriptedCall): Item {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  const begun = {
    id: `fc_${id}`,
    type: 'function_call',
    status: 'in_progress',
    call_id: id,
    name,
    arguments: '',
  };
  return {
    begun,
    pieces: [{ type: 'response.function_call_arguments.delta', delta: text }],
    item: { ...begun, status: 'completed', arguments: text },
  };
}
