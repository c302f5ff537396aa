import fc from 'fast-check';
import { expect, test } from 'vitest';
import { globMatcher } from './glob-pattern.js';

const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['*.ts', ['a.ts', 'x/y/a.ts', '.ts'], ['a.tsx', 'a/ts']],
  ['src/*.ts', ['src/a.ts'], ['a.ts', 'src/x/a.ts', 'x/src/a.ts']],
  ['src/**/*.ts', ['src/a.ts', 'src/x/y/a.ts'], ['a.ts', 'src/a.js']],
  ['**', ['a', 'a/b'], []],
  ['a/**/b/**/c', ['a/b/c', 'a/x/b/y/z/c', 'a/b/b/c'], ['a/c', 'a/b']],
  [
    'f?o[0-9][!a-c].{md,t{x,s}t}',
    ['fzo1d.md', 'foo9x.txt', 'f-o0z.tst'],
    ['foo1a.md', 'foox1.md', 'foo12.t'],
  ],
  ['a\\*b', ['a*b'], ['axb']],
  ['[]x]', [']', 'x'], ['y']],
  ['[', ['['], []],
  ['{a', ['{a'], ['a']],
];

test('patterns mean what they mean elsewhere', () => {
  for (const [pattern, fits, other] of cases) {
    const matches = globMatcher(pattern);
    expect([pattern, fits.filter(matches), other.filter(matches)]).toEqual([pattern, fits, []]);
  }
});

test('stars match as the regular expression for them does', () => {
  const letters = fc.constantFrom('a', 'b', '*', '?');
  const pattern = fc.array(letters, { minLength: 1, maxLength: 8 }).map((each) => each.join(''));
  const name = fc
    .array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 10 })
    .map((each) => each.join(''));
  fc.assert(
    fc.property(
      pattern.filter((each) => !each.includes('**')),
      name,
      (glob, text) => {
        const expression = new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`);
        expect(globMatcher(glob)(text)).toBe(expression.test(text));
      },
    ),
  );
});

test('a pattern made to be slow is not', () => {
  const matches = globMatcher(`${'*a'.repeat(200)}b`);
  const started = performance.now();
  expect(matches('a'.repeat(5000))).toBe(false);
  expect(globMatcher('{a,b}'.repeat(40))('x')).toBe(false);
  expect(performance.now() - started).toBeLessThan(1000);
});

test('what is below a match matches with `orBelow`, and nothing else', () => {
  const name = fc.constantFrom('a', 'b', 'ab', '.c', 'aab');
  const part = fc.constantFrom('a', 'b', '*', '**', 'a*', '*b', '?', '{a,b}', '[ab]', '*a*b', '.c');
  const joined = (names: fc.Arbitrary<string>, most: number) =>
    fc.array(names, { minLength: 1, maxLength: most }).map((each) => each.join('/'));
  fc.assert(
    fc.property(joined(part, 5), joined(name, 7), (pattern, path) => {
      const matches = globMatcher(pattern);
      const names = path.split('/');
      const expected = names.some((_, index) => matches(names.slice(0, index + 1).join('/')));
      expect({ pattern, path, found: globMatcher(pattern, { orBelow: true })(`/${path}`) }).toEqual({
        pattern,
        path,
        found: expected,
      });
    }),
    { numRuns: 3000 },
  );
});
