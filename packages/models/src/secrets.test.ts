import { expect, test } from 'vitest';
import { secretsInHeaders } from './headers.js';
import { secretsInAddress, withoutValues } from './secrets.js';

test('secrets are taken out of texts, with and without their scheme', () => {
  const headers = {
    authorization: 'Bearer sk-1234',
    'x-key': 'key-99',
    accept: 'application/json',
    'x-n': '1',
  };
  expect(withoutValues('sk-1234 or key-99 in application/json, 1', secretsInHeaders(headers))).toBe(
    '*** or *** in application/json, 1',
  );
});

test.each([
  ['as JSON', 'wrong key "ab\\"cd\\/ef"', 'wrong key "***"'],
  ['as a part of an address', 'no /x?key=ab%22cd%2Fef here', 'no /x?key=*** here'],
  ['cut where the text ends', 'wrong key ab"cd/e…', 'wrong key ***…'],
  ['cut without a sign of it', 'wrong key ab"cd/e', 'wrong key ***'],
  ['cut where the text begins', '"cd/ef is wrong', '*** is wrong'],
  ['of which too little is left to know it', 'wrong key ab"c', 'wrong key ab"c'],
])('a secret is taken out of a text %s', (_how, text, clean) => {
  expect(withoutValues(text, ['ab"cd/ef'])).toBe(clean);
});

test('a scheme at the end of a text is no secret', () => {
  expect(withoutValues('This service takes Bearer', ['Bearer sk-123456', 'sk-123456'])).toBe(
    'This service takes Bearer',
  );
});

test('of the query of an address what is named like a secret is one', () => {
  const url =
    'https://x.example/v1?api-version=2024-10-21&api_key=one&sig=two&Subscription-Key=three&monkey=4';
  expect(secretsInAddress(url)).toEqual(['one', 'two', 'three']);
});
