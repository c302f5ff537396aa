import { expect, test } from 'vitest';
import { formChoices } from './form-field.js';

const ab = [
  { value: 'a', label: 'First' },
  { value: 'b', label: 'b' },
];

test.each([
  ['one of several texts with names', { type: 'string', enum: ['a', 'b'], enumNames: ['First'] }, ab],
  [
    'one of several titled texts',
    { type: 'string', oneOf: [{ const: 'a', title: 'First' }, { const: 'b' }] },
    ab,
  ],
  [
    'a list of titled texts',
    { type: 'array', items: { anyOf: [{ const: 'a', title: 'First' }, { const: 'b' }] } },
    ab,
  ],
  ['a list of plain texts', { type: 'array', items: { enum: ['b'] } }, [{ value: 'b', label: 'b' }]],
  ['a text', { type: 'string', minLength: 2 }, undefined],
  ['a flag', { type: 'boolean' }, undefined],
])('the choices of %s are read in the forms that apps and MCP servers write', (_, field, choices) => {
  expect(formChoices(field)).toEqual(choices);
});
