import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, providerOf, type ScriptedModel, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();

const sent = (model: ScriptedModel, ...names: readonly string[]) =>
  model.requests.map(({ headers }) => names.map((name) => headers[name]));

test('an update keeps what it leaves out and counts from the next model call, in the middle of a turn', async () => {
  const model = runtime.script(callTools({ id: 'c1', name: 'look', arguments: {} }), say('a'), say('b'));
  const session = await runtime.client.create({
    model: 'm-1',
    tools: [{ name: 'look', skipPermission: true }],
    provider: {
      baseUrl: model.baseUrl,
      apiKey: 'key-1',
      headers: { 'X-Team': 'blue' },
      wireModel: 'wire-1',
    },
  });
  await session.send('One');
  const { data } = await session.next('external_tool.requested');
  expect(
    await session.call('session.provider.update', { provider: { apiKey: 'key-2', type: null } }),
  ).toEqual({
    success: true,
  });
  await session.answerTool(data.requestId, { result: 'x' });
  await session.next('session.idle');
  await session.call('session.provider.update', {
    provider: { headers: { 'X-Team': 'red', 'X-Desk': '1' } },
  });
  await session.turn('Two');
  expect(sent(model, 'authorization', 'x-team', 'x-desk')).toEqual([
    ['Bearer key-1', 'blue', undefined],
    ['Bearer key-2', 'blue', undefined],
    ['Bearer key-2', 'red', '1'],
  ]);
  expect(model.requests.map(({ body }) => body.model)).toEqual(['wire-1', 'wire-1', 'wire-1']);
});

test('one sort of authentication takes the place of another', async () => {
  const { session, model } = await runtime.session([say('a'), say('b'), say('c')]);
  await session.turn('One');
  await session.call('session.provider.update', { provider: { bearerToken: 'token-1' } });
  await session.turn('Two');
  await session.call('session.provider.update', { provider: { apiKey: 'key-3' } });
  await session.turn('Three');
  expect(sent(model, 'authorization').flat()).toEqual([
    'Bearer key-of-the-tests',
    'Bearer token-1',
    'Bearer key-3',
  ]);
});

test('a session moves to another service, of another kind, with its history', async () => {
  const { session } = await runtime.session([say('It is four.')]);
  const other = runtime.script(say('Five.'));
  await session.turn('What is 2+2?');
  const provider = {
    type: 'anthropic',
    baseUrl: other.baseUrl,
    apiKey: 'other-key',
    wireModel: 'claude-sonnet-4-5',
  };
  await session.call('session.provider.update', { provider });
  await session.turn('And one more?');
  expect(other.requests[0]).toMatchObject({
    path: '/v1/messages',
    headers: { 'x-api-key': 'other-key' },
    body: { model: 'claude-sonnet-4-5' },
  });
  expect(JSON.stringify(other.requests[0]?.body.messages)).toContain('It is four.');
});

test('updates made at once all hold', async () => {
  const { session, model } = await runtime.session([say('a')]);
  await Promise.all([
    session.call('session.provider.update', { provider: { apiKey: 'key-9' } }),
    session.call('session.provider.update', { provider: { headers: { 'X-Team': 'green' } } }),
    session.call('session.provider.update', { provider: { wireModel: 'wire-9' } }),
  ]);
  await session.turn('One');
  expect(sent(model, 'authorization', 'x-team')).toEqual([['Bearer key-9', 'green']]);
  expect(model.requests[0]?.body.model).toBe('wire-9');
});

test.each([
  [{ headers: { 'bad name': 'x' } }, '"bad name" is no name for a header'],
  [{ baseUrl: 'ftp://x' }, 'The baseUrl of the provider has to be an http or https address'],
  [{ apiKey: 'a\nb' }, 'The value of the header authorization has characters that cannot be sent'],
  [{ providerName: 'alpha' }, 'The session has no provider named "alpha"'],
])('an update to %j is refused and changes nothing', async (provider, reason) => {
  const { session, model } = await runtime.session([say('a')]);
  expect(await session.failure('session.provider.update', { provider })).toMatchObject({
    code: -32603,
    message: `Request session.provider.update failed with message: ${reason}`,
  });
  await session.turn('One');
  expect(sent(model, 'authorization')).toEqual([['Bearer key-of-the-tests']]);
});

test('nothing of an update reaches the store', async () => {
  const { session } = await runtime.session([say('a')]);
  await session.call('session.provider.update', {
    provider: { apiKey: 'never-stored-1', headers: { 'X-Never': 'never-stored-2' } },
  });
  await session.turn('One');
  const files = ['groundcrew.db', 'groundcrew.db-wal'].map((name) =>
    readFileSync(join(runtime.home.path, name), 'latin1'),
  );
  expect(files.join('')).not.toContain('never-stored');
  expect(JSON.stringify(await session.stored())).not.toContain('never-stored');
});

test('after a cold resume a partial update is refused in plain words, and a whole one is enough', async () => {
  const { session, model } = await runtime.session([say('a'), say('b')]);
  await session.turn('One');
  await session.call('session.destroy');
  const again = await runtime.client.resume(session.sessionId);
  expect(await again.failure('session.provider.update', { provider: { apiKey: 'key-2' } })).toMatchObject({
    message: expect.stringContaining('keys are not stored: give the provider again on session.resume'),
  });
  await again.call('session.provider.update', {
    provider: { ...providerOf(model).provider, apiKey: 'key-2' },
  });
  await again.turn('Two');
  expect(sent(model, 'authorization').at(-1)).toEqual(['Bearer key-2']);
});

test('a session that has no service of its own may change those of the Copilot API, and needs an address where there is none', async () => {
  const model = runtime.script(say('a'), say('b'));
  const process = runtime.spawn({
    flags: ['--stdio', '--auth-token-env', 'MY_TOKEN'],
    environment: { COPILOT_API_URL: model.baseUrl, MY_TOKEN: 'gho_1' },
  });
  const client = await runtime.connect(process);
  const session = await client.create();
  await session.call('session.provider.update', { provider: { headers: { 'X-Team': 'blue' } } });
  await session.turn('One');
  await session.call('session.provider.update', { provider: { bearerToken: 'gho_2' } });
  await session.turn('Two');
  expect(sent(model, 'authorization', 'x-team')).toEqual([
    ['Bearer gho_1', 'blue'],
    ['Bearer gho_2', 'blue'],
  ]);
  const embedded = await runtime.client.create();
  expect(await embedded.failure('session.provider.update', { provider: { apiKey: 'k' } })).toMatchObject({
    message: expect.stringContaining('The session has no model service whose settings could be changed'),
  });
});
