import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime, providerOf, type ScriptedModel, say, temporaryDirectory } from '@groundcrew/testkit';
import { afterAll, describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const homes: ReturnType<typeof temporaryDirectory>[] = [];

afterAll(() => {
  for (const home of homes) home.remove();
});

/** A client of a runtime as clients start it, with this environment and these settings of the home. */
async function clientWith(environment: Record<string, string>, settings?: object | string) {
  const home = temporaryDirectory();
  homes.push(home);
  const text = typeof settings === 'string' ? settings : JSON.stringify(settings);
  if (settings !== undefined) writeFileSync(join(home.path, 'config.json'), text, { mode: 0o600 });
  return runtime.connect(runtime.spawn({ flags: ['--stdio'], environment, home: home.path }));
}

const asked = ({ requests }: ScriptedModel) => requests.map(({ path, body }) => `${path} ${body.model}`);

describe('a session that brings no service is answered by', () => {
  test('that of the settings, before any key of the environment', async () => {
    const [own, other] = [runtime.script(say('own')), runtime.script()];
    const client = await clientWith(
      { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: other.baseUrl },
      { model: 'ours', provider: { baseUrl: own.baseUrl } },
    );
    await (await client.create()).turn('Hello');
    expect([asked(own), asked(other)]).toEqual([['/chat/completions ours'], []]);
  });

  test('its own service, before that of the settings', async () => {
    const [own, other] = [runtime.script(say('own')), runtime.script()];
    const client = await clientWith({}, { provider: { baseUrl: other.baseUrl } });
    await (await client.create(providerOf(own))).turn('Hello');
    expect([asked(own), asked(other)]).toEqual([['/chat/completions scripted'], []]);
  });

  test.each([
    ['GROUNDCREW_MODEL', { GROUNDCREW_MODEL: 'of-the-settings' }, undefined],
    ['config.json', {}, { model: 'of-the-settings' }],
  ])('the model that %s names, before that of the service', async (_place, environment, settings) => {
    const model = runtime.script(say('hi'));
    const key = { OPENAI_API_KEY: 'key-1', OPENAI_BASE_URL: model.baseUrl };
    const client = await clientWith({ ...key, ...environment }, settings);
    await (await client.create()).turn('Hello');
    expect(asked(model)).toEqual(['/chat/completions of-the-settings']);
  });

  test('OpenAI, by its key', async () => {
    const model = runtime.script(say('hi'));
    const client = await clientWith({ OPENAI_API_KEY: 'key-1', OPENAI_BASE_URL: model.baseUrl });
    await (await client.create()).turn('Hello');
    expect([asked(model), model.requests[0]?.headers.authorization]).toEqual([
      ['/chat/completions gpt-4.1'],
      'Bearer key-1',
    ]);
  });

  test('Anthropic, by its key and in its own tongue', async () => {
    const model = runtime.script(say('hi'));
    const client = await clientWith({ ANTHROPIC_API_KEY: 'key-1', ANTHROPIC_BASE_URL: model.baseUrl });
    await (await client.create()).turn('Hello');
    expect([asked(model), model.requests[0]?.headers['x-api-key']]).toEqual([
      ['/v1/messages claude-sonnet-4-5'],
      'key-1',
    ]);
  });

  test('Azure, at its deployment', async () => {
    const model = runtime.script(say('hi'));
    const client = await clientWith({
      AZURE_OPENAI_API_KEY: 'key-1',
      AZURE_OPENAI_ENDPOINT: model.baseUrl,
      AZURE_OPENAI_DEPLOYMENT: 'mine',
      AZURE_OPENAI_API_VERSION: '2025-01-01',
    });
    await (await client.create()).turn('Hello');
    expect([asked(model), model.requests[0]?.headers['api-key']]).toEqual([
      ['/openai/deployments/mine/chat/completions?api-version=2025-01-01 mine'],
      'key-1',
    ]);
  });

  test('Ollama, whose first model is called when the session names none', async () => {
    const model = runtime.script(say('hi'));
    const client = await clientWith({ OLLAMA_HOST: model.baseUrl });
    await (await client.create()).turn('Hello');
    expect([asked(model), model.listings]).toEqual([['/v1/chat/completions first-model'], 1]);
  });

  test('the Copilot API after those, unless a client shows a token of its own', async () => {
    const [openai, copilot] = [runtime.script(say('a')), runtime.script(say('b'))];
    const keys = { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: openai.baseUrl };
    const client = await clientWith({ ...keys, COPILOT_API_URL: copilot.baseUrl, GH_TOKEN: 'token' });
    await (await client.create()).turn('Hello');
    await (await client.create({ gitHubToken: 'another' })).turn('Hello');
    expect([asked(openai), asked(copilot)]).toEqual([
      ['/chat/completions gpt-4.1'],
      ['/chat/completions first-model'],
    ]);
  });

  test('the offline model when nothing is named, or when it is asked for', async () => {
    const model = runtime.script();
    const [bare, rich] = [await clientWith({}), await clientWith({ OLLAMA_HOST: model.baseUrl })];
    for (const session of [await bare.create(), await rich.create({ model: 'offline' })]) {
      const usage = (await session.turn('Hello')).find(({ type }) => type === 'assistant.usage');
      expect(usage?.data).toMatchObject({ model: 'offline', cost: 0 });
    }
    expect(asked(model)).toEqual([]);
  });
});

describe('with several keys, a model is asked of', () => {
  test('the service that certainly has it, and the first for one that none is known to have', async () => {
    const { client, openai, anthropic } = await clientOfTwo();
    for (const model of ['gpt-5-mini', 'claude-opus-4-5', 'unheard-of'])
      await (await client.create({ model })).turn('Hello');
    expect([asked(openai), asked(anthropic)]).toEqual([
      ['/chat/completions gpt-5-mini', '/chat/completions unheard-of'],
      ['/v1/messages claude-opus-4-5'],
    ]);
  });
});

test('a session may change to a model of another service, and back', async () => {
  const { client, openai, anthropic } = await clientOfTwo();
  const session = await client.create({ model: 'gpt-5-mini' });
  await session.turn('One');
  for (const modelId of ['claude-opus-4-5', 'offline', 'gpt-5-mini']) {
    await session.call('session.model.switchTo', { modelId });
    await session.turn('Again');
  }
  expect([asked(openai), asked(anthropic)]).toEqual([
    ['/chat/completions gpt-5-mini', '/chat/completions gpt-5-mini'],
    ['/v1/messages claude-opus-4-5'],
  ]);
  expect(openai.requests[1]?.body.messages.map(({ role }) => role)).toEqual([
    'system',
    ...Array.from({ length: 3 }, () => ['user', 'assistant']).flat(),
    'user',
  ]);
});

test('a session that began without any service goes on with the model of the one it is given', async () => {
  const model = runtime.script(say('a'), say('b'));
  const client = await clientWith({});
  const session = await client.create();
  await session.turn('One');
  await session.call('session.provider.update', { provider: { baseUrl: model.baseUrl, modelId: 'given' } });
  await session.turn('Two');
  await client.resume(session.sessionId, { provider: { baseUrl: model.baseUrl } });
  await session.turn('Three');
  expect(asked(model)).toEqual(['/chat/completions given', '/chat/completions claude-sonnet-4']);
});

test('settings that cannot be read fail the sessions that depend on them, and no others', async () => {
  const model = runtime.script(say('hi'));
  const client = await clientWith({}, '{ "provider": { "apiKey": "hush" } }');
  expect(await client.failure('session.create', {})).toMatchObject({
    message: expect.stringMatching(/config\.json: provider\.baseUrl: missing$/),
  });
  await (await client.create(providerOf(model))).turn('Hello');
});

test('a file of another program under that name is left alone', async () => {
  const client = await clientWith({}, '// kept by another program\n{ "theme": "dark" }');
  const events = await (await client.create()).turn('Hello');
  expect(events.at(-1)?.type).toBe('session.idle');
});

test('a hundred sessions that want the list of models at once are one request', async () => {
  const model = runtime.script();
  const client = await clientWith({ OLLAMA_HOST: model.baseUrl });
  const sessions = await Promise.all(Array.from({ length: 100 }, () => client.create()));
  const lists = await Promise.all(Array.from({ length: 20 }, () => client.call('models.list')));
  expect([sessions.length, model.listings, lists[0]]).toEqual([
    100,
    1,
    {
      models: [
        expect.objectContaining({ id: 'first-model' }),
        expect.objectContaining({ id: 'second-model' }),
      ],
    },
  ]);
});

/** A client of a runtime with keys for two services. */
async function clientOfTwo() {
  const [openai, anthropic] = [runtime.script(say('a'), say('c')), runtime.script(say('b'))];
  const client = await clientWith({
    OPENAI_API_KEY: 'key',
    OPENAI_BASE_URL: openai.baseUrl,
    ANTHROPIC_API_KEY: 'key',
    ANTHROPIC_BASE_URL: anthropic.baseUrl,
  });
  return { client, openai, anthropic };
}
