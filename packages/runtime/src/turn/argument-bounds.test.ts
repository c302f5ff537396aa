import { expect, test } from 'vitest';
import { excessIn } from './argument-bounds.js';

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

test('what a model writes is bounded in length, depth and number of values', () => {
  expect(excessIn(nested(256))).toBeUndefined();
  expect(excessIn(nested(5000))).toBe('they nest deeper than 256 levels');
  expect(excessIn('['.repeat(5000))).toBe('they nest deeper than 256 levels');
  expect(excessIn(`[${'1,'.repeat(60_000)}1]`)).toBe('they have more than 50000 values');
  expect(excessIn(`"${'x'.repeat(2 * 1024 * 1024)}"`)).toMatch(/^they have 2097154 characters/);
});

test('brackets and commas in texts are text', () => {
  expect(excessIn(JSON.stringify({ a: `${'[{'.repeat(1000)}\\"${','.repeat(60_000)}` }))).toBeUndefined();
});
