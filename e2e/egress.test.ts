import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stdioChannel } from '@groundcrew/rpc';
import {
  answer,
  liveRuntime,
  providerOf,
  type ScriptedModel,
  say,
  temporaryDirectory,
  WireClient,
} from '@groundcrew/testkit';
import { afterAll, describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const watch = fileURLToPath(new URL('./watch-egress.cjs', import.meta.url));
const program = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));
const homes: ReturnType<typeof temporaryDirectory>[] = [];

afterAll(() => {
  for (const home of homes) home.remove();
});

/** Keys of services far away, which would be used if nothing nearer were named. */
const temptations = {
  OPENAI_API_KEY: 'key',
  ANTHROPIC_API_KEY: 'key',
  GH_TOKEN: 'token',
  COPILOT_API_URL: 'https://api.example.test',
};

/** A watched runtime that works for a while; the places that it tried to reach meanwhile. */
async function reached(environment: Record<string, string>, settings: object, params: object) {
  const home = temporaryDirectory();
  homes.push(home);
  const file = join(home.path, 'reached.txt');
  writeFileSync(file, '');
  writeFileSync(join(home.path, 'config.json'), JSON.stringify(settings), { mode: 0o600 });
  const watching = { NODE_OPTIONS: `--require=${watch}`, WATCH_EGRESS: file };
  const process = runtime.spawn({
    flags: ['--stdio'],
    home: home.path,
    environment: { ...environment, ...watching },
  });
  const client = await runtime.connect(process);
  await client.call('auth.getStatus');
  await client.call('models.list');
  const session = await client.create({ ...params, requestPermission: false });
  await session.turn('Hello');
  await session.call('session.model.list');
  await session.call('session.usage.getMetrics');
  await session.call('session.destroy');
  await client.call('runtime.shutdown');
  await process.exited;
  return [...new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean))].sort();
}

const place = ({ baseUrl }: ScriptedModel) => new URL(baseUrl).host;
const working = () =>
  runtime.script(answer({ calls: [{ id: 'c1', name: 'view', arguments: { path: '.' } }] }), say('done'));

describe('nothing but the local service is contacted', () => {
  test('when Ollama is all that is named', async () => {
    const model = working();
    expect(await reached({ OLLAMA_HOST: model.baseUrl }, {}, {})).toEqual([`connect ${place(model)}`]);
    expect(model.requests).toHaveLength(2);
  });

  test('when the settings name a service, whatever keys the environment holds', async () => {
    const model = working();
    const settings = { provider: { baseUrl: model.baseUrl }, model: 'ours' };
    expect(await reached(temptations, settings, {})).toEqual([`connect ${place(model)}`]);
    expect(model.requests).toHaveLength(2);
  });

  test('when the session brings its own service', async () => {
    const model = working();
    expect(await reached({}, {}, providerOf(model))).toEqual([`connect ${place(model)}`]);
    expect(model.requests).toHaveLength(2);
  });
});

test('nothing at all is contacted by the offline model', async () => {
  expect(await reached({}, {}, {})).toEqual([]);
});

test('the watch sees who goes out, and keeps it in', async () => {
  const home = temporaryDirectory();
  homes.push(home);
  const file = join(home.path, 'reached.txt');
  const watching = { NODE_OPTIONS: `--require=${watch}`, WATCH_EGRESS: file };
  const process = runtime.spawn({
    flags: ['--stdio'],
    home: home.path,
    environment: { ...temptations, ...watching },
  });
  const client = await runtime.connect(process);
  const session = await client.create({ model: 'gpt-4.1' });
  await session.send('Hello');
  const { data } = await session.next('model.call_failure');
  expect([data.errorMessage, readFileSync(file, 'utf8')]).toEqual([
    expect.stringContaining('No way out to api.openai.com'),
    expect.stringContaining('api.openai.com'),
  ]);
});

const canUnshare = spawnSync('unshare', ['-rn', 'true']).status === 0;

describe.runIf(canUnshare)('without any network (needs `unshare -rn`)', () => {
  test('a session is created, answered and stored', async () => {
    const home = temporaryDirectory();
    homes.push(home);
    const child = spawn('unshare', ['-rn', process.execPath, program, '--headless', '--stdio'], {
      cwd: home.path,
      env: { PATH: process.env.PATH, HOME: home.path, COPILOT_HOME: home.path },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const client = new WireClient(stdioChannel({ input: child.stdout, output: child.stdin }));
    const session = await client.create();
    await session.turn('Hello');
    expect((await session.stored()).map(({ type }) => type)).toContain('assistant.message');
    await client.call('runtime.shutdown');
    await client.close();
  });
});
