import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { expect, test } from 'vitest';
import { noUsage } from '../../../test/local-server.js';
import type { ModelEvent } from '../../model.js';
import type { Frame } from '../frames.js';
import { ResponsesAnswer } from './answer.js';
import { openaiResponsesWire } from './wire.js';

type Kind = ResponseStreamEvent['type'];

/** Every event the vendor knows, and whether it is news; one that is added later does not compile. */
const kinds: Readonly<Record<Kind, 'news' | 'none'>> = {
  'response.output_text.delta': 'news',
  'response.refusal.delta': 'news',
  'response.reasoning_summary_text.delta': 'news',
  'response.reasoning_text.delta': 'news',
  'response.function_call_arguments.delta': 'news',
  'response.output_item.added': 'news',
  'response.output_item.done': 'news',
  'response.completed': 'news',
  'response.incomplete': 'news',
  'response.failed': 'news',
  error: 'news',
  'response.created': 'none',
  'response.in_progress': 'none',
  'response.queued': 'none',
  'response.reasoning_summary_part.added': 'none',
  'response.reasoning_summary_part.done': 'none',
  'response.reasoning_summary_text.done': 'none',
  'response.reasoning_text.done': 'none',
  'response.refusal.done': 'none',
  'response.output_text.done': 'none',
  'response.output_text.annotation.added': 'none',
  'response.content_part.added': 'none',
  'response.content_part.done': 'none',
  'response.function_call_arguments.done': 'none',
  'response.custom_tool_call_input.delta': 'none',
  'response.custom_tool_call_input.done': 'none',
  'response.audio.delta': 'none',
  'response.audio.done': 'none',
  'response.audio.transcript.delta': 'none',
  'response.audio.transcript.done': 'none',
  'response.code_interpreter_call_code.delta': 'none',
  'response.code_interpreter_call_code.done': 'none',
  'response.code_interpreter_call.completed': 'none',
  'response.code_interpreter_call.in_progress': 'none',
  'response.code_interpreter_call.interpreting': 'none',
  'response.file_search_call.completed': 'none',
  'response.file_search_call.in_progress': 'none',
  'response.file_search_call.searching': 'none',
  'response.web_search_call.completed': 'none',
  'response.web_search_call.in_progress': 'none',
  'response.web_search_call.searching': 'none',
  'response.image_generation_call.completed': 'none',
  'response.image_generation_call.generating': 'none',
  'response.image_generation_call.in_progress': 'none',
  'response.image_generation_call.partial_image': 'none',
  'response.mcp_call_arguments.delta': 'none',
  'response.mcp_call_arguments.done': 'none',
  'response.mcp_call.completed': 'none',
  'response.mcp_call.failed': 'none',
  'response.mcp_call.in_progress': 'none',
  'response.mcp_list_tools.completed': 'none',
  'response.mcp_list_tools.failed': 'none',
  'response.mcp_list_tools.in_progress': 'none',
};

const ignored = Object.keys(kinds).filter((kind) => kinds[kind as Kind] === 'none'); // keys are kinds

test.each(ignored)('%s is no news and no end', (type) => {
  const events: ModelEvent[] = [];
  expect(new ResponsesAnswer(() => 'new').add({ type, delta: 'x', output_index: 0 }, events)).toBe(false);
  expect(events).toEqual([]);
});

/** As the vendor's own types know them. */
async function decode(...frames: readonly ResponseStreamEvent[]): Promise<readonly ModelEvent[]> {
  const decoder = openaiResponsesWire({ newId: () => 'new' }).decode();
  return [...decoder.take(frames.map((frame) => JSON.stringify(frame))), ...decoder.end()];
}

/** The parts of a response that are read; the rest is what the vendor says it is. */
function response(parts: Partial<Response>): Response {
  return { id: 'r', model: 'm', output: [], error: null, ...parts } as Response;
}

test('pieces that come before their call is announced are held until it is', async () => {
  const call = { type: 'function_call', id: 'fc', call_id: 'c', name: 'view' } as const;
  const piece = { type: 'response.function_call_arguments.delta', item_id: 'fc', output_index: 0 } as const;
  expect(
    await decode(
      { ...piece, delta: '{"a"', sequence_number: 0 },
      {
        type: 'response.output_item.added',
        output_index: 0,
        sequence_number: 1,
        item: { ...call, arguments: '' },
      },
      { ...piece, delta: ':1', sequence_number: 2 },
      {
        type: 'response.output_item.done',
        output_index: 0,
        sequence_number: 3,
        item: { ...call, arguments: '{"a":1}' },
      },
      { type: 'response.completed', sequence_number: 4, response: response({ status: 'completed' }) },
    ),
  ).toEqual([
    { type: 'tool_call_delta', callId: 'c', name: 'view', delta: '{"a"' },
    { type: 'tool_call_delta', callId: 'c', name: 'view', delta: ':1' },
    { type: 'tool_call_delta', callId: 'c', name: 'view', delta: '}' },
    { type: 'tool_call', call: { callId: 'c', name: 'view', argumentsText: '{"a":1}' } },
    { type: 'end', reason: 'tool_calls', usage: noUsage, model: 'm', responseId: 'r' },
  ]);
});

test.each([
  [
    { type: 'error', code: 'rate_limit_exceeded', message: 'slow', param: null, sequence_number: 1 },
    { kind: 'rate_limit', message: 'slow', code: 'rate_limit_exceeded' },
  ],
  [
    {
      type: 'response.failed',
      sequence_number: 1,
      response: response({ status: 'failed', error: { code: 'server_error', message: 'sorry' } }),
    },
    { kind: 'unavailable', message: 'sorry', code: 'server_error' },
  ],
  [
    {
      type: 'response.failed',
      sequence_number: 1,
      response: response({ status: 'failed', error: { code: 'invalid_prompt', message: 'flagged' } }),
    },
    { kind: 'refused', message: 'flagged' },
  ],
  [
    { type: 'response.failed', sequence_number: 1, response: response({ status: 'failed' }) },
    { kind: 'unavailable', message: 'The model service gave up without a reason' },
  ],
] as const satisfies readonly (readonly [ResponseStreamEvent, object])[])(
  '%j fails',
  async (frame, error) => {
    await expect(decode(frame)).rejects.toMatchObject(error);
  },
);

test('an answer that stops before its last word was cut off', async () => {
  const text: Frame = { type: 'response.output_text.delta', output_index: 0, delta: 'Hel' };
  await expect(decode(text as unknown as ResponseStreamEvent)).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'The answer ended before it was complete',
  });
});

test('a whole answer without output is a bad response, one that carries an error is that error', () => {
  const { decodeWhole } = openaiResponsesWire();
  expect(() => decodeWhole({ id: 'x' })).toThrow('The answer has no output');
  expect(() => decodeWhole({ output: [], error: { code: 'server_error', message: 'sorry' } })).toThrow(
    'sorry',
  );
});
