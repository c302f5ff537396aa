import { expect, test } from 'vitest';
import { chooseProvider, providerWays } from './provider-choice.js';

const ollamaAt = (host: string) =>
  providerWays({ environment: { OLLAMA_HOST: host }, file: undefined }).find(({ name }) => name === 'ollama');

test.each([
  ['127.0.0.1', 'http://127.0.0.1:11434/v1'],
  ['127.0.0.1:8080', 'http://127.0.0.1:8080/v1'],
  [':8080', 'http://127.0.0.1:8080/v1'],
  ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
  ['localhost', 'http://localhost:11434/v1'],
  ['http://box', 'http://box:11434/v1'],
  ['http://box:80', 'http://box/v1'],
  ['https://box', 'https://box/v1'],
  ['https://box/ollama/', 'https://box/ollama/v1'],
  ['http://box:1/v1', 'http://box:1/v1'],
])('Ollama at %s is asked at %s', (host, baseUrl) => {
  expect(ollamaAt(host)?.provider?.config).toEqual({ baseUrl });
});

test('a variable that is blank names no service', () => {
  const blank = { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: ' ', OLLAMA_HOST: '\t', GROUNDCREW_BASE_URL: ' ' };
  expect(providerWays({ environment: blank, file: undefined }).filter(({ provider }) => provider)).toEqual(
    [],
  );
});

test('an address that is none is a reason', () => {
  expect(ollamaAt('http://')).toEqual({ name: 'ollama', reason: 'OLLAMA_HOST is no address' });
});

test('a service named for Groundcrew takes every model, and the offline model has no service', () => {
  const ways = providerWays({
    environment: { ANTHROPIC_API_KEY: 'key', OPENAI_API_KEY: 'key' },
    file: { baseUrl: 'http://ours' },
  });
  const names = (models: readonly (string | undefined)[], among = ways) =>
    models.map((model) => chooseProvider(among, model)?.name);
  expect(names(['claude-opus-4-5', undefined, 'offline'])).toEqual(['provider', 'provider', undefined]);
  expect(names(['claude-opus-4-5', 'gpt-oss:20b', undefined, 'offline'], ways.slice(1))).toEqual([
    'anthropic',
    'openai',
    'openai',
    undefined,
  ]);
});
