import { expect, test } from 'vitest';
import { Evaluation } from './evaluation.js';

let reads = 0;

/** What came of so many cases, each with one variant that passes and one that breaks off; each look at a name is counted. */
function evaluated(count: number): Evaluation {
  return new Evaluation(
    Array.from({ length: 2 * count }, (_, at) => {
      const passed = at % 2 === 0;
      return {
        get name() {
          reads += 1;
          return `case ${Math.floor(at / 2)}`;
        },
        variant: passed ? 'good' : 'bad',
        attempt: 1,
        passed,
        turn: {
          prompt: 'p',
          answer: 'half',
          calls: [],
          milliseconds: 1,
          inputTokens: 1,
          outputTokens: 1,
          cost: 0,
          ...(!passed && { error: 'broke\u001b[2J off' }),
        },
        checks: [{ check: 'c', passed }],
      };
    }),
  );
}

test('a table and a page of 10,000 cases look at each case a few times, however many there are', () => {
  const evaluation = evaluated(10_000);
  reads = 0;
  const lines = evaluation.table().split('\n');
  const page = evaluation.page();
  expect(reads).toBeLessThan(5 * 20_000);
  expect(lines).toHaveLength(1 + 10_000 + 4);
  expect(lines.slice(10_000)).toEqual([
    'case 9999  ✓            ✗',
    'passed     10000/10000  0/10000',
    'tokens     20000        20000',
    'seconds    10.0         10.0',
    'dollars    0.0000       0.0000',
  ]);
  expect(page.match(/<section>/g)).toHaveLength(10_000);
});

test('what was said before a turn broke off is on the page beside the reason, and reasons steer no terminal', () => {
  const evaluation = evaluated(1);
  const page = evaluation.page();
  expect(page).toContain('<p class="error">broke');
  expect(page.match(/<pre>half/g)).toHaveLength(2);
  expect(() => evaluation.verify()).toThrow(/\n\ncase 0 with bad: broke\[2J off; c: no$/);
});
