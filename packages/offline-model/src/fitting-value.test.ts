import { expect, test } from 'vitest';
import { fittingValue } from './fitting-value.js';

test('a value is made of what the prompt says', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      amount: { type: 'integer', minimum: 1 },
      price: { type: 'number' },
      urgency: { enum: ['low', 'high'] },
      tags: { type: 'array', items: { type: 'string' }, minItems: 0 },
      isGift: { type: 'boolean' },
      note: { anyOf: [{ type: 'null' }, { type: 'string' }] },
      kind: { $ref: '#/$defs/kind' },
    },
    $defs: { kind: { const: 'order' } },
  };
  expect(fittingValue(schema, "Order 3 of 'pens' at 2.5 each, high urgency, it is not a gift")).toEqual({
    name: 'pens',
    amount: 3,
    price: 2.5,
    urgency: 'high',
    tags: [],
    isGift: false,
    note: null,
    kind: 'order',
  });
});

test('a schema that refers to itself comes to an end', () => {
  const schema = { type: 'object', properties: { self: { $ref: '#' } } };
  expect(JSON.stringify(fittingValue(schema, 'Hello')).length).toBeLessThan(2000);
});
