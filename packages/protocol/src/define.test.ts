import { expect, test } from 'vitest';
import * as z from 'zod';
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

test('what is no object is left for the schema to refuse', () => {
  expect([withoutNulls('text'), withoutNulls([null])]).toEqual(['text', [null]]);
});

test('reading takes null for absent and keeps unknown fields', () => {
  const schema = once(() => openObject({ name: z.string(), size: z.number().optional() }));
  expect(read(schema, { name: 'a', size: null, later: 1 }).data).toEqual({ name: 'a', later: 1 });
  expect(read(schema, null).error?.issues.map(({ path }) => path)).toEqual([['name']]);
});
