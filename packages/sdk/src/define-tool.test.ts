import { expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { declarationOf, defineTool } from './define-tool.js';

test('a handler knows its arguments from a zod schema', () => {
  defineTool('t', {
    parameters: z.object({
      city: z.string(),
      days: z.number().default(1),
      unit: z.enum(['c', 'f']).optional(),
    }),
    handler: (args) =>
      expectTypeOf(args).toEqualTypeOf<{ city: string; days: number; unit?: 'c' | 'f' | undefined }>(),
  });
});

test('a handler knows its arguments from a JSON Schema', () => {
  defineTool('t', {
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        size: { enum: ['s', 'l'] },
        tags: { type: 'array', items: { type: ['string', 'null'] } },
        place: { type: 'object', properties: { x: { type: 'integer' } }, required: ['x'] },
        either: { anyOf: [{ const: 1 }, { type: 'boolean' }] },
        other: { $ref: '#/x' },
      },
      required: ['city', 'place'],
    },
    handler: (args) =>
      expectTypeOf(args).toEqualTypeOf<{
        readonly city: string;
        readonly place: { readonly x: number };
        readonly size?: 's' | 'l';
        readonly tags?: readonly (string | null)[];
        readonly either?: 1 | boolean;
        readonly other?: unknown;
      }>(),
  });
});

test('a caller may say the type of the arguments', () => {
  const schema: Record<string, unknown> = { type: 'object' };
  defineTool<{ a: number }>('t', {
    parameters: schema,
    handler: (args) => expectTypeOf(args).toEqualTypeOf<{ a: number }>(),
  });
});

test('a schema of an older zod is refused by name', () => {
  const old = { safeParse: () => undefined, _def: {} };
  expect(() => declarationOf({ name: 'old', parameters: old })).toThrow(
    'The parameters of tool old are no schema of zod 4',
  );
});
