import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffLines } from './diff.js';

test('one long line is shown from shortly before the place that differs', () => {
  const same = 'x'.repeat(500);
  expect(diffLines(`${same} Paris?`, `${same} Rome?`)).toEqual([
    `- …${'x'.repeat(39)} Paris?`,
    `+ …${'x'.repeat(39)} Rome?`,
  ]);
});

test('lines that stayed are kept between those that changed', () => {
  expect(diffLines('a\nb\nc\nd\ne', 'a\nB\nc\nD\ne')).toEqual([
    '  a',
    '- b',
    '+ B',
    '  c',
    '- d',
    '+ D',
    '  e',
  ]);
});

test('a long difference is cut, and says so', () => {
  const lines = (word: string) => Array.from({ length: 100 }, (_, index) => `${word} ${index}`).join('\n');
  const diff = diffLines(lines('one'), lines('other'));
  expect([diff.length, diff.at(-1)]).toEqual([41, '  … 160 more lines differ']);
});

test('every line of both texts is there, once', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(['<', ...before, '>'].join('\n'), ['<', ...after, '>'].join('\n'));
      const of = (mark: string) => lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(2));
      const count = (all: readonly string[]) => all.join('').length;
      // What is not shown around the change is the same on both sides.
      const hidden = before.length + 2 - count(of('-')) - count(of(' '));
      expect(after.length + 2 - count(of('+')) - count(of(' '))).toBe(hidden);
    }),
  );
});
