import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime, providerOf, say, type WireClient } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();
interface Telemetry {
  readonly sessionId: string;
  readonly event: { readonly kind: string; readonly properties: object; readonly features: object };
}

function telemetryOf({ frames }: WireClient): readonly Telemetry[] {
  return frames.flatMap((frame) =>
    frame.type === 'other' && 'method' in frame.message && frame.message.method === 'gitHubTelemetry.event'
      ? [frame.message.params as Telemetry]
      : [],
  );
}

const notFound = (sessionId: string) => `Session not found for sessionId: ${sessionId}`;

test('remote control is off, and says so to every method', async () => {
  const { client } = runtime;
  const off = { status: { state: 'off' } };
  expect(await client.call('sessions.getRemoteControlStatus')).toEqual(off);
  expect(await client.call('sessions.setRemoteControlSteering', { enabled: true })).toEqual(off);
  expect(await client.call('sessions.stopRemoteControl', { force: true })).toEqual({
    ...off,
    stopped: false,
  });
  expect(
    await client.call('sessions.transferRemoteControl', { toSessionId: 'a', expectedFromSessionId: 'b' }),
  ).toEqual({ ...off, transferred: false });
  expect(await client.failure('sessions.startRemoteControl', { sessionId: 'a', config: {} })).toMatchObject({
    message: 'Request sessions.startRemoteControl failed with message: session not found: a',
  });
  expect(await client.failure('sessions.connect', { sessionId: 'a' })).toMatchObject({ code: -32603 });
});

test('a session is not exported, and whether others steer it is a record', async () => {
  const { session } = await runtime.session([]);
  expect(await session.call('session.remote.enable', { mode: 'off' })).toEqual({
    remoteSteerable: false,
    started: false,
  });
  expect(await session.failure('session.remote.enable', { mode: 'on' })).toMatchObject({ code: -32603 });
  expect(await session.call('session.remote.disable')).toEqual({});
  expect(await session.call('session.visibility.get')).toEqual({ synced: false });
  expect(await session.call('session.visibility.set', { status: 'repo' })).toEqual({ synced: false });
  await session.call('session.remote.notifySteerableChanged', { remoteSteerable: true });
  const steerable = (await session.stored()).filter(
    ({ type }) => type === 'session.remote_steerable_changed',
  );
  expect(steerable.map(({ data }) => data)).toEqual([{ remoteSteerable: true }]);
});

test('what this runtime does not have says so', async () => {
  const { session } = await runtime.session([]);
  expect(await session.call('session.completions.getTriggerCharacters')).toEqual({ triggerCharacters: [] });
  expect(await session.call('session.completions.request', { text: '@', offset: 1 })).toEqual({ items: [] });
  expect(await session.call('session.lsp.initialize', {})).toBeNull();
  const warnings = (await session.stored()).filter(({ type }) => type === 'session.warning');
  expect(warnings.map(({ data }) => (data as { warningType: string }).warningType)).toEqual(['lsp']);
  expect(await session.failure('session.extensions.sendAttachmentsToMessage', { attachments: [] })).toEqual({
    code: -32603,
    message:
      'session.extensions.sendAttachmentsToMessage may only be called from an extension-owned connection.',
    data: { code: 'extension_context_requires_extension_caller' },
  });
  expect(await runtime.client.failure('agentRegistry.spawn', { cwd: '/' })).toEqual({
    code: -32601,
    message: 'agentRegistry.spawn is not enabled on this server',
  });
  expect(await runtime.client.failure('session.visibility.get', { sessionId: 'none' })).toMatchObject({
    message: `Request session.visibility.get failed with message: ${notFound('none')}`,
  });
});

test('telemetry goes to the client that asked for it, with features and without content', async () => {
  const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }));
  await client.call('connect', { enableGitHubTelemetryForwarding: true });
  const model = runtime.script(say('The secret is 42.'));
  const session = await client.create({ provider: { baseUrl: model.baseUrl, apiKey: 'k' }, model: 'm' });
  const { engagementId } = await session.call<{ engagementId: string }>('session.telemetry.getEngagementId');
  await session.call('session.telemetry.setFeatureOverrides', { features: { flag: 'on' } });
  await session.turn('Tell me the secret.');
  const sent = telemetryOf(client);
  expect(sent.map(({ event }) => event.kind)).toEqual(['session_start', 'assistant_usage']);
  expect(sent.map(({ event }) => event.features)).toEqual([{}, { flag: 'on' }]);
  expect(sent[0]).toMatchObject({
    sessionId: session.sessionId,
    restricted: false,
    event: { properties: { selected_model: 'm', engagement_id: engagementId } },
  });
  expect(JSON.stringify(sent)).not.toContain('secret');
  await client.close();
});

test('a session may ask for its telemetry itself; a client that did not ask gets none', async () => {
  const server = runtime.spawn();
  const silent = await runtime.connect(server);
  const asking = await runtime.connect(server);
  await silent.create({});
  const session = await asking.create({ enableGitHubTelemetryForwarding: true });
  await asking.until(() => telemetryOf(asking)[0], 'telemetry');
  expect(telemetryOf(asking).map(({ sessionId }) => sessionId)).toEqual([session.sessionId]);
  expect(telemetryOf(silent)).toEqual([]);
  const before = telemetryOf(asking).length;
  const unheard = await asking.create({
    enableGitHubTelemetryForwarding: true,
    enableSessionTelemetry: false,
  });
  await unheard.call('session.name.set', { name: 'unheard' });
  expect(telemetryOf(asking)).toHaveLength(before);
});

test('settings of the user are read, written and taken out again; what protects is left alone', async () => {
  const home = join(runtime.home.path, 'settings-home');
  const client = await runtime.connect(
    runtime.spawn({ flags: ['--stdio'], home, environment: { GROUNDCREW_MODEL: 'other' } }),
  );
  const { settings } = await client.call<{ settings: Record<string, unknown> }>('user.settings.get');
  expect(settings.streaming).toEqual({ value: true, default: true, isDefault: true });
  expect(await client.call('user.settings.set', { settings: { streaming: false, model: 'mine' } })).toEqual({
    shadowedKeys: ['model'],
  });
  expect(JSON.parse(readFileSync(join(home, 'config.json'), 'utf8'))).toEqual({
    streaming: false,
    model: 'mine',
  });
  await client.call('user.settings.set', { settings: { streaming: null } });
  expect(await client.call('user.settings.reload')).toBeNull();
  const after = await client.call<{ settings: Record<string, unknown> }>('user.settings.get');
  expect(after.settings).toMatchObject({
    streaming: { value: true, isDefault: true },
    model: { value: 'mine', isDefault: false },
  });
  for (const wrong of [{ allow: 'all' }, { sandbox: 'host' }, { nonsense: 1 }, { streaming: 'yes' }])
    expect(await client.failure('user.settings.set', { settings: wrong })).toMatchObject({ code: -32603 });
  expect(JSON.parse(readFileSync(join(home, 'config.json'), 'utf8'))).toEqual({ model: 'mine' });
  await client.close();
});

test('a login is kept for the user alone, shown to the model service, and forgotten at logout', async () => {
  const home = join(runtime.home.path, 'account-home');
  const model = runtime.script(say('one'), say('two'));
  const environment = { COPILOT_API_URL: model.baseUrl };
  const start = () => runtime.spawn({ flags: ['--stdio'], home, environment });
  const client = await runtime.connect(start());
  expect(await client.call('account.getCurrentAuth')).toEqual({});
  expect(
    await client.call('account.login', { host: 'https://github.com', login: 'ann', token: 'tok-ann' }),
  ).toEqual({ storedInVault: false });
  const ann = { type: 'user', host: 'https://github.com', login: 'ann' };
  expect(await client.call('account.getCurrentAuth')).toEqual({ authInfo: ann });
  expect(await client.call('account.getAllUsers')).toEqual([{ authInfo: ann, token: 'tok-ann' }]);
  expect(await client.call('auth.getStatus')).toMatchObject({ isAuthenticated: true, login: 'ann' });
  expect(statSync(join(home, 'accounts.json')).mode & 0o777).toBe(0o600);
  await (await client.create({})).turn('Hello');
  await client.close();

  const later = await runtime.connect(start());
  await (await later.create({})).turn('Hello again');
  expect(model.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer tok-ann',
    'Bearer tok-ann',
  ]);
  await later.close();

  const stranger = await runtime.connect(
    runtime.spawn({ flags: ['--stdio', '--no-auto-login'], home, environment }),
  );
  expect(await stranger.call('account.getCurrentAuth')).toEqual({});
  expect(await stranger.call('account.logout', { authInfo: ann })).toEqual({ hasMoreUsers: false });
  expect(await stranger.call('account.getAllUsers')).toEqual([]);
  await stranger.close();
});

test('a session is at GitHub who its client says, with the token that goes with it', async () => {
  const model = runtime.script(say('one'));
  const client = await runtime.connect(
    runtime.spawn({ flags: ['--stdio'], environment: { COPILOT_API_URL: model.baseUrl } }),
  );
  const session = await client.create({ gitHubToken: 'first' });
  const host = 'https://github.com';
  expect(
    await session.call('session.gitHubAuth.setCredentials', {
      credentials: { type: 'token', host, token: 'second' },
    }),
  ).toEqual({ success: true, copilotUserResolved: true });
  await session.turn('Hello');
  expect(model.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer second']);
  expect(
    await session.call('session.gitHubAuth.setCredentials', {
      credentials: { type: 'user', host, login: 'bob' },
    }),
  ).toEqual({ success: true, copilotUserResolved: false });
  expect(await session.call('session.gitHubAuth.getStatus')).toEqual({
    isAuthenticated: true,
    authType: 'user',
    host,
    login: 'bob',
    statusMessage: 'bob',
  });
  expect(
    await session.failure('session.gitHubAuth.setCredentials', { credentials: { type: 'hmac', host } }),
  ).toMatchObject({ code: -32603 });
  expect(JSON.stringify(await session.stored())).not.toContain('second');
  await client.close();
});

test('secrets that a client adds are covered in the log where the process is for one user, and headers everywhere', async () => {
  const log = join(runtime.home.path, 'secrets.log');
  const flags = ['--stdio', '--log-level', 'all'];
  const environment = { COPILOT_ENABLE_SECRET_FILTERING: 'true', GROUNDCREW_LOG: log };
  const client = await runtime.connect(runtime.spawn({ flags, environment }));
  expect(await client.call('secrets.addFilterValues', { values: ['oidc-value-1'] })).toEqual({ ok: true });
  await client.call('ping', { message: 'here is oidc-value-1' });
  // Headers and variables are secret whatever they are called.
  const { provider, ...chosen } = providerOf(runtime.script(say('hi')));
  const session = await client.create({
    ...chosen,
    provider: { ...provider, headers: { 'X-Gateway': 'hidden-word-1' } },
    mcpServers: { srv: { command: 'false', env: { LICENCE: 'hidden-word-2' } } },
  });
  await session.turn('Hello', { requestHeaders: { 'x-team': 'hidden-word-3' } });
  await client.close();
  const refused = await runtime.client.failure('secrets.addFilterValues', { values: ['x'] });
  expect(refused.message).toContain('COPILOT_ENABLE_SECRET_FILTERING=true');
  const lines = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes('here is'));
  expect(readFileSync(log, 'utf8')).not.toMatch(/oidc-value-1|hidden-word/);
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(line).toContain('here is [redacted]');
});
