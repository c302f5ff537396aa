import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FramingError } from './errors.js';
import { parseMessage } from './parse.js';

test.each([
  '{"jsonrpc":"2.0","id":0,"method":"m"}',
  '{"jsonrpc":"2.0","id":"","method":"m","params":[1]}',
  '{"jsonrpc":"2.0","id":null,"method":"m","params":null}',
  '{"id":-1.5,"method":""}',
  '{"jsonrpc":"2.0","method":"m","params":{}}',
  '{"jsonrpc":"2.0","id":1,"result":null}',
  '{"jsonrpc":"2.0","id":1,"result":false,"error":null}',
  '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"","data":0}}',
])('%s is a message', (json) => {
  expect(parseMessage(json)).toEqual(JSON.parse(json));
});

test.each([
  ['', 'json', null],
  ['{"method":', 'json', null],
  ['\ufeff{"method":"m"}', 'json', null],
  ['[{"jsonrpc":"2.0","method":"m"}]', 'message', null],
  ['null', 'message', null],
  ['"text"', 'message', null],
  ['1', 'message', null],
  ['{}', 'message', null],
  ['{"jsonrpc":"1.0","id":4,"method":"m"}', 'message', 4],
  ['{"id":"a"}', 'message', 'a'],
  ['{"id":{"a":1},"method":"m"}', 'message', null],
  ['{"id":true,"method":"m"}', 'message', null],
  ['{"id":7,"method":null}', 'message', 7],
  ['{"result":1}', 'message', null],
  ['{"id":7,"error":"no"}', 'message', 7],
  ['{"id":7,"error":{"code":"1","message":"no"}}', 'message', 7],
  ['{"id":7,"error":null}', 'message', 7],
])('%s is refused', (json, kind, id) => {
  expect(refusal(json)).toMatchObject({ name: 'FramingError', kind, id });
});

test.each([
  ['9007199254740993', 9007199254740993n],
  ['-12345678901234567890', -12345678901234567890n],
  ['1e21', 1e21],
])('the id %s keeps all its digits', (written, id) => {
  const json = `{"jsonrpc":"2.0","params":{"id":1},"id" : ${written} ,"method":"m"}`;
  expect(parseMessage(json)).toEqual({ jsonrpc: '2.0', params: { id: 1 }, id, method: 'm' });
});

test('a refusal says what was wrong and what is expected', () => {
  expect([
    refusal('[]').message,
    refusal('{"id":1}').message,
    refusal('{"id":[],"method":"m"}').message,
  ]).toEqual([
    'Invalid message: got an array, expected one JSON object; batches are not supported',
    'Invalid message: expected `method`, or `id` with `result` or `error`',
    'Invalid message: `id` must be a string, a number or null',
  ]);
});

test('nesting is bounded, brackets inside strings are not nesting', () => {
  const nested = (depth: number) => `{"method":"m","params":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  expect(parseMessage(nested(511))).toMatchObject({ method: 'm' });
  expect(parseMessage(nested(512))).toMatchObject({
    method: 'm',
    params: { refusal: { message: expect.stringContaining('512 levels'), data: { code: 'too_deep' } } },
  });
  expect(refusal('['.repeat(5_000_000))).toMatchObject({
    kind: 'too_deep',
    message: expect.stringContaining('512 levels'),
  });
  expect(refusal(`{"a":`.repeat(1_000_000))).toMatchObject({ kind: 'too_deep' });
  const text = '[{'.repeat(2000);
  for (const params of [text, `"${text}`, `${text}\\`, `\\"${text}`, `\\\\"${text}`]) {
    expect(parseMessage(JSON.stringify({ method: 'm', params }))).toEqual({ method: 'm', params });
  }
});

test('any text is either a message or a FramingError', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.json(),
    fc.json({ maxDepth: 2 }).map((json) => `${json}}`),
  );
  fc.assert(
    fc.property(text, (json) => {
      try {
        expect(parseMessage(json)).toEqual(JSON.parse(json));
      } catch (error) {
        expect(error).toBeInstanceOf(FramingError);
      }
    }),
  );
});

function refusal(json: string): FramingError {
  try {
    parseMessage(json);
  } catch (error) {
    if (error instanceof FramingError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}
