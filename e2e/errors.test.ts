import {
  callTools,
  hangUp,
  liveRuntime,
  providerOf,
  refuse,
  say,
  story,
  streamChunks,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const request = { 'x-request-id': 'req-1' };
const soon = { 'retry-after': '0' };
const lines = (events: Parameters<typeof story>[0]) =>
  story(events).filter((line) => /^(model|assistant\.(message|turn_end)|session\.(error|idle))/.test(line));

const refusals: readonly [number, Record<string, unknown>][] = [
  [400, { errorType: 'query', message: expect.stringContaining('400 stop'), statusCode: 400 }],
  [404, { errorType: 'query', message: expect.stringContaining('404 stop'), statusCode: 404 }],
  [402, { errorType: 'quota', message: expect.stringContaining('stop'), statusCode: 402 }],
  [403, { errorType: 'authorization', message: expect.any(String), statusCode: 403 }],
];

describe('a refusal that will not pass ends the turn after one call', () => {
  test.each(refusals)('%i', async (status, data) => {
    const { session, model } = await runtime.session([refuse(status, 'stop', request), say('better')]);
    const events = await session.turn('Hello');
    expect(lines(events)).toEqual([
      `model.call_failure~ ${status}`,
      'assistant.turn_end 0',
      expect.stringContaining('session.error'),
      'session.idle~',
    ]);
    const error = events.find(({ type }) => type === 'session.error');
    expect(error?.data).toMatchObject({ ...data, providerCallId: 'req-1' });
    expect(error?.ephemeral).toBeUndefined();
    expect(model.requests).toHaveLength(1);
    expect(lines(await session.turn('Again'))).toEqual([
      'assistant.message "better"',
      'assistant.turn_end 0',
      'session.idle~',
    ]);
  });
});

describe('a refusal that may pass is tried again', () => {
  test.each([429, 500, 503])('%i', async (status) => {
    const { session, model } = await runtime.session([refuse(status, 'later', soon), say('now')]);
    const events = await session.turn('Hello');
    expect(lines(events)).toEqual([
      `model.call_failure~ ${status}`,
      'assistant.message "now"',
      'assistant.turn_end 0',
      'session.idle~',
    ]);
    expect(model.requests).toHaveLength(2);
  });
});

test('a service that stays unavailable is given up after five more calls, and the error says so', async () => {
  const { session, model } = await runtime.session([...Array(6).fill(refuse(503, 'down', soon))]);
  const events = await session.turn('Hello');
  expect(lines(events)).toEqual([
    ...Array(6).fill('model.call_failure~ 503'),
    'assistant.turn_end 0',
    expect.stringMatching(
      /^session\.error query "Execution failed: Failed to get response from the AI model; retried 5 times \(total retry wait time: 0\.00 seconds\).*Last error: 503 down"$/,
    ),
    'session.idle~',
  ]);
  expect(model.requests).toHaveLength(6);
});

test('a service that asks to wait for days is not waited for', async () => {
  const { session, model } = await runtime.session([
    refuse(429, 'weekly limit', { 'retry-after': '172800' }),
  ]);
  const events = await session.turn('Hello');
  expect(lines(events).slice(-2)).toEqual([
    expect.stringContaining('session.error rate_limit'),
    'session.idle~',
  ]);
  expect(model.requests).toHaveLength(1);
});

test('a stream that breaks off is asked for again; what it had said belongs to no message', async () => {
  const { session } = await runtime.session([hangUp('half ', 'an an'), streamChunks('whole', ' answer')], {
    streaming: true,
  });
  const events = await session.turn('Hello');
  const deltas = events.flatMap(({ type, data }) =>
    type === 'assistant.message_delta' ? [data as { messageId: string; deltaContent: string }] : [],
  );
  const message = events.find(({ type }) => type === 'assistant.message')?.data as {
    messageId: string;
    content: string;
  };
  expect(message.content).toBe('whole answer');
  const own = deltas.filter(({ messageId }) => messageId === message.messageId);
  expect(own.map(({ deltaContent }) => deltaContent).join('')).toBe('whole answer');
});

test('an error in the middle of a tool turn leaves a history that the next turn can use', async () => {
  const tools = [{ name: 'look', skipPermission: true }];
  const look = callTools({ id: 'c1', name: 'look', arguments: {} });
  const { session, model } = await runtime.session([look, refuse(400, 'no'), say('fine')], { tools });
  await session.send('Look');
  const { data } = await session.next('external_tool.requested');
  await session.answerTool(data.requestId, { result: 'a tree' });
  await session.next('session.error');
  await session.next('session.idle');
  await session.turn('Again');
  expect(model.requests[2]?.body.messages.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'user',
  ]);
});

test('a prompt queued behind a turn that fails is answered, with one idle at the end', async () => {
  const { session } = await runtime.session([
    refuse(429, 'later', { 'retry-after': '0.2' }),
    refuse(400, 'no'),
    say('two'),
  ]);
  await session.send('First');
  await session.next('model.call_failure');
  await session.send('Second');
  await session.next('session.idle');
  expect(lines(session.events)).toEqual([
    'model.call_failure~ 429',
    'model.call_failure~ 400',
    'assistant.turn_end 0',
    expect.stringContaining('session.error query'),
    'assistant.message "two"',
    'assistant.turn_end 0',
    'session.idle~',
  ]);
});

test('an abort while the next try is waited for ends the turn at once', async () => {
  const { session, model } = await runtime.session([refuse(503, 'later', { 'retry-after': '30' })]);
  await session.send('Hello');
  await session.next('model.call_failure');
  await session.call('session.abort');
  expect(lines(await session.untilIdle())).toEqual(['assistant.turn_end 0', 'session.idle~ aborted']);
  expect(model.requests).toHaveLength(1);
});

/** Of the address, of the key, and of a header of the prompt. */
const secrets = ['word/of/address', 'key-of-the-tests', 'word-of-prompt'];

test.each([
  ['an error, its code and its ids', 401, secrets.join(' and ')],
  ['a text that is cut within one', 404, `${'x'.repeat(2040)}key-of-the-tests`],
  ['a text that is cut within one, behind blanks', 403, `No.${' '.repeat(4085)}key-of-the-tests`],
  ['an address', 404, '/chat/completions?api_key=word%2Fof%2Faddress&other=word/of/address'],
  ['what began as a success', 200, secrets.join(',')],
])(
  'what a service repeats of its secrets in %s reaches no client and no log',
  async (_where, status, message) => {
    const [code] = secrets;
    const body = JSON.stringify({ error: { message, code }, request_id: secrets[1] });
    const headers: Record<string, string> = status === 404 ? {} : { 'x-request-id': `id-${secrets[1]}` };
    const model = runtime.script({ type: 'status', status, body, headers });
    const { provider, ...chosen } = providerOf(model);
    const baseUrl = `${provider.baseUrl}?api_key=word/of/address`;
    const session = await runtime.client.create({ ...chosen, provider: { ...provider, baseUrl } });
    await session.turn('Hello', { requestHeaders: { 'x-team': 'word-of-prompt' } });
    const received = JSON.stringify([session.events, await session.stored()]);
    expect(received).toContain('session.error');
    const words = received.match(/.{0,20}(?:word.of.|key.of|word%2F).{0,40}/g);
    expect(words).toBeNull();
  },
);
