import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hold, liveRuntime, providerOf, say, story } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const failed = (method: string, detail: unknown) => ({
  code: -32603,
  message: `Request ${method} failed with message: ${detail}`,
});
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test('a session without an id gets a UUID and a workspace', async () => {
  const opened = await runtime.client.call<Record<string, string>>('session.create', {});
  expect(opened).toEqual({
    sessionId: expect.stringMatching(uuid),
    nativeSessionId: opened.sessionId,
    startTime: expect.stringMatching(/^\d{4}-.*Z$/),
    isRemote: false,
    mode: 'interactive',
    workspacePath: join(runtime.home.path, 'session-state', opened.sessionId ?? ''),
    capabilities: { ui: { elicitation: false, mcpApps: false, canvases: false }, extensions: false },
  });
  expect(existsSync(opened.workspacePath ?? '')).toBe(true);
});

test('a proposed id is echoed, and creating it again gives the live session', async () => {
  const { session } = await runtime.session([say('hi')], { sessionId: 'proposed-1' });
  expect(session.sessionId).toBe('proposed-1');
  await session.turn('Hello');
  const again = await runtime.client.call('session.create', { sessionId: 'proposed-1' });
  expect(again).toMatchObject({ sessionId: 'proposed-1' });
  expect((await session.stored()).filter(({ type }) => type === 'session.start')).toHaveLength(1);
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

test('a session that was spoken in is listed, found, resumed and deleted', async () => {
  const { session } = await runtime.session([say('hi')], { sessionId: 'listed-1', clientName: 'tester' });
  await session.turn('What is up?');
  const meta = {
    sessionId: 'listed-1',
    startTime: expect.any(String),
    modifiedTime: expect.any(String),
    isRemote: false,
    isDetached: false,
    summary: 'What is up?',
    name: 'What is up?',
    clientName: 'tester',
    context: { cwd: runtime.workingDirectory },
  };
  const { client } = runtime;
  expect(await client.call('session.getMetadata', { sessionId: 'listed-1' })).toEqual({ session: meta });
  expect(await client.call('session.getLastId', {})).toEqual({ sessionId: 'listed-1' });
  const { sessions } = await client.call<{ sessions: unknown[] }>('session.list', {});
  expect(sessions[0]).toEqual(meta);
  const list = async (filter: object) =>
    (await client.call<{ sessions: { sessionId: string }[] }>('session.list', { filter })).sessions.map(
      (each) => each.sessionId,
    );
  expect(await list({ cwd: runtime.workingDirectory, branch: null })).toContain('listed-1');
  expect(await list({ cwd: '/elsewhere' })).toEqual([]);
  expect(await list({ repository: 'a/b' })).toEqual([]);
  expect(await session.call('session.destroy')).toEqual({ success: true });
  expect(await session.call('session.destroy')).toEqual({ success: false });
  const resumed = await client.resume('listed-1');
  const { data } = await resumed.next('session.resume');
  expect(data).toMatchObject({
    sessionWasActive: false,
    alreadyInUse: false,
    context: { cwd: runtime.workingDirectory },
  });
  expect(story(await resumed.stored()).slice(-2)).toEqual(['session.shutdown routine', 'session.resume']);
  expect(await resumed.call('session.delete')).toEqual({ success: true });
  await client.until(
    () => client.frames.find((frame) => frame.type === 'lifecycle' && frame.kind === 'session.deleted'),
    'session.deleted',
  );
  expect(existsSync(join(runtime.home.path, 'session-state', 'listed-1'))).toBe(false);
  expect(await client.call('session.getMetadata', { sessionId: 'listed-1' })).toEqual({});
  expect(await client.call('session.delete', { sessionId: 'listed-1' })).toEqual({
    success: false,
    error: 'Session file not found for listed-1',
  });
});

test('a session nobody spoke in is not listed and is gone after destroy', async () => {
  const session = await runtime.client.create({ sessionId: 'silent-1' });
  const { sessions } = await runtime.client.call<{ sessions: { sessionId: string }[] }>('session.list', {});
  expect(sessions.map(({ sessionId }) => sessionId)).not.toContain('silent-1');
  await session.call('session.destroy');
  expect(await session.failure('session.resume')).toMatchObject({ data: { code: 'session_not_found' } });
});

test('a silent resume leaves no trace', async () => {
  const { session, model } = await runtime.session([say('hi')]);
  await session.turn('Hello');
  await session.call('session.destroy');
  const before = session.events.length;
  const resumed = await runtime.client.resume(session.sessionId, {
    disableResume: true,
    ...providerOf(model),
  });
  expect(story(await resumed.stored()).at(-1)).toBe('session.shutdown routine');
  expect(resumed.events.length).toBe(before);
});

test('a session that is deleted in the middle of a turn is gone', async () => {
  const held = hold();
  const { session, model } = await runtime.session([held.reply]);
  await session.send('Wait');
  await model.asked(1);
  expect(await session.call('session.delete')).toEqual({ success: true });
  expect(await session.failure('session.getMessages')).toMatchObject({ data: { code: 'session_not_found' } });
  expect(await session.failure('session.resume')).toMatchObject({ data: { code: 'session_not_found' } });
  held.release();
});

test('without a terminal there is no foreground session', async () => {
  expect(await runtime.client.call('session.getForeground', {})).toEqual({});
  expect(await runtime.client.call('session.setForeground', { sessionId: 'x' })).toEqual({
    success: false,
    error: 'Not running in TUI+server mode - no foreground session change handler registered',
  });
});
