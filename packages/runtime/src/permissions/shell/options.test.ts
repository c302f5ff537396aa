import { expect, test } from 'vitest';
import type { KnownWord } from './command-word.js';
import { optionTable, parseCall } from './options.js';

const table = optionTable('-ab -n: -u? -# --all --lines= --color=?');
const words = (...values: string[]): KnownWord[] =>
  values.map((value) => ({ value, kind: 'literal', start: 0 }));

test.each([
  [['-ab', 'x'], [['-a'], ['-b']], ['x']],
  [['-an', '5', 'x'], [['-a'], ['-n', '5']], ['x']],
  [['-an5', 'x'], [['-a'], ['-n', '5']], ['x']],
  [['-u', 'x'], [['-u']], ['x']],
  [['-u3'], [['-u', '3']], []],
  [['-20'], [['-#', '20']], []],
  [['x', '--all', '--lines=3', '--lines', '4'], [['--all'], ['--lines', '3'], ['--lines', '4']], ['x']],
  [['--color', 'x', '--color=y'], [['--color'], ['--color', 'y']], ['x']],
  [['--', '-a', '--'], [], ['-a', '--']],
  [['-', 'x'], [], ['-', 'x']],
])('%j is read as the program reads it', (given, options, operands) => {
  const call = parseCall(words(...given), table);
  expect(call?.options.map(({ name, value }) => (value === undefined ? [name] : [name, value]))).toEqual(
    options,
  );
  expect(call?.operands.map(({ value }) => value)).toEqual(operands);
});

test.each([
  ['-x'],
  ['-ax'],
  ['-n'],
  ['--al'],
  ['--line=3'],
  ['--all=3'],
  ['--lines'],
  ['--'.concat('other')],
])('%j is not understood', (given) => {
  expect(parseCall(words(given), table)).toBeUndefined();
});

test('a word that is known only when it runs is not understood, wherever it stands', () => {
  const open: KnownWord = { value: '$x', kind: 'dynamic', start: 0 };
  for (const given of [[open], [...words('-a'), open], [...words('-n'), open], [...words('--'), open]])
    expect(parseCall(given, table)).toBeUndefined();
});
