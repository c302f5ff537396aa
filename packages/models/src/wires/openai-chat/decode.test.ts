import { expect, test } from 'vitest';
import { noUsage } from '../../../test/local-server.js';
import type { ModelEvent } from '../../model.js';
import { decodeWholeChat } from './answer.js';
import { openaiChatWire } from './wire.js';

const options = { wire: 'openai-chat', newId: () => 'new' };

/** Each frame comes in a read of its own. */
async function decode(...frames: readonly unknown[]): Promise<readonly (readonly ModelEvent[])[]> {
  const decoder = openaiChatWire({ newId: () => 'new' }).decode();
  const batches = frames.map((frame) =>
    decoder.take([typeof frame === 'string' ? frame : JSON.stringify(frame)]),
  );
  return [...batches, decoder.end()].filter((batch) => batch.length > 0);
}

const text = (content: string) => ({ choices: [{ delta: { content } }] });

test('a batch in is a batch out, and one without news is none', async () => {
  const role = { choices: [{ delta: { role: 'assistant', content: '' } }] };
  expect(await decode(role, text('a'), '', text('b'), '[DONE]', text('never read'))).toEqual([
    [{ type: 'text', delta: 'a' }],
    [{ type: 'text', delta: 'b' }],
    [{ type: 'end', reason: 'stop', usage: noUsage }],
  ]);
});

test.each([
  [
    { message: 'slow down', type: 'rate_limit_exceeded', code: null },
    { kind: 'rate_limit', message: 'slow down' },
  ],
  [
    { message: 'paid?', type: 'insufficient_quota' },
    { kind: 'quota', message: 'paid?' },
  ],
  [{ message: 'The server had an error', type: 'server_error' }, { kind: 'unavailable' }],
  [
    { message: 'no', type: 'invalid_request_error', code: 'x' },
    { kind: 'bad_request', code: 'x' },
  ],
  [
    { message: 'upstream', code: 502 },
    { kind: 'unavailable', statusCode: 502, code: '502' },
  ],
  ['just words', { kind: 'unavailable', message: 'just words' }],
  [{}, { kind: 'unavailable', message: 'The model service gave up without a reason' }],
])('the error %j inside a stream is thrown as such', async (error, expected) => {
  await expect(decode(text('a'), { error, choices: [] })).rejects.toMatchObject(expected);
});

test('an error that is the whole event is one too', async () => {
  const error = { object: 'error', message: 'too long', type: 'BadRequestError', code: 400 };
  await expect(decode(error)).rejects.toMatchObject({
    kind: 'bad_request',
    message: 'too long',
    statusCode: 400,
  });
  const finish = { choices: [{ delta: {}, finish_reason: 'error' }] };
  await expect(decode(text('a'), finish)).rejects.toMatchObject({ kind: 'unavailable' });
});

test.each([
  ['no object', [1]],
  ['choices', { choices: {} }],
  ['a choice', { choices: [1] }],
  ['a delta', { choices: [{ delta: 'x' }] }],
  ['content', { choices: [{ delta: { content: 4 } }] }],
  ['tool calls', { choices: [{ delta: { tool_calls: {} } }] }],
  ['a tool call', { choices: [{ delta: { tool_calls: [null] } }] }],
  ['arguments', { choices: [{ delta: { tool_calls: [{ function: { name: 'x', arguments: 4 } }] } }] }],
])('%s in a wrong shape is a bad response that says so', async (what, frame) => {
  const message = expect.stringContaining(what);
  await expect(decode(frame, '[DONE]')).rejects.toMatchObject({ kind: 'bad_response', message });
});

test('a call without a name is a bad response', async () => {
  const frame = { choices: [{ delta: { tool_calls: [{ id: 'a', function: { arguments: '{}' } }] } }] };
  await expect(decode(frame, '[DONE]')).rejects.toMatchObject({
    kind: 'bad_response',
    message: 'The answer calls a tool without a name',
  });
});

test('an answer without a finish mark is incomplete, one called done may be empty', async () => {
  const call = { id: 'a', function: { name: 'bash', arguments: '{"command":"ls"}' } };
  for (const delta of [{ role: 'assistant' }, { content: 'Half an ans' }, { tool_calls: [call] }]) {
    await expect(decode({ choices: [{ delta }] })).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'The answer ended before it was complete',
    });
    expect((await decode({ choices: [{ delta }] }, '[DONE]')).at(-1)?.at(-1)?.type).toBe('end');
    expect((await decode({ choices: [{ delta, finish_reason: 'stop' }] })).at(-1)?.at(-1)?.type).toBe('end');
  }
  expect(await decode('[DONE]')).toEqual([[{ type: 'end', reason: 'stop', usage: noUsage }]]);
});

test('the most important reason of several choices is the reason of the answer', async () => {
  const ends = (...reasons: readonly string[]) => ({
    choices: reasons.map((finish_reason, index) => ({ index, delta: {}, finish_reason })),
  });
  const reasonOf = async (...reasons: readonly string[]) => (await decode(ends(...reasons), '[DONE]')).at(-1);
  expect(await reasonOf('stop', 'length')).toEqual([{ type: 'end', reason: 'length', usage: noUsage }]);
  expect(await reasonOf('content_filter', 'stop')).toEqual([
    { type: 'end', reason: 'refused', usage: noUsage },
  ]);
  expect(await reasonOf('tool_calls')).toEqual([{ type: 'end', reason: 'stop', usage: noUsage }]);
  expect(await reasonOf('eos')).toEqual([{ type: 'end', reason: 'stop', usage: noUsage }]);
});

test('a whole answer without choices is a bad response, one that carries an error is that error', () => {
  expect(() => decodeWholeChat({ id: 'x' }, options)).toThrow('The answer has no choices');
  expect(() => decodeWholeChat({ error: { message: 'gone', code: 'model_not_found' } }, options)).toThrow(
    'gone',
  );
  expect(decodeWholeChat({ choices: [] }, options)).toEqual([
    { type: 'end', reason: 'stop', usage: noUsage },
  ]);
});

test('what the Copilot service charges is part of the usage, in dollars', async () => {
  const last = { choices: [{ delta: {}, finish_reason: 'stop' }], copilot_usage: { total_nano_aiu: 1.5e9 } };
  expect((await decode(last, '[DONE]')).at(-1)).toEqual([
    { type: 'end', reason: 'stop', usage: { ...noUsage, billed: 0.015 } },
  ]);
});
