import { expect, test } from 'vitest';
import { blocksOf, piecesOf } from './markdown.js';

test('what models write is read as headings, lists, tables, quotes and code', () => {
  const text = [
    '# Title',
    'One',
    'two',
    '- a',
    '  1. b',
    '- c',
    '',
    '| x | y |',
    '| - | -: |',
    '| 1 | 2 |',
    '> said',
    '```ts',
    '# no title',
    '```',
    '---',
    '<b>text</b>',
  ].join('\n');
  expect(blocksOf(text)).toEqual([
    { type: 'heading', level: 1, text: 'Title' },
    { type: 'paragraph', text: 'One\ntwo' },
    {
      type: 'list',
      first: undefined,
      items: [
        [
          { type: 'paragraph', text: 'a' },
          { type: 'list', first: 1, items: [[{ type: 'paragraph', text: 'b' }]] },
        ],
        [{ type: 'paragraph', text: 'c' }],
      ],
    },
    {
      type: 'table',
      aligns: ['left', 'right'],
      rows: [
        ['x', 'y'],
        ['1', '2'],
      ],
    },
    { type: 'quote', blocks: [{ type: 'paragraph', text: 'said' }] },
    { type: 'code', text: '# no title' },
    { type: 'rule' },
    { type: 'paragraph', text: '<b>text</b>' },
  ]);
});

test('pieces of a paragraph lose no letter, and where a link leads is shown', () => {
  expect(piecesOf('a **b** `c` *d* ~~e~~ [f](javascript:x) 2*3*4 **open')).toEqual([
    { style: 'plain', text: 'a ' },
    { style: 'bold', text: 'b' },
    { style: 'plain', text: ' ' },
    { style: 'code', text: 'c' },
    { style: 'plain', text: ' ' },
    { style: 'italic', text: 'd' },
    { style: 'plain', text: ' ' },
    { style: 'strike', text: 'e' },
    { style: 'plain', text: ' ' },
    { style: 'link', text: 'f', to: 'javascript:x' },
    { style: 'plain', text: ' 2' },
    { style: 'italic', text: '3' },
    { style: 'plain', text: '4 **open' },
  ]);
});

test.each([
  ['brackets', '['],
  ['backticks', '`'],
  ['stars', '*'],
  ['quotes', '> '],
  ['fences', '```\n'],
  ['entries', '- '],
  ['bars', '|\n|-|\n'],
  ['spaces before an end', '|-| '.padEnd(1000)],
])('a long text of %s is read at once', (_, piece) => {
  const text = piece.repeat(Math.floor(190_000 / piece.length));
  const began = performance.now();
  for (const block of blocksOf(text)) if ('text' in block) piecesOf(block.text);
  expect(performance.now() - began).toBeLessThan(2000);
});
