import { expect, test } from 'vitest';
import { type Line, line, span, wrap } from './span.js';

const textOf = (lines: readonly Line[]) => lines.map((spans) => spans.map(({ text }) => text).join(''));

test('a line is broken between words, and not where only the style changes', () => {
  const prose = [span('see the '), span('guide', 'underline'), span('(here)', 'dim'), span('. Then go')];
  expect(textOf(wrap(prose, 18))).toEqual(['see the', 'guide(here). Then', 'go']);
  expect(textOf(wrap([span('a '), span('bold', 'bold'), span(', b')], 6))).toEqual(['a', 'bold,', 'b']);
});

test('wide characters break anywhere, and a word that is too wide stays whole', () => {
  expect(textOf(wrap(line('日本語のテスト'), 6))).toEqual(['日本語', 'のテス', 'ト']);
  expect(textOf(wrap(line('a incomprehensible b'), 8))).toEqual(['a', 'incomprehensible', 'b']);
});
