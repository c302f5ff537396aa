import type {
  Message,
  RawContentBlockDelta,
  RawMessageStreamEvent,
} from '@anthropic-ai/sdk/resources/messages';
import { expect, test } from 'vitest';
import { noUsage } from '../../../test/local-server.js';
import type { ModelEvent } from '../../model.js';
import { MessagesAnswer } from './answer.js';
import { anthropicMessagesWire } from './wire.js';

type Kind = RawMessageStreamEvent['type'];
type Delta = RawContentBlockDelta['type'];
type StopReason = NonNullable<Message['stop_reason']>;

/** Every event and every piece the vendor knows; one that is added later does not compile. */
const kinds: Readonly<Record<Kind, 'read'>> = {
  message_start: 'read',
  message_delta: 'read',
  message_stop: 'read',
  content_block_start: 'read',
  content_block_delta: 'read',
  content_block_stop: 'read',
};
const deltas: Readonly<Record<Delta, 'read' | 'passed over'>> = {
  text_delta: 'read',
  input_json_delta: 'read',
  thinking_delta: 'read',
  signature_delta: 'read',
  citations_delta: 'passed over',
};
const stopReasons: Readonly<Record<StopReason, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  tool_use: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refused',
};

async function decode(...frames: readonly object[]): Promise<readonly ModelEvent[]> {
  const decoder = anthropicMessagesWire({ newId: () => 'new' }).decode();
  return [...decoder.take(frames.map((frame) => JSON.stringify(frame))), ...decoder.end()];
}

const stopped = (stop_reason: string) => [
  { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 0 } },
  { type: 'message_stop' },
];

test.each(Object.entries(stopReasons))(
  'the stop reason %s ends an answer without calls as %s',
  async (word, reason) => {
    expect(await decode(...stopped(word))).toEqual([{ type: 'end', reason, usage: noUsage }]);
  },
);

test('pings and unknown events are skipped', () => {
  const events: ModelEvent[] = [];
  const answer = new MessagesAnswer(() => 'new');
  expect(answer.add({ type: 'ping' }, events)).toBe(false);
  expect(answer.add({ type: 'of_tomorrow' }, events)).toBe(false);
  expect(Object.keys(kinds)).not.toContain('ping');
  const text = { type: 'text', text: '' };
  answer.add({ type: 'content_block_start', index: 0, content_block: text }, events);
  for (const [type] of Object.entries(deltas).filter(([, what]) => what === 'passed over'))
    answer.add({ type: 'content_block_delta', index: 0, delta: { type, citation: {} } }, events);
  expect(events).toEqual([]);
});

test('as the vendor types them, pieces become text, thoughts and calls', async () => {
  const delta = (index: number, piece: RawContentBlockDelta): RawMessageStreamEvent => ({
    type: 'content_block_delta',
    index,
    delta: piece,
  });
  const begin = (index: number, content_block: object) => ({
    type: 'content_block_start',
    index,
    content_block,
  });
  expect(
    await decode(
      begin(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
      delta(0, { type: 'signature_delta', signature: 'sig' }),
      { type: 'content_block_stop', index: 0 },
      begin(1, { type: 'text', text: '' }),
      delta(1, { type: 'text_delta', text: 'Yes' }),
      begin(2, { type: 'tool_use', id: 't', name: 'view', input: {} }),
      delta(2, { type: 'input_json_delta', partial_json: '{}' }),
      ...stopped('tool_use'),
    ),
  ).toEqual([
    { type: 'reasoning', delta: 'Hm.' },
    {
      type: 'kept',
      kept: {
        wire: 'anthropic-messages',
        place: 0,
        block: { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      },
    },
    { type: 'text', delta: 'Yes' },
    { type: 'tool_call_delta', callId: 't', name: 'view', delta: '{}' },
    { type: 'tool_call', call: { callId: 't', name: 'view', argumentsText: '{}' } },
    { type: 'end', reason: 'tool_calls', usage: noUsage },
  ]);
});

test.each([
  [
    { type: 'overloaded_error', message: 'Overloaded' },
    { kind: 'unavailable', message: 'Overloaded' },
  ],
  [
    { type: 'rate_limit_error', message: 'slow' },
    { kind: 'rate_limit', message: 'slow' },
  ],
])('the failure %j ends the answer as what it is', async (error, thrown) => {
  await expect(decode({ type: 'error', error })).rejects.toMatchObject(thrown);
});

test('a piece of nothing, a call without a name and an answer without an end are refused', async () => {
  await expect(decode({ type: 'content_block_delta', index: 3, delta: {} })).rejects.toMatchObject({
    kind: 'bad_response',
  });
  const nameless = { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't' } };
  await expect(decode(nameless)).rejects.toMatchObject({
    kind: 'bad_response',
    message: 'The answer calls a tool without a name',
  });
  await expect(decode({ type: 'ping' })).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'The answer ended before it was complete',
  });
  expect(() => anthropicMessagesWire().decodeWhole({ id: 'x' })).toThrow('The answer has no content');
});
