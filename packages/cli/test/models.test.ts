import { expect, test } from 'vitest';
import { cliWorld } from './program.js';

const world = cliWorld();

test('without anything, the offline model is there, and the ways to others are listed', async () => {
  expect(await world.run(['models'])).toEqual({
    code: 0,
    stdout: [
      '  provider (not configured): set GROUNDCREW_BASE_URL, or provider in config.json',
      '  openai (not configured): set OPENAI_API_KEY',
      '  anthropic (not configured): set ANTHROPIC_API_KEY',
      '  azure (not configured): set AZURE_OPENAI_ENDPOINT and AZURE_OPENAI_API_KEY',
      '  ollama (not configured): set OLLAMA_HOST',
      '  copilot (not configured): set COPILOT_API_URL and GH_TOKEN',
      '* offline (nothing else is configured)',
      '    offline  Offline model (embedded)',
      '',
    ].join('\n'),
    stderr: '',
  });
});

test('the models of a service of one’s own are those it lists', async () => {
  const { baseUrl } = world.script();
  world.configure({ provider: { baseUrl, apiKey: 'a key of ours' } });
  const { code, stdout } = await world.run(['models', '--json']);
  const ways = JSON.parse(stdout) as readonly { readonly name: string }[];
  expect({ code, way: ways[0] }).toEqual({
    code: 0,
    way: {
      name: 'provider',
      source: `${baseUrl}, by config.json`,
      isUsed: true,
      models: [
        { id: 'first-model', name: 'First' },
        { id: 'second-model', name: 'Second' },
      ],
    },
  });
});

test('those of the Copilot API are listed where it is configured', async () => {
  const { baseUrl } = world.script();
  const environment = { COPILOT_API_URL: baseUrl, GH_TOKEN: 'a token of ours' };
  const { code, stdout } = await world.run(['models'], { environment });
  expect({ code, lines: stdout.split('\n').slice(5) }).toEqual({
    code: 0,
    lines: [
      '* copilot (COPILOT_API_URL)',
      '    auto  Auto',
      '    first-model  First',
      '    second-model  Second',
      '  offline (built in)',
      '    offline  Offline model (embedded)',
      '',
    ],
  });
});

test('a service that cannot be reached is a reason and a failure', async () => {
  const environment = { GROUNDCREW_BASE_URL: 'http://127.0.0.1:9/v1', GROUNDCREW_API_KEY: 'a key of ours' };
  const { code, stdout } = await world.run(['models'], { environment });
  expect({ code, first: stdout.split('\n')[0] }).toEqual({
    code: 1,
    first: expect.stringMatching(
      /^\* provider \(http:\/\/127\.0\.0\.1:9\/v1, by GROUNDCREW_BASE_URL\): .*(ECONNREFUSED|connect)/,
    ),
  });
});

test('each place that names a service is listed, with the reason why nothing is there', async () => {
  const { baseUrl } = world.script();
  const environment = {
    OPENAI_API_KEY: 'a key of ours',
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
    AZURE_OPENAI_API_KEY: 'another key',
    OLLAMA_HOST: baseUrl,
  };
  const { stdout } = await world.run(['models', '--model', 'claude-opus-4-5'], { environment });
  expect(stdout.split('\n')).toEqual([
    '  provider (not configured): set GROUNDCREW_BASE_URL, or provider in config.json',
    expect.stringMatching(/^\* openai \(http:\/\/127\.0\.0\.1:9\/v1, by OPENAI_API_KEY\): .*ECONNREFUSED/),
    '  anthropic (not configured): set ANTHROPIC_API_KEY',
    '  azure (not configured): AZURE_OPENAI_API_KEY is set, AZURE_OPENAI_ENDPOINT is not',
    `  ollama (${baseUrl}/v1, by OLLAMA_HOST)`,
    '    first-model  First',
    '    second-model  Second',
    '  copilot (not configured): set COPILOT_API_URL and GH_TOKEN',
    '  offline (built in)',
    '    offline  Offline model (embedded)',
    '',
  ]);
});
