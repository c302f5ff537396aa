import { liveRuntime, providerOf, say, story } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();

const models = [
  { id: 'sonnet', provider: 'alpha', wireModel: 'wire-sonnet', maxOutputTokens: 77, name: 'Our Sonnet' },
  { id: 'plain', provider: 'alpha' },
  { id: 'opus', provider: 'beta', wireModel: 'claude-opus-4-5', modelId: 'claude-opus-4-5' },
];

function registry() {
  const alpha = runtime.script(say('from alpha'), say('alpha again'));
  const beta = runtime.script(say('from beta'));
  const providers = [
    { name: 'alpha', baseUrl: alpha.baseUrl, apiKey: 'alpha-key', headers: { 'X-Provider': 'alpha' } },
    { name: 'beta', type: 'anthropic', baseUrl: beta.baseUrl, apiKey: 'beta-key' },
  ];
  return { alpha, beta, providers };
}

test('each model is called at its own service, under the name it has there, with one history', async () => {
  const { alpha, beta, providers } = registry();
  const session = await runtime.client.create({ model: 'alpha/sonnet', providers, models });
  await session.turn('One');
  await session.call('session.model.switchTo', { modelId: 'beta/opus' });
  await session.turn('Two');
  await session.call('session.model.switchTo', { modelId: 'alpha/plain' });
  const events = await session.turn('Three');
  expect(alpha.requests).toMatchObject([
    {
      path: '/chat/completions',
      headers: { authorization: 'Bearer alpha-key', 'x-provider': 'alpha' },
      body: { model: 'wire-sonnet', max_tokens: 77 },
    },
    { headers: { authorization: 'Bearer alpha-key' }, body: { model: 'plain' } },
  ]);
  expect(beta.requests).toMatchObject([
    { path: '/v1/messages', headers: { 'x-api-key': 'beta-key' }, body: { model: 'claude-opus-4-5' } },
  ]);
  expect(JSON.stringify(alpha.requests[1]?.body.messages)).toContain('from beta');
  expect(story(events).some((line) => line.startsWith('session.error'))).toBe(false);
});

test('a session that names no model begins with the first one there is', async () => {
  const { alpha, providers } = registry();
  const session = await runtime.client.create({ providers, models });
  const events = await session.turn('One');
  expect(alpha.requests[0]?.body.model).toBe('wire-sonnet');
  expect(story(events)).toContain('session.model_change alpha/sonnet startup');
});

test('services and models can be added, replaced, listed and changed while a session lives', async () => {
  const { session } = await runtime.session([say('own')]);
  const { alpha, providers } = registry();
  const added = await session.call<{ models: object[] }>('session.provider.add', {
    providers,
    models: models.slice(0, 1),
  });
  expect(added.models).toMatchObject([
    { id: 'alpha/sonnet', name: 'Our Sonnet', capabilities: { limits: { max_output_tokens: 77 } } },
  ]);
  const { list } = await session.call<{ list: { id: string }[] }>('session.model.list');
  expect(list.map(({ id }) => id)).toEqual(['first-model', 'second-model', 'alpha/sonnet']);
  await session.turn('One');
  await session.call('session.model.switchTo', { modelId: 'alpha/sonnet' });
  await session.call('session.provider.update', { provider: { providerName: 'alpha', apiKey: 'alpha-2' } });
  await session.turn('Two');
  await session.call('session.provider.add', { models: [{ ...models[0], wireModel: 'wire-2' }] });
  await session.turn('Three');
  expect(alpha.requests.map(({ headers, body }) => [headers.authorization, body.model])).toEqual([
    ['Bearer alpha-2', 'wire-sonnet'],
    ['Bearer alpha-2', 'wire-2'],
  ]);
});

test.each([
  [
    { models: [{ id: 'x', provider: 'nobody' }] },
    'The model "x" names a provider "nobody" that the session does not have',
  ],
  [{ providers: [{ name: 'a/b', baseUrl: 'http://x.test' }] }, '"a/b" is no name for a provider'],
  [{ providers: [{ name: 'a' }] }, 'Invalid configuration of the provider "a": missing field `baseUrl`'],
  [
    {
      providers: [
        { name: 'a', baseUrl: 'http://x.test' },
        { name: 'a', baseUrl: 'http://y.test' },
      ],
    },
    'The provider "a" is named twice',
  ],
  [
    {
      providers: [{ name: 'a', baseUrl: 'http://x.test', headers: { 'x y': '1' } }],
      models: [{ id: 'x', provider: 'a' }],
    },
    '"x y" is no name for a header',
  ],
])('%j cannot be put together, whether at the beginning or later', async (wrong, reason) => {
  const { session } = await runtime.session([]);
  const message = expect.stringContaining(reason);
  expect(await session.failure('session.provider.add', wrong)).toMatchObject({ code: -32603, message });
  expect(await runtime.client.failure('session.create', wrong)).toMatchObject({ code: -32603, message });
});

test('a model that its provider does not have is not available', async () => {
  const { providers } = registry();
  expect(
    await runtime.client.failure('session.create', { model: 'alpha/none', providers, models }),
  ).toMatchObject({
    code: -32603,
    message: expect.stringContaining(
      'Model "alpha/none" is not available: the provider "alpha" has alpha/sonnet, alpha/plain.',
    ),
  });
});

test('a provider of the name that the only one has is distinguished from it, or refused beside it', async () => {
  const model = runtime.script(say('a'));
  const named = {
    model: 'default/m',
    providers: [{ name: 'default', baseUrl: model.baseUrl, apiKey: 'old' }],
    models: [{ id: 'm', provider: 'default' }],
  };
  const session = await runtime.client.create(named);
  await session.call('session.provider.update', { provider: { providerName: 'default', apiKey: 'new' } });
  await session.turn('One');
  expect(model.requests[0]?.headers.authorization).toBe('Bearer new');
  const { provider } = providerOf(model);
  expect(await runtime.client.failure('session.create', { ...named, provider })).toMatchObject({
    message: expect.stringContaining('"default" is the name of the session\'s own provider'),
  });
});

test('after a cold resume the services are needed again, and the error names the one that is missing', async () => {
  const { alpha, providers } = registry();
  const session = await runtime.client.create({ model: 'alpha/sonnet', providers, models });
  await session.turn('One');
  await session.call('session.destroy');
  const again = await runtime.client.resume(session.sessionId);
  const events = await again.turn('Two');
  expect(events.find(({ type }) => type === 'session.error')?.data).toMatchObject({
    errorType: 'configuration',
    message:
      'The model alpha/sonnet is of the provider "alpha", and keys are not stored: give the providers and models again on session.resume.',
  });
  const whole = await runtime.client.resume(session.sessionId, { providers, models });
  await whole.turn('Three');
  expect(alpha.requests).toHaveLength(2);
});

test('any client of a session may ask where its models are called', async () => {
  const { providers } = registry();
  const headers = { 'X-Custom': 'yes', 'X-Home': `\${HOME:-none}` };
  const provider = { baseUrl: 'https://api.example.test/v1', apiKey: 'k', headers };
  const session = await runtime.client.create({ provider, providers, models });
  const endpoint = (params: object) => session.call('session.provider.getEndpoint', params);
  expect(await endpoint({})).toEqual({
    type: 'openai',
    wireApi: 'completions',
    baseUrl: 'https://api.example.test/v1',
    apiKey: 'k',
    headers: { 'X-Custom': 'yes', 'X-Home': expect.not.stringContaining('$') },
  });
  expect(await endpoint({ modelId: 'beta/opus' })).toEqual({
    type: 'anthropic',
    baseUrl: providers[1]?.baseUrl,
    apiKey: 'beta-key',
    headers: { 'Anthropic-Version': '2023-06-01' },
  });
  await session.call('session.provider.update', { provider: { bearerToken: 't' } });
  expect(await endpoint({})).toMatchObject({ headers: { Authorization: 'Bearer t' } });
  const embedded = await runtime.client.create();
  expect(await embedded.failure('session.provider.getEndpoint')).toMatchObject({
    message: expect.stringContaining('is embedded: it has no address'),
  });
});

test('a model chosen later goes by its own name, and one resumed with its service by the one given then', async () => {
  const model = runtime.script(say('a'), say('b'), say('c'), say('d'));
  const provider = { ...providerOf(model).provider, wireModel: 'wire-1' };
  const session = await runtime.client.create({ model: 'm-1', provider });
  await session.turn('One');
  await session.call('session.model.switchTo', { modelId: 'm-2' });
  await session.turn('Two');
  await runtime.client.resume(session.sessionId, { model: 'm-3' });
  await session.turn('Three');
  await runtime.client.resume(session.sessionId, { provider: { ...provider, wireModel: 'wire-4' } });
  await session.turn('Four');
  expect(model.requests.map(({ body }) => body.model)).toEqual(['wire-1', 'm-2', 'm-3', 'wire-4']);
  expect(model.requests[3]?.body.messages).toHaveLength(8);
});

test('the agents that clients bring are listed with their models', async () => {
  const { session } = await runtime.session([], {
    customAgents: [
      { name: 'planner', description: 'Plans.', prompt: 'Plan.', model: 'alpha/sonnet', tools: ['view'] },
      { name: 'helper', displayName: 'Helper', prompt: 'Help.' },
    ],
  });
  expect(await session.call('session.agent.list')).toEqual({
    agents: [
      {
        id: 'planner',
        name: 'planner',
        displayName: 'planner',
        description: 'Plans.',
        model: 'alpha/sonnet',
        tools: ['view'],
      },
      { id: 'helper', name: 'helper', displayName: 'Helper', description: '' },
    ],
  });
});
