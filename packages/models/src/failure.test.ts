import { expect, test } from 'vitest';
import { bounded, httpFailure, retryAfterSeconds } from './failure.js';

test.each([
  [400, 'bad_request'],
  [401, 'auth'],
  [402, 'quota'],
  [403, 'auth'],
  [404, 'bad_request'],
  [408, 'unavailable'],
  [413, 'too_large'],
  [422, 'bad_request'],
  [429, 'rate_limit'],
  [500, 'unavailable'],
  [529, 'unavailable'],
])('status %i is %s', (status, kind) => {
  expect(httpFailure({ status, text: 'x' })).toMatchObject({ kind, statusCode: status, message: 'x' });
});

test.each([
  ['{"error":{"message":"no such model","code":"model_not_found"}}', 'no such model', 'model_not_found'],
  ['{"error":{"message":"wrong","code":17}}', 'wrong', '17'],
  ['{"error":"plain words"}', 'plain words', undefined],
  ['{"message":"Bad credentials"}', 'Bad credentials', undefined],
  ['{"detail":"Not authenticated"}', 'Not authenticated', undefined],
  ['quota\n', 'quota', undefined],
  ['', 'Bad Request', undefined],
  ['<html><title>Oops</title></html>', 'Bad Request', undefined],
  ['{"unknown":true}', '{"unknown":true}', undefined],
])('the body %j explains itself', (text, message, code) => {
  expect(httpFailure({ status: 400, text })).toMatchObject({ message, code });
});

test('a limit that waiting does not lift is a quota', () => {
  const text = '{"error":{"message":"Check your plan","code":"insufficient_quota"}}';
  expect(httpFailure({ status: 429, text })).toMatchObject({ kind: 'quota', message: 'Check your plan' });
});

test('a message is one line of at most two kilobytes', () => {
  expect(bounded(' a\u0000\n\tb ')).toBe('a b');
  expect(bounded('x'.repeat(5000))).toBe(`${'x'.repeat(2047)}…`);
});

test('Retry-After is seconds or a date', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(retryAfterSeconds('7', now)).toBe(7);
  expect(retryAfterSeconds('Thu, 01 Jan 2026 00:01:30 GMT', now)).toBe(90);
  expect(retryAfterSeconds('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
  expect(retryAfterSeconds('soon', now)).toBeUndefined();
  expect(retryAfterSeconds(undefined, now)).toBeUndefined();
});
