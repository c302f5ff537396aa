import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime, providerOf, RuntimeProcess, say, story, WireClient } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const stores = (folder: string) =>
  readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('groundcrew.db'));

describe('the home of a headless program', () => {
  const cases: readonly [string, (base: string) => Record<string, string>, string][] = [
    [
      'COPILOT_HOME first',
      (base) => ({
        COPILOT_HOME: join(base, 'c'),
        GROUNDCREW_HOME: join(base, 'g'),
        XDG_STATE_HOME: join(base, 'x'),
      }),
      'c/groundcrew.db',
    ],
    [
      'then GROUNDCREW_HOME',
      (base) => ({ COPILOT_HOME: '', GROUNDCREW_HOME: join(base, 'g'), XDG_STATE_HOME: join(base, 'x') }),
      'g/groundcrew.db',
    ],
    [
      'then XDG_STATE_HOME',
      (base) => ({ COPILOT_HOME: '', XDG_STATE_HOME: join(base, 'x') }),
      'x/groundcrew/groundcrew.db',
    ],
    ['else the home of the user', () => ({ COPILOT_HOME: '' }), '.groundcrew/groundcrew.db'],
  ];
  test.each(cases)('%s', async (name, environment, expected) => {
    const base = join(runtime.home.path, `base-${name.length}`);
    mkdirSync(base);
    const process = new RuntimeProcess({
      flags: ['--headless', '--stdio'],
      home: base,
      environment: environment(base),
    });
    const client = new WireClient(await process.connect());
    await client.create();
    expect(stores(base)).toEqual([expected]);
    process.endInput();
    await process.exited;
  });
});

test('a start alone touches no file, and what sessions keep is for their owner only', async () => {
  const home = join(runtime.home.path, 'tidy');
  mkdirSync(home);
  const process = runtime.spawn({ flags: ['--stdio'], home });
  const client = await runtime.connect(process);
  await client.call('ping', {});
  expect(readdirSync(home)).toEqual([]);
  const { workspacePath } = await client.call<{ workspacePath: string }>('session.create', {
    sessionId: 'private',
  });
  const modes = [workspacePath, join(home, 'session-state'), join(home, 'groundcrew.db')].map((path) =>
    (statSync(path).mode & 0o777).toString(8),
  );
  expect(modes).toEqual(['700', '700', '600']);
});

test('a session with a configDir of its own lives there, and only there', async () => {
  const configDir = join(runtime.home.path, 'elsewhere');
  const model = runtime.script(say('hi'), say('again'));
  const opened = await runtime.client.call<{ workspacePath: string }>('session.create', {
    sessionId: 'apart',
    configDir,
    ...providerOf(model),
  });
  expect(opened.workspacePath).toBe(join(configDir, 'session-state', 'apart'));
  const session = await runtime.client.resume('apart', { configDir });
  await session.turn('Hello');
  await session.call('session.destroy');
  expect(stores(configDir)).toEqual(['groundcrew.db']);
  expect(await runtime.client.failure('session.resume', { sessionId: 'apart' })).toMatchObject({
    data: { code: 'session_not_found' },
  });
  const again = await runtime.client.resume('apart', { configDir, ...providerOf(model) });
  await again.turn('Again');
  expect(model.requests[1]?.body.messages.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'user',
  ]);
});

test('a configDir is the same however it is written, also when it is the home itself', async () => {
  const model = runtime.script(say('one'), say('two'), say('three'));
  const configDir = runtime.home.path;
  const session = await runtime.client.create({
    sessionId: 'same',
    configDir: `${configDir}/`,
    ...providerOf(model),
  });
  await session.turn('One');
  const { sessions } = await runtime.client.call<{ sessions: { sessionId: string }[] }>('session.list', {});
  expect(sessions.map(({ sessionId }) => sessionId)).toContain('same');
  await session.call('session.destroy');
  const again = await runtime.client.resume('same', {
    configDir: join(configDir, '.'),
    ...providerOf(model),
  });
  await again.turn('Two');
});

test('a home that is emptied under a running program is made anew, and others find its new sessions', async () => {
  const home = join(runtime.home.path, 'emptied');
  mkdirSync(home);
  const model = runtime.script(say('one'), say('two'), say('three'));
  const process = runtime.spawn({ flags: ['--stdio'], home });
  const client = await runtime.connect(process);
  const lost = await client.create({ ...providerOf(model), sessionId: 'lost' });
  await lost.turn('Hello');
  for (const name of readdirSync(home)) rmSync(join(home, name), { recursive: true });
  const fresh = await client.create({ ...providerOf(model), sessionId: 'fresh' });
  await fresh.turn('Hello');
  const other = await runtime.connect(runtime.spawn({ flags: ['--stdio'], home }));
  const { sessions } = await other.call<{ sessions: { sessionId: string }[] }>('session.list', {});
  expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['fresh']);
  const taken = await other.resume('fresh', providerOf(model));
  await taken.turn('Go on');
  expect(story(await taken.stored())).toContain('assistant.message "three"');
});

test('a session whose store is gone says so instead of waiting for ever', async () => {
  const home = join(runtime.home.path, 'gone');
  mkdirSync(home);
  const model = runtime.script(say('one'), say('two'));
  const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'], home }));
  const session = await client.create({ ...providerOf(model), sessionId: 'gone' });
  await session.turn('Hello');
  for (const name of readdirSync(home)) rmSync(join(home, name), { recursive: true });
  expect(await session.failure('session.send', { prompt: 'Hello?' })).toMatchObject({
    code: -32603,
    data: { code: 'session_not_found' },
  });
});

test('keys and headers never reach the store', async () => {
  const model = runtime.script(say('hi'));
  const secrets = ['sk-very-secret-key', 'header-secret-value', 'turn-secret-value', 'gho-secret-token'];
  const session = await runtime.client.create({
    model: 'scripted',
    gitHubToken: secrets[3],
    provider: { baseUrl: model.baseUrl, apiKey: secrets[0], headers: { 'x-gate': secrets[1] } },
  });
  await session.turn('Hello', { requestHeaders: { 'x-turn': secrets[2] } });
  expect(model.requests[0]?.headers).toMatchObject({
    authorization: `Bearer ${secrets[0]}`,
    'x-gate': secrets[1],
    'x-turn': secrets[2],
  });
  await session.call('session.destroy');
  const files = readdirSync(runtime.home.path).filter((name) => name.startsWith('groundcrew.db'));
  const bytes = Buffer.concat(files.map((name) => readFileSync(join(runtime.home.path, name)))).toString(
    'latin1',
  );
  expect(bytes).toContain(session.sessionId);
  for (const secret of secrets) {
    expect(bytes).not.toContain(secret);
    expect(JSON.stringify(runtime.client.frames)).not.toContain(secret);
    expect(runtime.process.stderr).not.toContain(secret);
  }
});
