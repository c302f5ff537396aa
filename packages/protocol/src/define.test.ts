import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { read, withoutNulls } from './define.js';
import { once, openObject } from './schema.js';

test('no params at all are an empty object', () => {
  expect([withoutNulls(undefined), withoutNulls(null)]).toEqual([{}, {}]);
});

test('a field that is null counts as left out, an inner null is kept', () => {
  const params = { sessionId: 's', attachments: null, tools: [{ name: 't', parameters: { default: null } }] };
  expect(withoutNulls(params)).toEqual({
    sessionId: 's',
    tools: [{ name: 't', parameters: { default: null } }],
  });
});

test('params without a null field are handed on as they are', () => {
  const params = { sessionId: 's', mode: undefined };
  expect(withoutNulls(params)).toBe(params);
});

test('what is no object is left for the schema to refuse, and a list of nothing is nothing', () => {
  expect([withoutNulls('text'), withoutNulls([1])]).toEqual(['text', [1]]);
  expect([withoutNulls([]), withoutNulls([null])]).toEqual([{}, {}]);
});

test('reading takes null for absent and keeps unknown fields', () => {
  const schema = once(() => openObject({ name: z.string(), size: z.optional(z.number()) }));
  expect(read(schema, { name: 'a', size: null, later: 1 }).data).toEqual({ name: 'a', later: 1 });
  expect(read(schema, null).error?.issues.map(({ path }) => path)).toEqual([['name']]);
});

test('what is refused is refused with a reason', () => {
  const schema = once(() =>
    openObject({
      name: z.string(),
      size: z.int(),
      mode: z.enum(['a', 'b']),
      id: z.string().check(z.minLength(1)),
    }),
  );
  const reasons = (value: unknown) =>
    read(schema, value).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  expect(reasons({ name: 7, size: 0.5, mode: 'c', id: '' })).toEqual([
    'name: Invalid input: expected string, received number',
    'size: Invalid input: expected int, received number',
    'mode: Invalid option: expected one of "a"|"b"',
    'id: Too small: expected string to have >=1 characters',
  ]);
  expect(reasons('text')).toEqual([': Invalid input: expected object, received string']);
});
