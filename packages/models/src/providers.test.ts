import { expect, test } from 'vitest';
import { collect, type LocalServer, localServer, plainRequest } from '../test/local-server.js';
import { copilotProvider } from './copilot.js';
import type { CallOrigin } from './model.js';
import { configuredProvider, type ProviderConfig } from './providers.js';

const context = { environment: { TEAM: 'blue' }, version: '1.2.3' };
const origin: CallOrigin = {
  sessionId: 's1',
  interactionId: 'i1',
  clientName: 'my app/2',
  initiator: 'user',
  interactionType: 'conversation-user',
};

const answering = () => localServer((response) => response.end('{"choices":[],"data":[{"id":"gpt-4o"}]}'));

function sentTo(server: LocalServer) {
  const [asked] = server.asked;
  const { host: _, connection: __, 'content-length': ___, ...headers } = asked?.headers ?? {};
  return { url: asked?.url, headers, body: JSON.parse(asked?.body || 'null') };
}

test('a provider of the user gets its own headers, and of ours only those that say who asks', async () => {
  const server = await answering();
  const config: ProviderConfig = {
    type: 'openai',
    wireApi: 'completions',
    baseUrl: `${server.url}/v1//?tenant=1`,
    apiKey: 'key',
    bearerToken: 'token',
    headers: { 'X-Team': `\${TEAM}`, 'X-Region': `\${REGION:-north}` },
    wireModel: 'wire-name',
    maxOutputTokens: 50,
  };
  await collect(configuredProvider(config, context), { ...plainRequest, origin });
  expect(sentTo(server)).toEqual({
    url: '/v1/chat/completions?tenant=1',
    headers: {
      accept: 'application/json',
      authorization: 'Bearer token',
      'content-type': 'application/json',
      'user-agent': 'groundcrew/1.2.3 client/my-app-2',
      'x-initiator': 'user',
      'x-interaction-type': 'conversation-user',
      'x-region': 'north',
      'x-team': 'blue',
    },
    body: expect.objectContaining({ model: 'wire-name', max_tokens: 50 }),
  });
});

test('a key is enough, none is allowed, and a token asked for wins', async () => {
  const authorizations = async (config: object, getBearerToken?: () => Promise<string>) => {
    const server = await answering();
    const all = { ...context, ...(getBearerToken && { getBearerToken }) };
    await collect(configuredProvider({ baseUrl: server.url, ...config }, all));
    return sentTo(server).headers.authorization;
  };
  expect(await authorizations({ apiKey: 'key' })).toBe('Bearer key');
  expect(await authorizations({})).toBeUndefined();
  expect(await authorizations({ apiKey: 'key', headers: { Authorization: 'Basic x' } })).toBe('Basic x');
  expect(await authorizations({ apiKey: 'key' }, async () => 'fresh')).toBe('Bearer fresh');
});

test.each([
  [{ type: 'bedrock' }, 'providers of type "openai", "azure" or "anthropic", not "bedrock"'],
  [{ transport: 'websockets' }, 'the wireApi "responses" over websockets, and no other'],
  [{ transport: 'pigeon' as 'http' }, 'providers over "http" or "websockets", not "pigeon"'],
  [{ wireApi: 'batch' }, 'the wireApi "completions" and "responses", not "batch"'],
])('%j is not served, and the error says what is', (asked, served) => {
  const config = { baseUrl: 'http://x.test', ...asked } as ProviderConfig; // clients may say anything
  expect(() => configuredProvider(config, context)).toThrow(
    expect.objectContaining({ kind: 'configuration', message: `This version serves ${served}` }),
  );
});

test.each([
  [{ baseUrl: 'model.test' }, 'The baseUrl of the provider has to be an http or https address'],
  [{ baseUrl: 'ftp://model.test' }, 'The baseUrl of the provider has to be an http or https address'],
  [{ baseUrl: 'http://ann:secret@model.test' }, 'The baseUrl of the provider must not contain credentials'],
  [{ headers: { 'x-key': `\${NOT_SET}` } }, 'The environment variable NOT_SET is not set'],
  [{ apiKey: 'two\nlines' }, 'The value of the header authorization has characters that cannot be sent'],
])('%j is a mistake reported before any call, without its secret', (config, message) => {
  expect(() => configuredProvider({ baseUrl: 'http://x.test', ...config }, context)).toThrow(
    expect.objectContaining({ kind: 'configuration', message }),
  );
});

test('a provider of the user lists its models when asked', async () => {
  const server = await answering();
  const provider = configuredProvider({ baseUrl: `${server.url}/v1/` }, context);
  expect((await provider.models()).map((model) => model.id)).toEqual(['gpt-4o']);
  expect(server.asked[0]?.url).toBe('/v1/models');
});

test('the Copilot service learns who asks, for what, and what to cache', async () => {
  const server = await answering();
  const provider = copilotProvider({ ...context, baseUrl: server.url, token: 'gho_1' });
  await collect(provider, { ...plainRequest, origin: { ...origin, initiator: 'agent' } });
  const mark = { copilot_cache_control: { type: 'ephemeral' } };
  expect(sentTo(server)).toEqual({
    url: '/chat/completions',
    headers: {
      accept: 'application/json',
      authorization: 'Bearer gho_1',
      'content-type': 'application/json',
      'copilot-harness-id': 'copilot-sdk',
      'copilot-integration-id': 'copilot-developer-cli',
      'editor-version': 'groundcrew/1.2.3',
      'openai-intent': 'conversation-agent',
      'user-agent': 'groundcrew/1.2.3 (copilot) client/my-app-2',
      'x-client-session-id': 's1',
      'x-github-api-version': '2026-08-01',
      'x-initiator': 'agent',
      'x-interaction-id': 'i1',
      'x-interaction-type': 'conversation-user',
    },
    body: expect.objectContaining({
      messages: [
        { role: 'system', content: 'Be brief.', ...mark },
        { role: 'user', content: 'Hello', ...mark },
      ],
    }),
  });
});

test('the Copilot service lists its models with the same token', async () => {
  const server = await answering();
  const provider = copilotProvider({ ...context, baseUrl: server.url, token: 'gho_1' });
  expect(await provider.models()).toEqual([
    {
      id: 'gpt-4o',
      name: 'gpt-4o',
      vision: true,
      contextWindow: 128_000,
      maxOutputTokens: 16_384,
      reasoningEfforts: [],
      raw: { id: 'gpt-4o' },
    },
  ]);
  expect(server.asked).toMatchObject([
    { method: 'GET', url: '/models', headers: { authorization: 'Bearer gho_1' } },
  ]);
});
