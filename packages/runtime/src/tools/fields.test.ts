import { expect, test } from 'vitest';
import { choice, flag, number, optional, pair, parseInput, schemaOf, text, texts } from './fields.js';

const fields = {
  command: text('What to run.'),
  mode: optional(choice('How.', ['sync', 'async'])),
  wait: optional(number('Seconds.', { minimum: 30, maximum: 600 })),
  range: optional(pair('From and to.')),
  paths: optional(texts('Where.')),
  detach: optional(flag('Let it go.')),
};

function problem(input: unknown): string {
  try {
    parseInput(fields, input);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

test('the schema names every field, and which ones the model must give', () => {
  expect(schemaOf(fields)).toEqual({
    type: 'object',
    properties: {
      command: { type: 'string', description: 'What to run.' },
      mode: { type: 'string', enum: ['sync', 'async'], description: 'How.' },
      wait: { type: 'number', description: 'Seconds.', minimum: 30, maximum: 600 },
      range: {
        type: 'array',
        items: { type: 'integer' },
        minItems: 2,
        maxItems: 2,
        description: 'From and to.',
      },
      paths: {
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
        description: 'Where.',
      },
      detach: { type: 'boolean', description: 'Let it go.' },
    },
    required: ['command'],
  });
});

test('what fits is passed on, null is as good as nothing, what no field names is left out', () => {
  const input = { command: 'ls', mode: null, wait: 30, paths: ['a'], range: [1, -1], unknown: 1 };
  expect(parseInput(fields, input)).toEqual({
    command: 'ls',
    mode: undefined,
    wait: 30,
    range: [1, -1],
    paths: ['a'],
    detach: undefined,
  });
});

test('what does not fit is named', () => {
  expect(problem({})).toBe('"command": Required');
  expect(problem({ command: null })).toBe('"command": Required');
  expect(problem({ command: 1 })).toBe('"command": Expected string, received number');
  expect(problem({ command: '', mode: 'x', wait: 5 })).toBe(
    `"mode": Invalid enum value. Expected 'sync' | 'async', received 'x'; "wait": Number must be greater than or equal to 30`,
  );
  expect(problem({ command: '', wait: 601, range: [1], paths: [1], detach: 'yes' })).toBe(
    '"wait": Number must be less than or equal to 600; "range": Array must contain exactly 2 element(s); "paths": Expected text or a list of texts; "detach": Expected boolean, received string',
  );
  expect(problem('text')).toBe('Expected object, received string');
  expect(problem([])).toBe('Expected object, received array');
});
