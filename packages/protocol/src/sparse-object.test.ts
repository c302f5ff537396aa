import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { flag, numberOrNull, text, textOrNull } from './fields.js';
import type { Value } from './schema.js';
import { sparseObject } from './sparse-object.js';

const limits = () => sparseObject({ seconds: numberOrNull });
const tool = () => sparseObject({ description: textOrNull, strict: flag, limits }, { name: text });

test('what is given is read, what is missing stays missing, what is unknown passes', () => {
  const given = {
    name: 'a',
    description: null,
    strict: undefined,
    limits: { seconds: 3, later: [1] },
    more: {},
  };
  expect(tool().parse(given)).toStrictEqual(given);
  expect(limits().parse({})).toStrictEqual({});
});

test('every fault is named by its path', () => {
  expect(faults({ name: 'a', strict: 'yes', limits: { seconds: 'many' } })).toEqual([
    'strict',
    'limits.seconds',
  ]);
  expect(faults({ description: 'nameless' })).toEqual(['name']);
  expect(faults({ name: undefined })).toEqual(['name']);
  expect(faults({ name: null })).toEqual(['name']);
});

test.each([[null], [[]], ['text'], [7]])('%j is no object', (value) => {
  expect(faults(value)).toEqual(['']);
});

test('what is read is a new object that no name can turn into another kind', () => {
  const given: unknown = JSON.parse('{ "name": "a", "__proto__": { "strict": true }, "constructor": 1 }');
  const read = tool().parse(given);
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  expect(Object.entries(read)).toEqual([
    ['name', 'a'],
    ['constructor', 1],
  ]);
});

test('the documentation sees every field', () => {
  const { properties, required } = z.toJSONSchema(tool(), { io: 'input' });
  expect({ properties, required }).toEqual({
    properties: {
      name: { type: 'string' },
      description: { type: ['string', 'null'] },
      strict: { type: 'boolean' },
      limits: {
        type: 'object',
        properties: { seconds: { type: ['number', 'null'] } },
        additionalProperties: {},
      },
    },
    required: ['name'],
  });
});

test('types follow from the fields', () => {
  const least: Value<typeof tool> = { name: 'a' };
  const most: Value<typeof tool> = { name: 'a', description: null, strict: true, limits: { seconds: null } };
  // @ts-expect-error a needed field is not left out
  const nameless: Value<typeof tool> = { strict: true };
  // @ts-expect-error a misspelt field does not compile
  const misspelt: Value<typeof tool> = { name: 'a', Strict: true };
  expect([least, most, nameless, misspelt].map((value) => tool().safeParse(value).success)).toEqual([
    true,
    true,
    false,
    true,
  ]);
});

function faults(value: unknown): string[] | undefined {
  return tool()
    .safeParse(value)
    .error?.issues.map(({ path }) => path.join('.'));
}
