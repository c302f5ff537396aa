import { expect, test } from 'vitest';
import { type ServiceAddress, serviceAt } from './services.js';
import { wires } from './wires.js';

function at(address: ServiceAddress) {
  const { wire, url, modelsUrl, headers, key } = serviceAt(address);
  const name = Object.entries(wires).find(([, each]) => each === wire)?.[0];
  return { wire: name, url: url('my model'), modelsUrl: modelsUrl(), headers, key: key('k') };
}

test('a service of OpenAI speaks chat completions, or responses when asked to', () => {
  const baseUrl = 'http://h.test/v1/';
  const openai = { modelsUrl: 'http://h.test/v1/models', headers: {}, key: { authorization: 'Bearer k' } };
  const chat = { wire: 'openai-chat', url: 'http://h.test/v1/chat/completions', ...openai };
  expect(at({ baseUrl })).toEqual(chat);
  expect(at({ baseUrl, type: 'openai', wireApi: 'completions', transport: 'http' })).toEqual(chat);
  expect(at({ baseUrl, wireApi: 'responses' })).toEqual({
    wire: 'openai-responses',
    url: 'http://h.test/v1/responses',
    ...openai,
  });
});

test('over websockets responses are spoken, at the same address', () => {
  const address = { wireApi: 'responses', transport: 'websockets' } as const;
  for (const [type, baseUrl] of [
    ['openai', 'http://h.test/v1'],
    ['azure', 'http://h.test'],
  ] as const)
    expect(at({ ...address, type, baseUrl })).toEqual({
      ...at({ ...address, type, baseUrl, transport: 'http' }),
      wire: 'openai-responses-socket',
    });
});

test('a service of Anthropic is below /v1, whether or not its address says so', () => {
  const anthropic = {
    wire: 'anthropic-messages',
    url: 'http://h.test/v1/messages',
    modelsUrl: 'http://h.test/v1/models?limit=1000',
    headers: { 'anthropic-version': '2023-06-01' },
    key: { 'x-api-key': 'k' },
  };
  expect(at({ baseUrl: 'http://h.test', type: 'anthropic' })).toEqual(anthropic);
  expect(at({ baseUrl: 'http://h.test/v1/', type: 'anthropic', wireApi: 'responses' })).toEqual(anthropic);
});

test.each([
  [{}, '/openai/deployments/my%20model/chat/completions?api-version=2024-10-21'],
  [{ azure: { apiVersion: 'V' } }, '/openai/deployments/my%20model/chat/completions?api-version=V'],
  [{ wireApi: 'responses' }, '/openai/v1/responses'],
  [{ wireApi: 'responses', azure: { apiVersion: 'V' } }, '/openai/responses?api-version=V'],
] as const)('Azure, asked with %j, is at %s', (asked, url) => {
  const baseUrl = 'https://r.openai.azure.test';
  expect(at({ type: 'azure', baseUrl, ...asked })).toEqual({
    wire: 'wireApi' in asked ? 'openai-responses' : 'openai-chat',
    url: `${baseUrl}${url}`,
    modelsUrl: `${baseUrl}/openai/models?api-version=${'azure' in asked ? 'V' : '2024-10-21'}`,
    headers: {},
    key: { 'api-key': 'k' },
  });
});

test('an address of Azure may lead further in', () => {
  const urlOf = (baseUrl: string, more: Partial<ServiceAddress> = {}) =>
    serviceAt({ type: 'azure', baseUrl, ...more }).url('m');
  expect(urlOf('https://r.test/openai/v1/')).toBe('https://r.test/openai/v1/chat/completions');
  expect(urlOf('https://r.test/openai/v1', { wireApi: 'responses', azure: { apiVersion: 'V' } })).toBe(
    'https://r.test/openai/v1/responses',
  );
  expect(urlOf('https://r.test/openai/')).toBe(
    'https://r.test/openai/deployments/m/chat/completions?api-version=2024-10-21',
  );
  expect(urlOf('https://r.test/openai/deployments/mine')).toBe(
    'https://r.test/openai/deployments/mine/chat/completions?api-version=2024-10-21',
  );
});
