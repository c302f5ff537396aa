import { expect, test } from 'vitest';
import { asRanges } from './ranges.js';

test.each([
  [[7], '7'],
  [[9, 3, 5, 6, 7], '3, 5–7, 9'],
  [[2, 1], '1–2'],
])('%j reads %s', (numbers, text) => {
  expect(asRanges(numbers)).toBe(text);
});
