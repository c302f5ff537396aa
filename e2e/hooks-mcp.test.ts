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

describe('permissionDecision of preMcpToolCall', () => {
  test('deny keeps the call from its server, also of an advisory hook, and its reason is read', async () => {
    const { settings, calls } = world();
    hooked(runtime.client, {
      preMcpToolCall: () => ({ permissionDecision: 'deny', permissionDecisionReason: 'not this server' }),
    });
    const hookOptions = { onFailure: 'allow' };
    const session = await approvingAll(runtime.client, { ...settings, hooks: true, hookOptions });
    await session.turn('Go');
    expect(calls()).toEqual([]);
    expect(dataOf(session, 'tool.execution_complete')).toMatchObject([
      { success: false, error: { message: 'Denied by preMcpToolCall hook: not this server' } },
    ]);
  });

  test('allow is no opinion, and ask denies: what was to be asked was asked before', async () => {
    for (const [permissionDecision, times] of [
      ['allow', 1],
      ['ask', 0],
    ] as const) {
      const { settings, calls } = world();
      hooked(runtime.client, { preMcpToolCall: () => ({ permissionDecision }) });
      const session = await approvingAll(runtime.client, { ...settings, hooks: true });
      await session.turn('Go');
      expect(calls()).toHaveLength(times);
    }
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
    // The server may have the call before this client has the event.
    await vi.waitFor(() => expect(endsOf(session, 'preMcpToolCall')).toMatchObject([{ success: false }]));
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

describe('a guard of MCP calls that leaves before the call does', () => {
  const ofServers = { hooks: true, hookOptions: { types: ['preMcpToolCall'] }, requestPermission: false };

  async function guarded(sessionId: string, handlers = {}) {
    const guard = await runtime.connect(runtime.process, { hasGaps: true });
    hooked(guard, handlers);
    await guard.resume(sessionId, ofServers);
    return guard;
  }

  /** The call waits for the guard; one that denies comes, and the server has learned nothing. */
  async function seenThrough(session: WireSession, hookType: string, calls: () => readonly Sent[]) {
    await vi.waitFor(async () => {
      const { waitingOn } = await session.call<{ waitingOn: object[] }>('session.metadata.activity');
      expect(waitingOn).toMatchObject([{ kind: 'hooks', hookType }]);
    });
    await guarded(session.sessionId, { preMcpToolCall: () => ({ permissionDecision: 'deny' }) });
    await session.next('session.idle');
    expect(calls()).toEqual([]);
    expect(dataOf(session, 'tool.execution_complete')).toMatchObject([
      { error: { message: 'Denied by preMcpToolCall hook: No reason provided' } },
    ]);
  }

  test('while the hook of another client decides: it waits, and the other is asked again', async () => {
    const { settings, calls } = world();
    const session = await runtime.client.create({ ...settings, requestPermission: false });
    let decide: (value: unknown) => void = () => undefined;
    const slow = await runtime.connect(runtime.process, { hasGaps: true });
    const asked = hooked(slow, {
      preToolUse: () =>
        asked.length > 1
          ? { permissionDecision: 'allow' }
          : new Promise((resolve) => {
              decide = resolve;
            }),
    });
    const hookOptions = { types: ['preToolUse'] };
    await slow.resume(session.sessionId, { hooks: true, hookOptions, requestPermission: false });
    const guard = await guarded(session.sessionId);
    await session.send('Go');
    await slow.until(() => asked[0], 'the hook');
    await guard.close();
    decide({ permissionDecision: 'allow' });
    await seenThrough(session, 'preToolUse', calls);
    expect(asked).toHaveLength(2);
  });

  test('while the user decides: it waits', async () => {
    const { settings, calls } = world();
    const session = await runtime.client.create({ ...settings, requestPermission: true });
    const guard = await guarded(session.sessionId);
    await session.send('Go');
    const { data } = await session.next('permission.requested');
    await guard.close();
    await session.decide(data.requestId, { kind: 'approve-once' });
    await seenThrough(session, 'preMcpToolCall', calls);
  });
});

describe('a call that an app of a server makes', () => {
  async function opened(params: object) {
    const { settings, calls } = world('echo');
    const provider = providerOf(runtime.script(say('hi')));
    const session = await approvingAll(runtime.client, {
      ...settings,
      ...provider,
      requestMcpApps: true,
      ...params,
    });
    await session.turn('Hello');
    const call = { serverName: 'srv', originServerName: 'srv', toolName: 'echo', arguments: { a: 1 } };
    return { session, calls, call };
  }

  test('is put to hooks: denied it does not leave, else it leaves as they have made it', async () => {
    let decision: object = { permissionDecision: 'deny', permissionDecisionReason: 'no apps' };
    const asked = hooked(runtime.client, {
      preToolUse: () => decision,
      preMcpToolCall: () => ({ metaToUse: { tenant: 'a' } }),
    });
    const { session, calls, call } = await opened({ hooks: true });
    expect((await session.failure('session.mcp.apps.callTool', call)).message).toContain('no apps');
    expect(calls()).toEqual([]);
    decision = { modifiedArgs: { a: 2 } };
    expect(await session.call('session.mcp.apps.callTool', call)).toEqual({
      content: [{ type: 'text', text: '{"a":2}' }],
    });
    expect(calls()).toMatchObject([{ params: { arguments: { a: 2 }, _meta: { tenant: 'a' } } }]);
    expect(inputsOf(asked, 'preToolUse')).toMatchObject([
      { toolName: 'srv-echo', toolArgs: { a: 1 } },
      { toolName: 'srv-echo', toolArgs: { a: 1 } },
    ]);
    expect(inputsOf(asked, 'preMcpToolCall')).toMatchObject([{ serverName: 'srv', arguments: { a: 2 } }]);
  });

  test('waits for a guard that is gone', async () => {
    const { session, calls, call } = await opened({ requestPermission: false });
    const guard = await runtime.connect(runtime.process, { hasGaps: true });
    hooked(guard);
    await guard.resume(session.sessionId, { hooks: true, requestPermission: false });
    await guard.close();
    const made = session.failure('session.mcp.apps.callTool', call);
    await vi.waitFor(async () => {
      const { waitingOn } = await session.call<{ waitingOn: object[] }>('session.metadata.activity');
      expect(waitingOn).toMatchObject([{ kind: 'hooks', hookType: 'preToolUse' }]);
    });
    const after = await runtime.connect(runtime.process, { hasGaps: true });
    hooked(after, { preToolUse: () => ({ permissionDecision: 'deny' }) });
    await after.resume(session.sessionId, { hooks: true, requestPermission: false });
    expect((await made).message).toContain('Denied by preToolUse hook');
    expect(calls()).toEqual([]);
  });

  test('leaves no question behind: not when its caller withdraws, nor when the process is killed', async () => {
    const { settings, calls } = world('echo');
    const params = {
      ...settings,
      ...providerOf(runtime.script(say('hi'), say('again'))),
      ...{ requestMcpApps: true, requestPermission: true, hooks: true },
    };
    const process = runtime.spawn({ flags });
    const client = await runtime.connect(process, { hasGaps: true });
    hooked(client, { preToolUse: () => ({ permissionDecision: 'ask' }) });
    const session = await client.create(params);
    await session.turn('Hello');
    const { sessionId } = session;
    const call = { serverName: 'srv', originServerName: 'srv', toolName: 'echo', arguments: { a: 1 } };
    const withdrawal = new AbortController();
    const withdrawn = client.connection.request(
      'session.mcp.apps.callTool',
      { sessionId, ...call },
      withdrawal.signal,
    );
    withdrawn.catch(() => undefined);
    const { data } = await session.next('permission.requested');
    withdrawal.abort();
    const { data: completed } = await session.next('permission.completed');
    expect(completed).toMatchObject({ requestId: data.requestId, result: { kind: 'cancelled' } });
    session.call('session.mcp.apps.callTool', call).catch(() => undefined);
    const { data: second } = await session.next('permission.requested');
    await process.signal('SIGKILL');
    for (const continuePendingWork of [true, false]) {
      const next = await runtime.client.resume(sessionId, { ...params, continuePendingWork });
      const answers = async () =>
        (await next.stored()).filter(
          ({ type, data: completion }) =>
            type === 'permission.completed' &&
            (completion as { requestId: string }).requestId === second.requestId,
        );
      await expect.poll(answers).toHaveLength(1);
      expect(await next.call('session.metadata.activity')).toMatchObject({ waitingOn: [] });
    }
    expect(calls()).toEqual([]);
  });

  test('is judged by the mode that the session has when users have decided', async () => {
    const { session, calls, call } = await opened({ hooks: true, requestPermission: true });
    hooked(runtime.client, { preToolUse: () => ({ permissionDecision: 'ask' }) });
    const made = session.failure('session.mcp.apps.callTool', call);
    const { data } = await session.next('permission.requested');
    await session.call('session.mode.set', { mode: 'plan' });
    await session.decide(data.requestId, { kind: 'approve-once' });
    expect((await made).message).toContain('plan mode');
    expect(calls()).toEqual([]);
  });

  test('changes nothing in plan mode', async () => {
    const { session, calls, call } = await opened({});
    await session.call('session.mode.set', { mode: 'plan' });
    expect((await session.failure('session.mcp.apps.callTool', call)).message).toContain('plan mode');
    expect(calls()).toEqual([]);
  });
});
