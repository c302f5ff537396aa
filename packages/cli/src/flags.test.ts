import { expect, test } from 'vitest';
import { choiceFlag, flagLines, numberFlag, readFlags, switchFlag, textFlag } from './flags.js';

const table = {
  prompt: textFlag('-p --prompt', 'TEXT', 'what to ask'),
  json: switchFlag('--json', 'in JSON'),
  level: choiceFlag('--level', ['low', 'high'], 'how much'),
  count: numberFlag({ name: '--count', placeholder: 'N', help: 'how many', most: 9 }),
};

test('flags and words come in any order, and after -- everything is a word', () => {
  const argv = [
    'one',
    '--count=3',
    '-p',
    '-5 + 3?',
    'two',
    '--level',
    'high',
    '--json',
    '--',
    '--count',
    '-x',
  ];
  expect(readFlags(table, argv)).toEqual({
    flags: { count: 3, prompt: '-5 + 3?', level: 'high', json: true },
    words: ['one', 'two', '--count', '-x'],
    warnings: [],
  });
});

test('a flag given twice counts as it was given last, and - is a word', () => {
  expect(readFlags(table, ['-p', 'a', '--prompt=--json', '-'])).toEqual({
    flags: { prompt: '--json' },
    words: ['-'],
    warnings: [],
  });
});

test.each([
  [['--color=always'], "error: unknown option '--color'\nRun groundcrew --help to see what there is."],
  [['--constructor'], "error: unknown option '--constructor'\nRun groundcrew --help to see what there is."],
  [['--no-color'], "error: unknown option '--no-color'\nRun groundcrew --help to see what there is."],
  [['--prompt'], '--prompt needs a value'],
  [['-p', '--json'], '-p needs a value'],
  [['--json=1'], '--json takes no value'],
  [['--level', 'middle'], '--level needs one of low, high, not middle'],
  [['--count', '10'], '--count needs a whole number from 0 to 9, not 10'],
])('%j is refused', (argv, message) => {
  expect(() => readFlags(table, argv)).toThrow(message);
});

test('help lines stand in columns', () => {
  expect(flagLines(table)).toEqual([
    '  -p, --prompt TEXT  what to ask',
    '  --json             in JSON',
    '  --level LEVEL      how much',
    '  --count N          how many',
  ]);
});
