import { callTools, hold, liveRuntime, say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const failed = (method: string, detail: unknown) => ({
  code: -32603,
  message: `Request ${method} failed with message: ${detail}`,
});

describe('ids that could lead elsewhere are refused', () => {
  const ids = [
    '../up',
    'a/b',
    'a\\b',
    '..',
    '.',
    '',
    ' ',
    'a\u0000b',
    "x'; DROP TABLE session",
    'é',
    'x'.repeat(129),
  ];
  test.each(ids)('%j', async (sessionId) => {
    const detail = `Rejected session.create request with invalid sessionId: ${sessionId}`;
    expect(await runtime.client.failure('session.create', { sessionId })).toEqual(
      failed('session.create', detail),
    );
    expect(await runtime.client.failure('session.resume', { sessionId })).toMatchObject({ code: -32603 });
    expect(await runtime.client.call('session.delete', { sessionId })).toEqual({
      success: false,
      error: `Session file not found for ${sessionId}`,
    });
    expect(await runtime.client.call('session.getMetadata', { sessionId })).toEqual({});
  });
});

describe('what create refuses', () => {
  const tool = 'GenericFailure, externalToolDefinitions: tool name "bad name!" contains invalid characters.';
  const cases: readonly [string, object, unknown][] = [
    [
      'a bad directory',
      { workingDirectory: '/no/such' },
      'session construction failed: Directory does not exist or cannot be accessed: /no/such',
    ],
    ['an unknown agent', { agent: 'nope' }, "session construction failed: Custom agent 'nope' not found"],
    [
      'a provider without address',
      { provider: { type: 'openai' } },
      'Invalid provider configuration: missing field `baseUrl`',
    ],
    ['a bad tool name', { tools: [{ name: 'bad name!' }] }, `session construction failed: ${tool}`],
  ];
  test.each(cases)('%s', async (_name, params, detail) => {
    const error = await runtime.client.failure('session.create', params);
    expect(error).toEqual({
      code: -32603,
      message: expect.stringContaining(failed('session.create', detail).message),
    });
  });

  test('a field of the wrong type is named', async () => {
    expect(await runtime.client.failure('session.create', { streaming: 'yes' })).toEqual({
      code: -32602,
      message: expect.stringMatching(/^Request session\.create failed with message: streaming: /),
    });
  });
});

test('unknown fields and values pass, and null is the same as nothing', async () => {
  const { session, model } = await runtime.session([say('hi')], {
    reasoningEffort: 'enormous',
    toolFilterPrecedence: 'whatever',
    somethingNew: { deep: [1] },
    systemMessage: { mode: 'sideways', content: 'Be kind.' },
    mcpServers: { odd: { type: 'carrier-pigeon' } },
    customAgents: [{ name: 'helper' }],
    hooks: null,
    tools: null,
    streaming: null,
    workingDirectory: null,
  });
  await session.turn('Hello', { attachments: null, mode: null, agentMode: null, requestHeaders: null });
  expect(model.requests).toHaveLength(1);
  expect(await runtime.client.call('ping', { message: null })).toMatchObject({ message: 'pong' });
});

test('of what may be one of several things, the error says what each of them misses, and the question stays open', async () => {
  const tools = [{ name: 'look', skipPermission: true }];
  const look = callTools({ id: 'c1', name: 'look', arguments: {} });
  const { session } = await runtime.session([look, say('seen')], { tools });
  await session.send('Look');
  const { data } = await session.next('external_tool.requested');
  const { requestId } = data;
  const method = 'session.tools.handlePendingToolCall';
  expect(await session.failure(method, { requestId, result: { resultType: 'success' } })).toEqual({
    ...failed(
      method,
      'result: Invalid input: expected string, received object, or result.textResultForLlm: Invalid input: expected string, received undefined',
    ),
    code: -32602,
  });
  expect(await session.answerTool(requestId, { result: 'x' })).toEqual({ success: true });
  await session.next('session.idle');
});

test('a reason to abort that typed clients could not read is sent as one they know', async () => {
  const held = hold();
  const { session, model } = await runtime.session([held.reply]);
  await session.send('Work');
  await model.asked(1);
  await session.call('session.abort', { reason: 'bored' });
  expect((await session.next('abort')).data).toEqual({ reason: 'user_initiated' });
  held.release();
});

test('methods of a session that is not there say so', async () => {
  const sessionId = 'nowhere';
  const data = { code: 'session_not_found', retryable: false };
  const methods = [
    'session.send',
    'session.abort',
    'session.log',
    'session.name.get',
    'session.mode.get',
    'session.model.getCurrent',
    'session.plan.read',
    'session.workspaces.listFiles',
    'session.eventLog.tail',
    'session.metadata.snapshot',
    'session.queue.clear',
    'session.suspend',
  ];
  for (const method of methods) {
    const error = await runtime.client.failure(method, { sessionId, prompt: 'x', message: 'x' });
    expect(error).toEqual({ ...failed(method, 'Session not found for sessionId: nowhere'), data });
  }
  const { client } = runtime;
  expect(await client.failure('session.getMessages', { sessionId })).toEqual({
    ...failed('session.getMessages', 'Session not found: nowhere'),
    data,
  });
  expect(await client.failure('session.resume', { sessionId })).toEqual({
    ...failed('session.resume', 'Failed to load session events: Session not found: nowhere'),
    data,
  });
  expect(await client.call('session.destroy', { sessionId })).toEqual({ success: false });
  expect(await client.failure('session.resume', {})).toEqual(
    failed('session.resume', 'Missing sessionId parameter'),
  );
  expect(await client.failure('session.send', { prompt: 'x' })).toEqual(
    failed('session.send', 'Missing sessionId in session.send request'),
  );
  expect(await client.failure('session.frobnicate', {})).toEqual({
    code: -32601,
    message: 'Unhandled method session.frobnicate',
  });
  for (const name of ['toString', '__proto__', ''])
    expect(await client.failure(name, {})).toEqual({ code: -32601, message: `Unhandled method ${name}` });
});
