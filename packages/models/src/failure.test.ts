import { expect, test } from 'vitest';
import { bounded, failureInAnswer, httpFailure, retryAfterSeconds } from './failure.js';

test.each([
  [400, 'bad_request'],
  [401, 'auth'],
  [402, 'quota'],
  [403, 'auth'],
  [404, 'bad_request'],
  [408, 'timeout'],
  [413, 'context_too_long'],
  [422, 'bad_request'],
  [429, 'rate_limit'],
  [500, 'unavailable'],
  [504, 'timeout'],
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

const ofAnthropic = (type: string, message: string) =>
  JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_011' });
const ofOpenai = (code: string | null, message: string, type = 'invalid_request_error') =>
  JSON.stringify({ error: { message, type, param: null, code } });

test.each([
  // OpenAI
  [401, ofOpenai('invalid_api_key', 'Incorrect API key provided: sk-***.'), 'auth'],
  [429, ofOpenai('insufficient_quota', 'You exceeded your current quota', 'insufficient_quota'), 'quota'],
  [429, ofOpenai('rate_limit_exceeded', 'Rate limit reached: too many tokens', 'tokens'), 'rate_limit'],
  [
    400,
    ofOpenai('context_length_exceeded', 'Your input exceeds the context window of this model.'),
    'context_too_long',
  ],
  [400, ofOpenai('invalid_prompt', 'Invalid prompt: your prompt was flagged.'), 'refused'],
  [404, ofOpenai('model_not_found', 'The model `gpt-9` does not exist'), 'bad_request'],
  [500, ofOpenai(null, 'The server had an error', 'server_error'), 'unavailable'],
  // Anthropic
  [
    400,
    ofAnthropic('invalid_request_error', 'prompt is too long: 205000 tokens > 200000 maximum'),
    'context_too_long',
  ],
  [
    400,
    ofAnthropic('invalid_request_error', 'input length and `max_tokens` exceed context limit: 1 + 2 > 2'),
    'context_too_long',
  ],
  [
    400,
    ofAnthropic('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
    'quota',
  ],
  [400, ofAnthropic('invalid_request_error', 'messages: at least one message is required'), 'bad_request'],
  [401, ofAnthropic('authentication_error', 'invalid x-api-key'), 'auth'],
  [402, ofAnthropic('billing_error', 'no'), 'quota'],
  [403, ofAnthropic('permission_error', 'no'), 'auth'],
  [
    413,
    ofAnthropic('request_too_large', 'Request exceeds the maximum allowed number of bytes.'),
    'context_too_long',
  ],
  [429, ofAnthropic('rate_limit_error', 'This request would exceed your rate limit.'), 'rate_limit'],
  [504, ofAnthropic('timeout_error', 'timed out'), 'timeout'],
  [529, ofAnthropic('overloaded_error', 'Overloaded'), 'unavailable'],
  // Azure OpenAI
  [401, '{"statusCode":401,"message":"Access denied due to invalid subscription key"}', 'auth'],
  [
    400,
    '{"error":{"message":"filtered","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}',
    'refused',
  ],
  [
    404,
    '{"error":{"code":"DeploymentNotFound","message":"The API deployment does not exist"}}',
    'bad_request',
  ],
  [429, '{"error":{"code":"RateLimitReached","message":"Please retry after 6 seconds."}}', 'rate_limit'],
  // Others that speak as OpenAI does
  [
    400,
    '{"object":"error","message":"This model\'s maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}',
    'context_too_long',
  ],
  [
    400,
    '{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}',
    'context_too_long',
  ],
  [
    400,
    '{"error":{"message":"prompt token count of 140000 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}',
    'context_too_long',
  ],
  [402, '{"error":{"code":402,"message":"Insufficient credits"}}', 'quota'],
  [
    400,
    '[{"error":{"code":400,"message":"Unknown name \\"x\\"","status":"INVALID_ARGUMENT"}}]',
    'bad_request',
  ],
  [
    404,
    '{"error":{"message":"model \'x\' not found","type":"api_error","param":null,"code":null}}',
    'bad_request',
  ],
] as const)('%i %s is %s', (status, text, kind) => {
  expect(httpFailure({ status, text }).kind).toBe(kind);
});

test('the id a service writes into its failure is the id to ask about', () => {
  const text = ofAnthropic('api_error', 'Internal server error');
  expect(httpFailure({ status: 500, text })).toMatchObject({
    message: 'Internal server error',
    requestId: 'req_011',
  });
});

test.each([
  [{ type: 'overloaded_error', message: 'Overloaded' }, 'unavailable'],
  [{ type: 'api_error', message: 'Internal server error' }, 'unavailable'],
  [{ type: 'rate_limit_error', message: 'slow down' }, 'rate_limit'],
  [{ type: 'authentication_error', message: 'who?' }, 'auth'],
  [
    { type: 'invalid_request_error', message: 'prompt is too long: 2 tokens > 1 maximum' },
    'context_too_long',
  ],
  [{ type: 'timeout_error', message: 'too late' }, 'timeout'],
  [{ code: 'rate_limit_exceeded', message: 'slow down' }, 'rate_limit'],
  [{ code: 'server_error', message: 'sorry' }, 'unavailable'],
  [{ code: 'invalid_prompt', message: 'flagged' }, 'refused'],
  [{ code: 'image_content_policy_violation', message: 'no' }, 'refused'],
  [{ code: 'invalid_image', message: 'no image' }, 'bad_request'],
  [{ code: 429, message: 'slow down' }, 'rate_limit'],
  ['out of memory', 'unavailable'],
])('%j inside an answer is %s', (error, kind) => {
  expect(failureInAnswer(error).kind).toBe(kind);
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
  expect(retryAfterSeconds('2026-01-01T00:00:30Z', now)).toBe(30);
  expect(retryAfterSeconds('Thursday, 01-Jan-26 00:00:09 GMT', now)).toBe(9);
  // The system reads a year in each of these.
  for (const nonsense of ['soon', '-1', 'in 5', '5 s', '', ' ', 'x'.repeat(9_000)])
    expect(retryAfterSeconds(nonsense, now)).toBeUndefined();
  expect(retryAfterSeconds(undefined, now)).toBeUndefined();
});
