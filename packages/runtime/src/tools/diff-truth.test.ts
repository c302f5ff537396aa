import { structuredPatch } from 'diff';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changeDiff } from './diff.js';

const line = fc.constantFrom('a', 'b', 'c', 'é', '', 'x y');
const text = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
  .map(([lines, ends]) => lines.join('\n') + (ends ? '\n' : ''));

const diffOf = (before: string, after: string) =>
  changeDiff({ path: '/w/f', before: Buffer.from(before), after: Buffer.from(after) });

test('the diff of the part that changes leads from the old file to the new one', async () => {
  const { applyPatch } = await import('diff');
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      fc.pre(before !== after);
      const hunks = (await diffOf(before, after)).split('\n').slice(3).join('\n');
      const whole = structuredPatch('a', 'b', before, after, '', '', { context: 3 });
      expect(hunks.split('\n').filter((one) => /^[-+](?![-+][-+] )/.test(one)).length).toBeGreaterThanOrEqual(
        whole.hunks.flatMap(({ lines }) => lines).filter((one) => /^[-+]/.test(one)).length,
      );
      const isMarked = before.endsWith('\n') || after.endsWith('\n');
      if (isMarked && before !== '' && after !== '') expect(applyPatch(before, hunks)).toBe(after);
    }),
  );
});
