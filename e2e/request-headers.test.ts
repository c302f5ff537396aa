import { callTools, liveRuntime, refuse, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();

const own = { 'X-Team': 'blue', 'X-Desk': '1' };

/** Whether the client says `toolFilterPrecedence`, what strategy it names, and what becomes of the provider's headers. */
const cases: readonly [string, 'excluded' | null, 'override' | 'merge' | null, 'kept' | 'replaced'][] = [
  ['an old client without a strategy', null, null, 'replaced'],
  ['an old client that merges', null, 'merge', 'kept'],
  ['a new client without a strategy', 'excluded', null, 'kept'],
  ['a new client that overrides', 'excluded', 'override', 'replaced'],
  ['a new client that merges', 'excluded', 'merge', 'kept'],
];

test.each(cases)('of %s', async (_name, toolFilterPrecedence, headerMergeStrategy, outcome) => {
  const model = runtime.script(
    refuse(429, 'busy', { 'retry-after': '0' }),
    callTools({ id: 'c1', name: 'look', arguments: {} }),
    say('a'),
    say('b'),
  );
  const session = await runtime.client.create({
    toolFilterPrecedence,
    model: 'm-1',
    tools: [{ name: 'look', skipPermission: true }],
    provider: { baseUrl: model.baseUrl, apiKey: 'key-1', headers: own },
  });
  const requestHeaders = { 'x-team': 'red', 'X-Turn': '1' };
  await session.send('One', { requestHeaders, headerMergeStrategy });
  const { data } = await session.next('external_tool.requested');
  await session.answerTool(data.requestId, { result: 'x' });
  await session.next('session.idle');
  await session.turn('Two');
  const desk = outcome === 'kept' ? '1' : undefined;
  const names = ['authorization', 'x-team', 'x-desk', 'x-turn'] as const;
  expect(model.requests.map(({ headers }) => names.map((name) => headers[name]))).toEqual([
    ['Bearer key-1', 'red', desk, '1'],
    ['Bearer key-1', 'red', desk, '1'],
    ['Bearer key-1', 'red', desk, '1'],
    ['Bearer key-1', 'blue', '1', undefined],
  ]);
});

test('no strategy drops what a service knows its user by, or what its wire needs', async () => {
  const model = runtime.script(say('a'), say('b'));
  const session = await runtime.client.create({
    model: 'claude-sonnet-4-5',
    provider: {
      type: 'anthropic',
      baseUrl: model.baseUrl,
      headers: { 'X-Api-Key': 'key-by-header', 'X-Team': 'blue' },
    },
  });
  const requestHeaders = { 'x-api-key': 'stolen', 'anthropic-version': '1999', 'content-type': 'text/plain' };
  await session.turn('One', { requestHeaders, headerMergeStrategy: 'override' });
  await session.turn('Two', { requestHeaders, headerMergeStrategy: 'merge' });
  const names = ['x-api-key', 'anthropic-version', 'content-type', 'x-team'] as const;
  expect(model.requests.map(({ headers }) => names.map((name) => headers[name]))).toEqual([
    ['key-by-header', '2023-06-01', 'application/json', undefined],
    ['key-by-header', '2023-06-01', 'application/json', 'blue'],
  ]);
});

test('headers that replace all others may be none, and an unknown strategy is refused', async () => {
  const model = runtime.script(say('a'));
  const session = await runtime.client.create({
    model: 'm-1',
    provider: { baseUrl: model.baseUrl, apiKey: 'key-1', headers: own },
  });
  expect(
    await session.failure('session.send', { prompt: 'One', requestHeaders: {}, headerMergeStrategy: 'add' }),
  ).toMatchObject({ code: -32602, message: expect.stringContaining('headerMergeStrategy') });
  await session.turn('Two', { requestHeaders: {}, headerMergeStrategy: 'override' });
  expect(model.requests[0]?.headers).toMatchObject({ authorization: 'Bearer key-1' });
  expect(model.requests[0]?.headers).not.toHaveProperty('x-team');
});
