import { describe, expect, test } from 'vitest';
import { LongCheck, misfitOf, requirePatterns } from './output-schema.js';

const tree = {
  $defs: {
    node: {
      type: 'object',
      properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
      required: ['next'],
    },
  },
  $ref: '#/$defs/node',
};

describe('a value fits', () => {
  test.each([
    [1, {}],
    [1, { type: 'integer', minimum: 1, maximum: 1, multipleOf: 0.5 }],
    [null, { type: ['string', 'null'] }],
    ['ä', { type: 'string', minLength: 1, maxLength: 1 }],
    [
      { a: 1, b: 2 },
      { type: 'object', additionalProperties: { type: 'number' } },
    ],
    [[1, 'a', 'b'], { type: 'array', prefixItems: [{ type: 'number' }], items: { type: 'string' } }],
    [{ next: { next: null } }, tree],
    ['b', { oneOf: [{ const: 'a' }, { const: 'b' }] }],
    ['ab', { pattern: '^a' }],
    ['a-b', { pattern: '^a\\-b$' }],
    ['2024-02-29', { format: 'date' }],
    ['12:00:00Z', { format: 'time' }],
    ['P1DT2H', { format: 'duration' }],
    ['::1', { format: 'ipv6' }],
    ['example.org', { format: 'hostname' }],
    ['anything', { format: 'of-its-own' }],
    [{ x1: 1, y: 'a' }, { patternProperties: { '^x': { type: 'number' } } }],
  ])('%j', (value, schema) => expect(misfitOf(value, schema)).toBeUndefined());
});

describe('a value does not fit, and the path says where', () => {
  test.each([
    [1.5, { type: 'integer' }, '$: expected integer, not number'],
    ['x', { enum: ['a', 1] }, '$: expected one of "a", 1'],
    [
      { list: [{ a: 1 }, {}] },
      { properties: { list: { items: { required: ['a'] } } } },
      '$.list[1].a: is missing',
    ],
    [{ b: 1 }, { properties: {}, additionalProperties: false }, '$.b: is not expected'],
    [{ __proto__x: 1, constructor: 1 }, { required: ['toString'] }, '$.toString: is missing'],
    [3, { exclusiveMaximum: 3 }, '$: is not less than 3'],
    [3, { multipleOf: 2 }, '$: is no multiple of 2'],
    [[1, 1], { uniqueItems: true }, '$: has an item twice'],
    [[], { minItems: 1 }, '$: needs 1 items'],
    ['abc', { maxLength: 2 }, '$: is longer than 2'],
    ['c', { oneOf: [{ const: 'a' }, { const: 'b' }] }, '$: fits none of 2 forms'],
    ['a', { oneOf: [{ const: 'a' }, { type: 'string' }] }, '$: fits none of 2 forms'],
    ['a', { not: { type: 'string' } }, '$: this may not stand here'],
    [{ next: 1 }, tree, '$.next: fits none of 2 forms'],
    ['ba', { pattern: '^a' }, '$: does not match the pattern ^a'],
    ['2023-02-29', { format: 'date' }, '$: is no date'],
    ['ada', { format: 'email' }, '$: is no email'],
    ['1.2.3', { format: 'ipv4' }, '$: is no ipv4'],
    ['1', { format: 'uuid' }, '$: is no uuid'],
    ['P', { format: 'duration' }, '$: is no duration'],
    [{ x1: 'a' }, { patternProperties: { '^x': { type: 'number' } } }, '$.x1: expected number'],
    [{ y: 1 }, { patternProperties: { '^x': {} }, additionalProperties: false }, '$.y: is not expected'],
    [{ a: 1, b: 2 }, { maxProperties: 1 }, '$: has more than 1 properties'],
  ])('%j', (value, schema, misfit) => expect(misfitOf(value, schema)).toContain(misfit));
});

test('a schema that refers to nothing but itself comes to an end', () => {
  expect(misfitOf(1, { $ref: '#', allOf: [{ $ref: '#' }] })).toContain('nested too deeply');
});

test('what may take long is not begun where time is short', () => {
  const both = { anyOf: [{ $ref: '#' }, { $ref: '#' }] };
  const nested = Array.from({ length: 40 }).reduce<object>((inner) => ({ anyOf: [inner, inner] }), {
    type: 'null',
  });
  expect(() => misfitOf(1, both, 1000)).toThrow(LongCheck);
  expect(() => misfitOf(1, nested as Record<string, unknown>, 1000)).toThrow(LongCheck);
  expect(() => misfitOf('a', { pattern: 'a' }, 1000)).toThrow(LongCheck);
  expect(misfitOf(1, { pattern: 'a' }, 1000)).toBeUndefined();
});

test('a pattern that is none is named with its place', () => {
  const schema = { properties: { a: { items: { pattern: '(' } } } };
  expect(() => requirePatterns(schema)).toThrow(
    'output.schema.properties.a.items: the pattern ( is no regular',
  );
  expect(() => requirePatterns({ patternProperties: { '[': {} } })).toThrow('is no regular expression');
  expect(() => requirePatterns({ pattern: '^a\\-b' })).not.toThrow();
});
