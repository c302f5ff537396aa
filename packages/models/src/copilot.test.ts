import { expect, test } from 'vitest';
import { collect, localServer, plainRequest } from '../test/local-server.js';
import { copilotApiOf, copilotProvider } from './copilot.js';
import { copilotEndpoint, endpointOf } from './endpoint.js';

test.each([
  [undefined, 'chat'],
  [['/chat/completions', '/responses'], 'chat'],
  [['/responses', 'ws:/responses'], 'responses'],
  [['/v1/messages'], 'messages'],
  [['/something/else'], 'chat'],
])('a model with the endpoints %j is called by its %s API', (endpoints, api) => {
  const raw = { id: 'm', ...(endpoints && { supported_endpoints: endpoints }) };
  expect(copilotApiOf({ id: 'm', name: 'm', vision: false, raw })).toBe(api);
});

test('over WebSockets a model is called that is listed so, and has no chat completions', () => {
  const apiOf = (...endpoints: readonly string[]) => {
    const raw = { supported_endpoints: endpoints };
    return copilotApiOf({ id: 'm', name: 'm', vision: false, raw }, { webSockets: true });
  };
  expect(apiOf('/responses', 'ws:/responses')).toBe('responses-socket');
  expect(apiOf('/responses')).toBe('responses');
  expect(apiOf('/chat/completions', '/responses', 'ws:/responses')).toBe('chat');
});

test('each API is called at its own path, with what it needs', async () => {
  const server = await localServer((response) => response.end('{}'));
  const config = {
    environment: {},
    version: '1',
    baseUrl: server.url,
    token: 't',
    headers: { 'X-Team': 'blue' },
  };
  for (const api of ['chat', 'responses', 'messages'] as const)
    await collect(copilotProvider({ ...config, apiOf: () => api })).catch(() => undefined);
  await collect(copilotProvider(config), { ...plainRequest, replacesHeaders: true }).catch(() => undefined);
  expect(
    server.asked.map(({ url, headers }) => [
      url,
      headers['anthropic-version'],
      headers['x-team'],
      headers.authorization,
    ]),
  ).toEqual([
    ['/chat/completions', undefined, 'blue', 'Bearer t'],
    ['/responses', undefined, 'blue', 'Bearer t'],
    ['/v1/messages', '2023-06-01', 'blue', 'Bearer t'],
    ['/chat/completions', undefined, undefined, 'Bearer t'],
  ]);
});

test('how a service is called is shown with the usual names of headers', async () => {
  const { signal } = new AbortController();
  const origin = {
    sessionId: 's',
    interactionId: 'i',
    initiator: 'user',
    interactionType: 'conversation-user',
  } as const;
  const copilot = copilotEndpoint({ baseUrl: 'http://c.test', token: 't', version: '1', origin });
  expect(copilot).toMatchObject({
    type: 'openai',
    wireApi: 'completions',
    baseUrl: 'http://c.test',
    apiKey: 't',
    headers: {
      Authorization: 'Bearer t',
      'User-Agent': 'groundcrew/1 (copilot)',
      'X-GitHub-Api-Version': '2026-08-01',
      'X-Interaction-Id': 'i',
    },
  });
  const config = { type: 'azure', baseUrl: 'http://a.test', headers: { 'X-Team': `\${TEAM}` } } as const;
  const getBearerToken = async () => 'fresh';
  expect(await endpointOf(config, { environment: { TEAM: 'blue' }, getBearerToken }, signal)).toEqual({
    type: 'azure',
    wireApi: 'completions',
    baseUrl: 'http://a.test',
    headers: { 'X-Team': 'blue', Authorization: 'Bearer fresh' },
  });
});
