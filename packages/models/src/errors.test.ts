import { expect, test } from 'vitest';
import { describeFailure, ModelError, type ModelErrorDetails, type ModelErrorKind } from './errors.js';

const describe = (kind: ModelErrorKind, message: string, details?: ModelErrorDetails) =>
  describeFailure(new ModelError(kind, message, details));

test('a failure has its status and the id to ask about', () => {
  expect(describe('bad_request', 'bad req', { statusCode: 400, requestId: 'req-1' })).toBe(
    '400 bad req (Request ID: req-1)',
  );
  expect(describe('bad_request', 'stop', { statusCode: 400 })).toBe('400 stop');
  expect(describe('configuration', 'no key')).toBe('no key');
});

test('authorization and quota have words of their own', () => {
  expect(describe('auth', 'bad token', { statusCode: 403, requestId: 'r' })).toBe(
    'bad token (Request ID: r)',
  );
  expect(describe('auth', 'bad token', { statusCode: 401, retries: 2 })).toBe('bad token');
  expect(describe('quota', 'quota', { statusCode: 402, requestId: 'r' })).toBe('quota (Request ID: r)');
});

test('a failure after retries says how often and how long', () => {
  const retried = { retries: 5, totalRetryWaitSeconds: 6 };
  expect(describe('context_too_long', 'big', { statusCode: 413, requestId: 'req-1', ...retried })).toBe(
    'Failed to get response from the AI model; retried 5 times (total retry wait time: 6.00 seconds) (Request-ID req-1) Last error: 413 big',
  );
  expect(describe('unavailable', 'socket hang up', { ...retried, totalRetryWaitSeconds: 32.514 })).toBe(
    'Failed to get response from the AI model; retried 5 times (total retry wait time: 32.51 seconds) Last error: socket hang up',
  );
});

test('a rate limit the service names says when it ends', () => {
  const weekly = { statusCode: 429, code: 'user_weekly_rate_limited', retryAfter: 93_784 };
  expect(describe('rate_limit', 'x', weekly)).toBe(
    "You've reached your weekly rate limit. Please wait for your limit to reset in 1 day 2 hours or switch to auto mode to continue.",
  );
  expect(describe('rate_limit', 'x', { code: 'rate_limited' })).toBe(
    "You've reached your rate limit. Please wait for your limit to reset or switch to auto mode to continue.",
  );
  expect(describe('rate_limit', 'slow down', { statusCode: 429 })).toBe('429 slow down');
});
