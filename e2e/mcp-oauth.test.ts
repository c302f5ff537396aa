import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, RuntimeProcess, say, type WireSession } from '@groundcrew/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type OAuthWorld, oauthWorld, visit } from './oauth-world.js';

const runtime = liveRuntime();
let world: OAuthWorld;
beforeEach(async () => {
  world = await oauthWorld();
});
afterEach(() => world.close());

const locked = () => ({ mcpServers: { srv: { type: 'http', url: world.url } } });
const status = (session: WireSession, wanted: string) =>
  session.next('session.mcp_server_status_changed', ({ data }) => data.status === wanted);

async function logIn(session: WireSession, more: object = {}): Promise<void> {
  const { authorizationUrl } = await session.call<{ authorizationUrl: string }>('session.mcp.oauth.login', {
    serverName: 'srv',
    ...more,
  });
  expect((await visit(authorizationUrl)).status).toBe(200);
}

const toolTexts = (session: WireSession) =>
  session.events.flatMap((event) =>
    event.type === 'tool.execution_complete'
      ? [
          JSON.stringify(
            (event.data as { result?: { content?: string }; error?: object }).result?.content ?? '',
          ),
        ]
      : [],
  );

/** No secret is in any event, nor in what the runtime wrote. */
function expectNoSecret(session: WireSession): void {
  const output = `${JSON.stringify(session.events)}${runtime.process.stderr}`;
  for (const secret of world.secrets) expect(output).not.toContain(secret);
}

test('a log-in registers the program, proves itself by PKCE, asks for this server alone, and is kept for its owner', async () => {
  const { session } = await runtime.session(
    [callTools({ id: 'c1', name: 'srv-look', arguments: {} }), say('done')],
    locked(),
  );
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.call('session.mcp.list');
  await status(session, 'needs-auth');
  await logIn(session, { clientName: 'My app', callbackSuccessMessage: 'Back to <My app>' });
  await status(session, 'connected');
  expect(world.asked).toEqual([
    'resource metadata',
    'resource metadata',
    'metadata',
    'register',
    'authorize scope=read',
    'token authorization_code resource=true',
  ]);
  await session.turn('Look');
  expect(toolTexts(session)).toEqual(['"look by read"']);
  const directory = join(runtime.home.path, 'mcp-tokens');
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(directory)) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
  expectNoSecret(session);
});

test('tokens of a log-in serve later sessions, are renewed when they end, and twice at once only once', async () => {
  const first = await runtime.session([say('hi')], locked());
  await first.session.call('session.mcp.list');
  await status(first.session, 'needs-auth');
  await logIn(first.session);
  await status(first.session, 'connected');
  world.expire();
  world.asked.length = 0;
  const later = await Promise.all([1, 2].map(() => runtime.session([say('hi')], locked())));
  await Promise.all(later.map(({ session }) => session.call('session.mcp.list')));
  await Promise.all(later.map(({ session }) => status(session, 'connected')));
  expect(world.asked).toEqual(['token refresh_token resource=true']);
  for (const { session } of [first, ...later]) expectNoSecret(session);
});

test('a token that is about to end is renewed before it is sent', async () => {
  world.ways.tokenSeconds = 1;
  const { session } = await runtime.session([say('hi')], locked());
  await session.call('session.mcp.list');
  await status(session, 'needs-auth');
  await logIn(session);
  await status(session, 'connected');
  expect(world.asked.filter((line) => line.startsWith('token refresh_token')).length).toBeGreaterThan(0);
});

test('a log-in that was revoked is asked for again, and says so in the status', async () => {
  const { session } = await runtime.session(
    [callTools({ id: 'c1', name: 'srv-look', arguments: {} }), say('done')],
    locked(),
  );
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.call('session.mcp.list');
  await status(session, 'needs-auth');
  await logIn(session);
  await status(session, 'connected');
  world.revoke();
  await session.send('Look');
  const { data } = await status(session, 'needs-auth');
  expect(data.error).toContain('401');
  await session.next('session.idle');
  await logIn(session);
  await status(session, 'connected');
  expectNoSecret(session);
});

test('a call that needs more rights goes on after a log-in for them', async () => {
  const { session } = await runtime.session(
    [callTools({ id: 'c1', name: 'srv-change', arguments: {} }), say('done')],
    locked(),
  );
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.call('session.mcp.list');
  await status(session, 'needs-auth');
  await logIn(session);
  await status(session, 'connected');
  await session.call('session.eventLog.registerInterest', { eventType: 'mcp.oauth_required' });
  await session.send('Change');
  const { data } = await session.next('mcp.oauth_required');
  expect(data).toMatchObject({ reason: 'upscope', wwwAuthenticateParams: { scope: 'write' } });
  await logIn(session, { forceReauth: true });
  await session.next('mcp.oauth_completed', (event) => event.data.outcome === 'token');
  await session.next('session.idle');
  expect(toolTexts(session)).toEqual(['"change by read write"']);
  expect(world.asked).toContain('authorize scope=read write');
  expectNoSecret(session);
});

test('without a client that logs in, a call that needs more rights has failed and says which', async () => {
  const { session, model } = await runtime.session(
    [callTools({ id: 'c1', name: 'srv-change', arguments: {} }), say('done')],
    locked(),
  );
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.call('session.mcp.list');
  await status(session, 'needs-auth');
  await logIn(session);
  await status(session, 'connected');
  await session.turn('Change');
  expect(String(model.requests[1]?.body.messages.at(-1)?.content)).toMatch(/403.*more rights.*write/);
});

test('a program with a secret logs in by itself, and again when its token ends', async () => {
  const machine = {
    type: 'http',
    url: world.url,
    oauthClientId: 'machine',
    oauthGrantType: 'client_credentials',
  };
  const { session } = await runtime.session([say('hi')], { mcpServers: { srv: machine } });
  await session.call('session.mcp.list');
  await status(session, 'needs-auth');
  expect(
    await session.call('session.mcp.oauth.login', { serverName: 'srv', clientSecret: 'machine-secret-1' }),
  ).toEqual({});
  await status(session, 'connected');
  world.expire();
  await session.call('session.mcp.restartServer', { serverName: 'srv' });
  await status(session, 'connected');
  expect(world.asked.filter((line) => line === 'token client_credentials resource=true')).toHaveLength(2);
  expectNoSecret(session);
});

test('with tokens in memory nothing is written', async () => {
  const { session } = await runtime.session([say('hi')], { ...locked(), mcpOAuthTokenStorage: 'in-memory' });
  const before = readdirSync(join(runtime.home.path, 'mcp-tokens'));
  await session.call('session.mcp.list');
  await status(session, 'needs-auth');
  await logIn(session);
  await status(session, 'connected');
  expect(readdirSync(join(runtime.home.path, 'mcp-tokens'))).toEqual(before);
});

test.each<[string, () => void, RegExp]>([
  [
    'names a page of another kind',
    () => Object.assign(world.ways.metadata, { authorization_endpoint: 'javascript:alert(1)' }),
    /could not begin/,
  ],
  [
    'names a page that is not encrypted elsewhere',
    () => Object.assign(world.ways.metadata, { authorization_endpoint: 'http://example.com/login' }),
    /not at https/,
  ],
  [
    'is another one than it says',
    () => Object.assign(world.ways.metadata, { issuer: 'https://other.example.com' }),
    /issuer/i,
  ],
  [
    'cannot prove by PKCE',
    () => Object.assign(world.ways.metadata, { code_challenge_methods_supported: ['plain'] }),
    /S256/,
  ],
  [
    'is at a link-local address',
    () => Object.assign(world.ways.resource, { authorization_servers: ['http://169.254.169.254/latest'] }),
    /not public/,
  ],
  [
    'is in a private network',
    () => Object.assign(world.ways.resource, { authorization_servers: ['https://10.0.0.1'] }),
    /not public/,
  ],
  [
    'protects another resource',
    () => Object.assign(world.ways.resource, { resource: 'https://other.example.com/mcp' }),
    /does not match/,
  ],
  [
    'has its token page at a link-local address',
    () => Object.assign(world.ways.metadata, { registration_endpoint: 'http://[fe80::1]/register' }),
    /not public/,
  ],
])('no log-in begins where the authorisation server %s', async (_name, change, words) => {
  change();
  const { session } = await runtime.session([say('hi')], locked());
  await session.call('session.mcp.list');
  await status(session, 'needs-auth');
  const failure = await session.failure('session.mcp.oauth.login', { serverName: 'srv' });
  expect(failure.message).toMatch(words);
});

test('an answer of another authorisation server, or a denial, gives no token; the reason repeats no secret', async () => {
  const { session } = await runtime.session([say('hi')], locked());
  await session.call('session.mcp.list');
  await status(session, 'needs-auth');
  const attempt = async () => {
    await logIn(session).catch(() => undefined);
    return (await session.next('session.warning')).data.message;
  };
  world.ways.issuer = 'https://evil.example.com';
  expect(await attempt()).toMatch(/the log-in failed/);
  world.ways.issuer = undefined;
  world.ways.denies = true;
  expect(await attempt()).toMatch(/access_denied/);
  world.ways.denies = false;
  world.ways.tokenFailure = {
    status: 400,
    body: (asked) => ({ error: 'server_error', error_description: [...asked.values()].join(' ') }),
  };
  expect(await attempt()).toMatch(/gave no token: server_error/);
  expectNoSecret(session);
});

test('a page that does not know the state of the log-in changes nothing', async () => {
  const { session } = await runtime.session([say('hi')], locked());
  await session.call('session.mcp.list');
  await status(session, 'needs-auth');
  const { authorizationUrl } = await session.call<{ authorizationUrl: string }>('session.mcp.oauth.login', {
    serverName: 'srv',
  });
  const redirect = new URL(new URL(authorizationUrl).searchParams.get('redirect_uri') ?? '');
  expect((await visit(`${redirect}?code=stolen&state=guess`)).status).toBe(400);
  expect((await visit(`${redirect.origin}/`)).status).toBe(404);
  expect((await visit(authorizationUrl)).status).toBe(200);
  await status(session, 'connected');
});

const redirectUri = 'https://app.example.com/auth/back';

/** Where the authorisation server sends the browser, which the app receives in place of the program. */
async function sentTo(authorizationUrl: string): Promise<string> {
  const { headers } = await fetch(authorizationUrl, { redirect: 'manual' });
  return headers.get('location') ?? '';
}

test('an app whose own address the browser comes back to hands over what it brings; what is not of this log-in changes nothing', async () => {
  const { session } = await runtime.session([say('hi')], locked());
  await session.call('session.mcp.list');
  await status(session, 'needs-auth');
  const begin = () =>
    session.call<{ authorizationUrl: string; authorizationId: string }>('session.mcp.oauth.login', {
      serverName: 'srv',
      redirectUri,
    });
  const complete = (authorizationId: string, callbackUrl: string) =>
    session.call('session.mcp.oauth.complete', { authorizationId, callbackUrl });
  const { authorizationUrl, authorizationId } = await begin();
  const asked = new URL(authorizationUrl).searchParams;
  expect([asked.get('redirect_uri'), asked.get('state')]).toEqual([redirectUri, authorizationId]);
  const back = await sentTo(authorizationUrl);
  const elsewhere = back.replace('app.example.com', 'evil.example.com');
  await expect(complete(authorizationId, elsewhere)).rejects.toThrow('not the address');
  await expect(complete(authorizationId, `${redirectUri}?code=stolen&state=x`)).rejects.toThrow('not asked');
  await expect(complete('another', back)).rejects.toThrow('No log-in waits');
  expect(await complete(authorizationId, back)).toBeNull();
  await status(session, 'connected');
  await expect(complete(authorizationId, back)).rejects.toThrow('No log-in waits');

  world.ways.denies = true;
  const denied = await session.call<{ authorizationUrl: string; authorizationId: string }>(
    'session.mcp.oauth.login',
    { serverName: 'srv', redirectUri, forceReauth: true },
  );
  const refused = complete(denied.authorizationId, await sentTo(denied.authorizationUrl));
  await expect(refused).rejects.toThrow('access_denied');
  expect(world.asked.filter((line) => line === 'register')).toHaveLength(1);
  for (const bad of ['http://app.example.com/', `${redirectUri}?a=1`, 'https://u:p@app.example.com/', 'x'])
    expect(
      await session.failure('session.mcp.oauth.login', {
        serverName: 'srv',
        redirectUri: bad,
        forceReauth: true,
      }),
    ).toMatchObject({ message: expect.stringContaining("'redirectUri' has to be an https address") });
  expectNoSecret(session);
});

test('a look at how a server takes its token changes nothing; a log-in elsewhere is used when a client says so', async () => {
  const { session } = await runtime.session([say('hi')], locked());
  const probe = () => session.call('session.mcp.oauth.probe', { serverName: 'srv' });
  const refusal = {
    status: 'needs-auth',
    httpResponse: { statusCode: 401, body: '', headers: expect.any(Array) },
    wwwAuthenticateParams: { error: 'invalid_token', scope: 'read', resourceMetadataUrl: expect.any(String) },
  };
  expect(await probe()).toEqual({ ...refusal, reason: 'initial' });
  expect(session.events.map(({ type }) => type)).not.toContain('session.mcp_server_status_changed');
  await session.call('session.mcp.list');
  await status(session, 'needs-auth');
  const other = await runtime.session([say('hi')], locked());
  await other.session.call('session.mcp.list');
  await status(other.session, 'needs-auth');
  await logIn(other.session);
  await status(other.session, 'connected');

  expect(await probe()).toEqual({
    status: 'authenticated',
    httpResponse: { statusCode: 200, headers: expect.any(Array) },
  });
  const changed = (params: object) => session.call('session.mcp.oauth.authenticationStateChanged', params);
  await expect(changed({ serverName: 'none' })).rejects.toThrow("'none' is not configured");
  expect(await changed({})).toBeNull();
  await status(session, 'connected');
  // One that is connected reads its tools again.
  expect(await changed({ serverName: 'srv', refreshSessionToken: true })).toBeNull();
  await session.next('mcp.tools.list_changed');

  world.revoke();
  expect(await probe()).toEqual({ ...refusal, reason: 'refresh' });
  await world.close();
  expect(await probe()).toMatchObject({ status: 'failed', error: expect.stringContaining('ECONNREFUSED') });
  const none = await session.failure('session.mcp.oauth.probe', { serverName: 'none' });
  expect(none.message).toContain("'none' is not configured");
  expectNoSecret(session);
  world = await oauthWorld();
});

test('groundcrew mcp login prints where to log in, keeps the tokens, and sessions use them', async () => {
  const { home } = runtime;
  writeFileSync(
    join(home.path, 'mcp.json'),
    JSON.stringify({ mcpServers: { here: { type: 'http', url: world.url } } }),
  );
  const login = new RuntimeProcess({ flags: ['mcp', 'login', 'here'], home: home.path });
  const page = await new Promise<string>((resolve) => {
    const look = setInterval(() => {
      const url = /^Log in here: (\S+)$/m.exec(login.stderr)?.[1];
      if (url === undefined) return;
      clearInterval(look);
      resolve(url);
    }, 10);
  });
  await visit(page);
  expect(await login.exited).toEqual({ code: 0, signal: null });
  expect(login.stdout).toMatch(/^here is connected after \d+ ms .*2 tools/);
  for (const secret of world.secrets) expect(login.stdout + login.stderr).not.toContain(secret);
  const { session } = await runtime.session([say('hi')], { enableConfigDiscovery: true });
  await session.call('session.mcp.list');
  await status(session, 'connected');
  expect(readFileSync(join(home.path, 'mcp.json'), 'utf8')).not.toContain('access-');
});
