import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { liveRuntime, type ScriptedModel, say, type WireClient } from '@groundcrew/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const runtime = liveRuntime();

/** GitHub, as far as the runtime asks it: who a token belongs to. */
let gitHub: Server;
const asked: string[] = [];

beforeAll(async () => {
  gitHub = createServer((request, response) => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    asked.push(`${request.method} ${request.url} ${token}`);
    const user = users[token];
    const failure = token === 'down' ? 503 : 401;
    response.writeHead(user ? 200 : failure, { 'content-type': 'application/json' });
    response.end(JSON.stringify(user ?? { message: 'Bad credentials' }));
  });
  gitHub.listen(0, '127.0.0.1');
  await once(gitHub, 'listening');
});
afterAll(() => gitHub.close());

const users: Readonly<Record<string, object>> = {
  'token-ann': { login: 'ann', copilot_plan: 'individual_pro' },
  'token-bob': {
    login: 'bob',
    copilot_plan: 'business',
    quota_snapshots: {
      chat: { entitlement: 100, overage_count: 2, overage_permitted: true, percent_remaining: 75 },
      completions: { unlimited: true, timestamp_utc: '2026-04-30T00:00:00Z' },
    },
  },
};

async function clientOf(
  model: ScriptedModel,
  environment: Readonly<Record<string, string>> = {},
): Promise<WireClient> {
  const { port } = gitHub.address() as AddressInfo; // a server on a port has no other kind of address
  const process = runtime.spawn({
    flags: ['--stdio'],
    environment: {
      COPILOT_API_URL: model.baseUrl,
      COPILOT_DEBUG_GITHUB_API_URL: `http://127.0.0.1:${port}`,
      ...environment,
    },
  });
  return runtime.connect(process);
}

test('each session shows its own token, and says whose it is', async () => {
  const model = runtime.script(say('a'), say('b'));
  const client = await clientOf(model);
  const ann = await client.create({ gitHubToken: 'token-ann' });
  const bob = await client.create({ gitHubToken: 'token-bob' });
  await ann.turn('One');
  await bob.turn('Two');
  expect(model.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer token-ann',
    'Bearer token-bob',
  ]);
  const known = { isAuthenticated: true, authType: 'token', host: 'https://github.com' };
  expect(await ann.call('session.gitHubAuth.getStatus')).toMatchObject({
    ...known,
    login: 'ann',
    copilotPlan: 'individual_pro',
  });
  expect(await bob.call('session.gitHubAuth.getStatus')).toMatchObject({
    ...known,
    login: 'bob',
    copilotPlan: 'business',
  });
  expect(asked.filter((line) => line.endsWith('token-ann'))).toEqual([
    'GET /copilot_internal/user token-ann',
  ]);
  expect(await client.call('account.getQuota', { gitHubToken: 'token-bob' })).toEqual({
    quotaSnapshots: {
      chat: {
        isUnlimitedEntitlement: false,
        entitlementRequests: 100,
        usedRequests: 25,
        usageAllowedWithExhaustedQuota: true,
        remainingPercentage: 75,
        overage: 2,
        overageAllowedWithExhaustedQuota: true,
      },
      completions: {
        isUnlimitedEntitlement: true,
        entitlementRequests: 0,
        usedRequests: 0,
        usageAllowedWithExhaustedQuota: false,
        remainingPercentage: 100,
        overage: 0,
        overageAllowedWithExhaustedQuota: false,
        resetDate: '2026-04-30T00:00:00Z',
      },
    },
  });
});

test('a token that GitHub refuses makes no session; one that it cannot check does', async () => {
  const model = runtime.script(say('a'));
  const client = await clientOf(model);
  expect(await client.failure('session.create', { gitHubToken: 'stolen' })).toEqual({
    code: -32603,
    message:
      'Request session.create failed with message: SDK session authentication failed: Failed to fetch Copilot user info: 401 Unauthorized: {"message":"Bad credentials"}',
  });
  const session = await client.create({ gitHubToken: 'down' });
  await session.turn('One');
  expect(model.requests[0]?.headers.authorization).toBe('Bearer down');
  expect(await session.call('session.gitHubAuth.getStatus')).not.toHaveProperty('login');
});

test('without a token no user is logged in', async () => {
  const session = await (await clientOf(runtime.script())).create();
  expect(await session.call('session.gitHubAuth.getStatus')).toEqual({
    isAuthenticated: false,
    statusMessage: 'Not authenticated',
  });
});

test('the token of a session is needed again after a cold resume, and the error says so', async () => {
  const model = runtime.script(say('a'), say('b'));
  const client = await clientOf(model, { GH_TOKEN: 'of-the-process' });
  const session = await client.create({ gitHubToken: 'token-ann' });
  await session.turn('One');
  await session.call('session.destroy');
  const again = await client.resume(session.sessionId);
  const events = await again.turn('Two');
  expect(events.find(({ type }) => type === 'session.error')?.data).toMatchObject({
    message:
      'This session has a GitHub token of its own, and tokens are not stored: give gitHubToken again on session.resume.',
  });
  await client.resume(session.sessionId, { gitHubToken: 'token-ann' });
  await again.turn('Three');
  expect(model.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer token-ann',
    'Bearer token-ann',
  ]);
});

test('GitHub is not asked where only the Copilot API is named', async () => {
  const model = runtime.script(say('a'));
  const process = runtime.spawn({ flags: ['--stdio'], environment: { COPILOT_API_URL: model.baseUrl } });
  const client = await runtime.connect(process);
  const session = await client.create({ gitHubToken: 'anything' });
  await session.turn('One');
  expect(model.requests[0]?.headers.authorization).toBe('Bearer anything');
});
