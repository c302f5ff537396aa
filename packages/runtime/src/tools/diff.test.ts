import { expect, test } from 'vitest';
import { changeDiff, creationDiff } from './diff.js';

const diffOf = (before: string, after: string) =>
  changeDiff({ path: '/w/f', before: Buffer.from(before), after: Buffer.from(after) });

test('a new file is all added lines; an empty one has none', () => {
  expect(creationDiff('/w/f', 'a\nb\n')).toBe(
    '\ndiff --git a/w/f b/w/f\ncreate file mode 100644\nindex 0000000..0000000\n--- a/dev/null\n+++ b/w/f\n@@ -1,0 +1,2 @@\n+a\n+b\n',
  );
  expect(creationDiff('/w/f', '')).toMatch(/@@ -1,0 \+1,0 @@\n$/);
});

test('changes far apart are shown apart, with three lines around each', async () => {
  const lines = Array.from({ length: 20 }, (_, index) => `l${index + 1}`);
  const before = `${lines.join('\n')}\n`;
  const after = before.replace('l2\n', 'L2\n').replace('l19\n', '');
  expect((await diffOf(before, after)).split('\n').slice(5)).toEqual([
    '@@ -1,5 +1,5 @@',
    ' l1',
    '-l2',
    '+L2',
    ' l3',
    ' l4',
    ' l5',
    '@@ -16,5 +16,4 @@',
    ' l16',
    ' l17',
    ' l18',
    '-l19',
    ' l20',
    '',
  ]);
});

test('a final newline that comes or goes is shown; one that is missing on both sides is not', async () => {
  const marker = '\\ No newline at end of file';
  const diff = await diffOf('a\n', 'a');
  expect(diff.split('\n').slice(5)).toEqual(['@@ -1,1 +1,1 @@', '-a', '+a', marker, '']);
  expect(await diffOf('a', 'b')).not.toContain(marker);
});

test('a name with a line break cannot add lines to the diff', () => {
  expect(creationDiff('/w/f\n+++ b/x', '').split('\n')).toHaveLength(8);
});
