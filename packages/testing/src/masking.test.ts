import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Masking } from './masking.js';
import { maskNamed, Secrets } from './secrets.js';

const now = Date.parse('2026-03-04T05:06:07Z');
const masking = (workingDirectory = '/data/work') =>
  new Masking(
    { workingDirectory, directories: { home: '/data/me', tmp: '/scratch' } },
    new Secrets([], {}),
    () => now,
  );

test.each([
  ['/data/work/a.txt and /data/work.', '<workdir>/a.txt and <workdir>.'],
  ['/data/worker, /data/work-2, /data/work.old', '/data/worker, /data/work-2, /data/work.old'],
  [
    String.raw`{"a":"\n/data/work\n0f8fad5b-d9cb-469f-a165-70867728950e"}`,
    String.raw`{"a":"\n<workdir>\n<uuid-1>"}`,
  ],
  ['/other/data/work and ~/scratch', '/other/data/work and ~/scratch'],
  ['cd /data/me && ls file:///scratch/x', 'cd <home> && ls file://<tmp>/x'],
  ['at 2026-03-04T05:00:00.123+00:00, not 2020-01-01T00:00:00Z', 'at <time>, not 2020-01-01T00:00:00Z'],
  ['Wed, 04 Mar 2026 05:06:07 GMT', '<time>'],
  [`${now} but not 1400000000000`, '<time> but not 1400000000000'],
  ['today is 2026-03-04, not 2026-04-04', 'today is <today>, not 2026-04-04'],
  [
    '0F8FAD5B-d9cb-469f-a165-70867728950e 7c9e6679-7425-40de-944b-e07fc1f90ae7 0f8fad5b-d9cb-469f-a165-70867728950e',
    '<uuid-1> <uuid-2> <uuid-1>',
  ],
])('a request that says %s is kept as %s', (said, kept) => {
  const masked = masking().ofRequest(said, new Map());
  expect(masked.replaceAll(/\$\{([\w-]+)\}/g, '<$1>')).toBe(kept);
});

test('other replacements are the app’s', () => {
  const own = new Masking({ normalise: (text) => text.replace(/\d+ ms/, 'some ms') }, new Secrets([], {}));
  expect(own.ofRequest('took 17 ms', new Map())).toBe('took some ms');
});

test('an answer is cut where it was cut, and never within a mask', () => {
  const pieces = ['see /da', 'ta/wo', 'rk/a', '.txt', ' now'];
  expect(masking().ofAnswer(pieces, new Map())).toEqual([
    `see ${maskNamed('workdir')}`,
    '/a',
    '.txt',
    ' now',
  ]);
});

const ids = ['0f8fad5b-d9cb-469f-a165-70867728950e', '7c9e6679-7425-40de-944b-e07fc1f90ae7'] as const;
const word = fc.oneof(
  fc.constantFrom(
    '/data/work',
    '/data/me/x',
    '$',
    '$$',
    maskNamed('workdir'),
    `$${maskNamed('home')}`,
    maskNamed('uuid-1'),
    '{',
    '}',
    ...ids,
  ),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);

test('whatever an answer says is said again, in as many words', () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), (pieces) => {
      const numbering = new Map([[ids[0], maskNamed('uuid-1')]]);
      const kept = masking().ofAnswer(pieces, numbering);
      const filled = kept.map((piece) => masking().fill(piece, numbering));
      expect(filled.join('')).toBe(pieces.join(''));
    }),
    { numRuns: 2000 },
  );
});
