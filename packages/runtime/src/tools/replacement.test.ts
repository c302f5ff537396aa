import fc from 'fast-check';
import { expect, test } from 'vitest';
import { replaceOnce } from './replacement.js';

test('what stands around the one match stays as it is, byte for byte', () => {
  const bytes = fc.uint8Array({ maxLength: 40 }).map((each) => Buffer.from(each));
  fc.assert(
    fc.property(bytes, bytes, fc.string({ unit: 'grapheme' }), (before, after, newText) => {
      const mark = '«unique mark»';
      const content = Buffer.concat([before, Buffer.from(mark), after]);
      fc.pre(!content.includes('\r\n'));
      expect(replaceOnce(content, mark, newText)).toEqual({
        type: 'replaced',
        content: Buffer.concat([before, Buffer.from(newText), after]),
      });
    }),
  );
});

test('matches that overlap are several', () => {
  expect(replaceOnce(Buffer.from('x\naaa\n'), 'aa', 'b')).toEqual({ type: 'ambiguous', lines: [2, 2] });
});

test('a file of mixed line endings gets what was written', () => {
  const content = Buffer.from('a\r\nb\nc\r\n');
  expect(replaceOnce(content, 'b', 'x\ny')).toEqual({
    type: 'replaced',
    content: Buffer.from('a\r\nx\ny\nc\r\n'),
  });
});
