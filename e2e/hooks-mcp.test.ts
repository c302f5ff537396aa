import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  callTools,
  liveRuntime,
  providerOf,
  say,
  type WireClient,
  type WireSession,
} from '@groundcrew/testkit';
import { describe, expect, test, vi } from 'vitest';
import { dataOf, endsOf, hooked, inputsOf, never } from './hooked.js';
import { testServer } from './mcp-world.js';

const flags = ['--no-auto-update', '--port', '0'];
const runtime = liveRuntime({ flags });

interface Sent {
  readonly method?: string;
  readonly params?: { readonly arguments: unknown; readonly _meta?: unknown };
}

/** A session with a server whose tool is called once, and what the server was sent. */
function world(name = 'meta') {
  const log = join(runtime.workingDirectory, `${randomUUID()}.jsonl`);
  const model = runtime.script(
    callTools({ id: 'c1', name: `srv-${name}`, arguments: { a: 1 } }),
    say('done'),
  );
  const settings = { ...providerOf(model), mcpServers: { srv: testServer({ tools: [name], log }) } };
  const calls = (): readonly Sent[] =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .trim()
          .split('\n')
          .map((line): Sent => JSON.parse(line))
          .filter(({ method }) => method === 'tools/call')
      : [];
  return { model, settings, calls };
}

async function approvingAll(
  client: WireClient,
  settings: Readonly<Record<string, unknown>>,
): Promise<WireSession> {
  const session = await client.create(settings);
  await session.call('session.permissions.setApproveAll', { enabled: true });
  return session;
}

const metaOf = (session: WireSession) => {
  const [{ result }] = dataOf(session, 'tool.execution_complete');
  return JSON.parse(result.content).meta;
};

test('preMcpToolCall sees the call as it leaves, after preToolUse', async () => {
  const { settings, calls } = world('echo');
  const invoked = hooked(runtime.client, {
    preToolUse: () => ({ modifiedArgs: { a: 2 } }),
  });
  const session = await approvingAll(runtime.client, { ...settings, hooks: true });
  await session.turn('Go');
  expect(inputsOf(invoked, 'preMcpToolCall')).toEqual([
    {
      sessionId: session.sessionId,
      timestamp: expect.any(Number),
      cwd: expect.any(String),
      serverName: 'srv',
      toolName: 'echo',
      arguments: { a: 2 },
      toolCallId: 'c1',
    },
  ]);
  const order = invoked.map(({ hookType }) => hookType).filter((each) => /Tool/.test(each));
  expect(order).toEqual(['preToolUse', 'preMcpToolCall', 'postToolUse']);
  expect(calls().map(({ params }) => params?.arguments)).toEqual([{ a: 2 }]);
});

describe('metaToUse', () => {
  test('of an object is the _meta that the server receives', async () => {
    const { settings } = world();
    hooked(runtime.client, { preMcpToolCall: () => ({ metaToUse: { tenant: 'a' } }) });
    const session = await approvingAll(runtime.client, { ...settings, hooks: true });
    await session.turn('Go');
    expect(metaOf(session)).toMatchObject({ tenant: 'a' });
    expect(endsOf(session, 'preMcpToolCall')).toMatchObject([
      { success: true, output: { metaToUse: { tenant: 'a' } } },
    ]);
  });

  test('goes from client to client; null takes it away', async () => {
    const { settings } = world();
    const session = await approvingAll(runtime.client, settings);
    const first = await runtime.connect(runtime.process, { hasGaps: true });
    hooked(first, { preMcpToolCall: () => ({ metaToUse: { tenant: 'a' } }) });
    await first.resume(session.sessionId, { hooks: true });
    const second = await runtime.connect(runtime.process, { hasGaps: true });
    const asked = hooked(second, { preMcpToolCall: () => ({ metaToUse: null }) });
    await second.resume(session.sessionId, { hooks: true });
    await session.turn('Go');
    expect(inputsOf(asked, 'preMcpToolCall')).toMatchObject([{ _meta: { tenant: 'a' } }]);
    expect(JSON.stringify(metaOf(session))).not.toContain('tenant');
  });
});

const failures: readonly [string, (guard: WireClient) => Promise<unknown>, RegExp][] = [
  ['does not answer in time', () => never(), /did not answer within 0\.3 s/],
  ['throws', () => Promise.reject(new Error('broken')), /broken/],
  ['answers a text', async () => 'yes', /otherwise than the protocol says/],
  ['answers a list', async () => ({ output: ['a'] }), /otherwise than the protocol says/],
  [
    'names a _meta that is none',
    async () => ({ output: { metaToUse: 7 } }),
    /otherwise than the protocol says/,
  ],
  [
    'disconnects',
    async (guard) => {
      await guard.close();
      return never();
    },
    /The client has left/,
  ],
];

describe.each(failures)('a preMcpToolCall hook that %s', (_, answer, reason) => {
  async function guardedSession(settings: Readonly<Record<string, unknown>>, onFailure: 'deny' | 'allow') {
    const session = await approvingAll(runtime.client, settings);
    const guard = await runtime.connect(runtime.process, { hasGaps: true });
    guard.answer = async (_method, params) =>
      (params as { hookType: string }).hookType === 'preMcpToolCall' ? answer(guard) : {};
    await guard.resume(session.sessionId, { hooks: true, hookOptions: { timeoutMs: 300, onFailure } });
    return session;
  }

  test('denies, and the server learns nothing of the call', async () => {
    const { settings, calls } = world();
    const session = await guardedSession(settings, 'deny');
    await session.turn('Go');
    expect(calls()).toEqual([]);
    const [{ success, error }] = dataOf(session, 'tool.execution_complete');
    expect(success).toBe(false);
    expect(error.message).toMatch(/^Denied by preMcpToolCall hook: /);
    expect(error.message).toMatch(reason);
    expect(endsOf(session, 'preMcpToolCall')).toMatchObject([{ success: false }]);
  });

  test('changes nothing where the app declared it advisory', async () => {
    const { settings, calls } = world();
    const session = await guardedSession(settings, 'allow');
    await session.send('Go');
    // A client that has left has left its guard: the result waits for it.
    await vi.waitFor(() => expect(calls()).toHaveLength(1));
    expect(endsOf(session, 'preMcpToolCall')).toMatchObject([{ success: false }]);
  });
});

test('a call whose preMcpToolCall hook was asked when the runtime was killed is put to it again', async () => {
  const { settings, calls } = world();
  const process = runtime.spawn({ flags });
  const theirs = await runtime.connect(process, { hasGaps: true });
  const before = await approvingAll(theirs, settings);
  const guard = await runtime.connect(process, { hasGaps: true });
  hooked(guard, { preMcpToolCall: never });
  await guard.resume(before.sessionId, { hooks: true });
  await before.send('Go');
  await before.next('hook.start', ({ data }) => data.hookType === 'preMcpToolCall');
  await process.signal('SIGKILL');
  const session = await runtime.client.resume(before.sessionId, {
    ...settings,
    continuePendingWork: true,
    requestPermission: false,
  });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await vi.waitFor(async () => {
    const { waitingOn } = await session.call<{ waitingOn: object[] }>('session.metadata.activity');
    expect(waitingOn).toMatchObject([{ kind: 'hooks', hookType: 'preToolUse' }]);
  });
  expect(calls()).toEqual([]);
  const after = await runtime.connect(runtime.process, { hasGaps: true });
  hooked(after, { preMcpToolCall: () => Promise.reject(new Error('not this server')) });
  await after.resume(before.sessionId, { hooks: true });
  await session.next('session.idle');
  expect(calls()).toEqual([]);
  expect(dataOf(session, 'tool.execution_complete')).toMatchObject([
    { success: false, error: { message: expect.stringContaining('not this server') } },
  ]);
});

test('a guard of MCP calls alone that is gone keeps calls waiting', async () => {
  const { settings, calls } = world();
  const session = await runtime.client.create({ ...settings, requestPermission: false });
  const guard = await runtime.connect(runtime.process, { hasGaps: true });
  hooked(guard);
  await guard.resume(session.sessionId, {
    hooks: true,
    hookOptions: { types: ['preMcpToolCall'] },
    requestPermission: false,
  });
  await guard.close();
  await session.send('Go');
  await vi.waitFor(async () => {
    const { waitingOn } = await session.call<{ waitingOn: object[] }>('session.metadata.activity');
    expect(waitingOn).toMatchObject([{ kind: 'hooks' }]);
  });
  expect(calls()).toEqual([]);
});
