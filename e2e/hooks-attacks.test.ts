import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
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
import { dataOf, endsOf, hooked, inputsOf } from './hooked.js';

const flags = ['--no-auto-update', '--port', '0'];
const runtime = liveRuntime({ flags });
const tools = [{ name: 'look', skipPermission: true }];
const look = (id = 'c1') => ({ id, name: 'look', arguments: { at: 'here' } });

/** Answers what the client is asked to run until the session is idle; the arguments of each call that ran. */
async function seenThrough(session: WireSession, client = runtime.client): Promise<readonly unknown[]> {
  const answered = new Set<string>();
  await client.until(() => {
    for (const { requestId } of dataOf(session, 'external_tool.requested')) {
      if (answered.has(requestId)) continue;
      answered.add(requestId);
      void session.answerTool(requestId, { result: 'a tree' });
    }
    return session.events.some(({ type }) => type === 'session.idle') ? true : undefined;
  }, 'session.idle');
  return dataOf(session, 'external_tool.requested').map((data) => data.arguments);
}

const waits = async (session: WireSession) =>
  (await session.call<{ waitingOn: object[] }>('session.metadata.activity')).waitingOn;

/** Another client of the session, with these hooks and no others. */
async function withHooks(sessionId: string, types: readonly string[], handlers = {}): Promise<WireClient> {
  const client = await runtime.connect(runtime.process, { hasGaps: true });
  hooked(client, handlers);
  await client.resume(sessionId, { hooks: true, hookOptions: { types }, requestPermission: false });
  return client;
}

test('null in any field of an output is the same as leaving it out', async () => {
  const nothing = {
    permissionDecision: null,
    permissionDecisionReason: null,
    modifiedArgs: null,
    modifiedResult: null,
    modifiedPrompt: null,
    modifiedTransformedPrompt: null,
    modifiedConfig: null,
    additionalContext: null,
    decision: null,
    reason: null,
    sessionSummary: null,
    cleanupActions: null,
    userNotification: null,
    suppressOutput: null,
  };
  const model = runtime.script(callTools(look()), say('done'));
  runtime.client.answer = async () => ({ output: nothing });
  const session = await runtime.client.create({ ...providerOf(model), hooks: true, tools });
  await session.send('Look');
  expect(await seenThrough(session)).toEqual([{ at: 'here' }]);
  expect(dataOf(session, 'hook.end').map(({ hookType, success }) => [hookType, success])).toEqual([
    ['userPromptSubmitted', true],
    ['userPromptTransformed', true],
    ['sessionStart', true],
    ['preToolUse', true],
    ['postToolUse', true],
    ['agentStop', true],
    ['sessionEnd', true],
  ]);
  expect(dataOf(session, 'user.message')).toMatchObject([{ content: 'Look' }]);
  expect(dataOf(session, 'tool.execution_complete')).toMatchObject([{ result: { content: 'a tree' } }]);
});

test.each<[string, unknown, string, boolean]>([
  ['a text', '***', '***', true],
  ['an object', { textResultForLlm: '***', resultType: 'success' }, '***', true],
  ['a number', 7, 'a tree', false],
  ['a list', ['***'], 'a tree', false],
])('a result that a hook makes %s', async (_, modifiedResult, content, success) => {
  const model = runtime.script(callTools(look()), say('done'));
  hooked(runtime.client, { postToolUse: () => ({ modifiedResult }) });
  const session = await runtime.client.create({ ...providerOf(model), hooks: true, tools });
  await session.send('Look');
  await seenThrough(session);
  expect(dataOf(session, 'tool.execution_complete')).toMatchObject([{ result: { content } }]);
  expect(endsOf(session, 'postToolUse')).toMatchObject([{ success }]);
});

describe('an output larger than any model reads', () => {
  const huge = 'x'.repeat(6 * 1024 * 1024);

  test('denies the call', async () => {
    const model = runtime.script(callTools(look()), say('done'));
    hooked(runtime.client, { preToolUse: () => ({ permissionDecision: 'allow', additionalContext: huge }) });
    const session = await runtime.client.create({ ...providerOf(model), hooks: true, tools });
    await session.send('Look');
    expect(await seenThrough(session)).toEqual([]);
    expect(dataOf(session, 'tool.execution_complete')).toMatchObject([
      { success: false, error: { message: expect.stringContaining('more than') } },
    ]);
  });

  test.each([
    ['userPromptSubmitted', { modifiedPrompt: huge }],
    ['userPromptSubmitted', { additionalContext: huge }],
    ['userPromptTransformed', { modifiedTransformedPrompt: huge }],
    ['sessionStart', { additionalContext: huge }],
    ['postToolUse', { modifiedResult: { textResultForLlm: huge + huge + huge, resultType: 'success' } }],
    ['agentStop', { decision: 'block', reason: huge }],
    ['sessionEnd', { sessionSummary: huge }],
    ['sessionEnd', { userNotification: huge }],
  ])('changes nothing at %s', async (hookType, output) => {
    const model = runtime.script(callTools(look()), say('done'));
    hooked(runtime.client, { [hookType]: () => output });
    const session = await runtime.client.create({ ...providerOf(model), hooks: true, tools });
    await session.send('Look');
    expect(await seenThrough(session)).toEqual([{ at: 'here' }]);
    expect(endsOf(session, hookType)).toMatchObject([{ success: false }]);
    expect(JSON.stringify([session.events, model.requests]).length).toBeLessThan(500_000);
  });
});

test('the first answer of a client that answers a hook twice counts', async () => {
  const model = runtime.script(callTools(look()), say('done'));
  const session = await runtime.client.create({ ...providerOf(model), tools });
  const guard = await runtime.connect(runtime.process, { hasGaps: true });
  guard.answer = async (_method, params) => {
    if ((params as { hookType: string }).hookType !== 'preToolUse') return {};
    const asked = guard.frames.findLast((frame) => frame.type === 'other');
    const id = asked && 'id' in asked.message ? asked.message.id : undefined;
    const output = { permissionDecision: 'deny', permissionDecisionReason: 'first thought' };
    guard.connection.send({ jsonrpc: '2.0', id, result: { output } } as never);
    return { output: { permissionDecision: 'allow' } };
  };
  await guard.resume(session.sessionId, { hooks: true });
  await session.send('Look');
  expect(await seenThrough(session)).toEqual([]);
  expect(dataOf(session, 'tool.execution_complete')).toMatchObject([
    { error: { message: 'Denied by preToolUse hook: first thought' } },
  ]);
  expect(await guard.call('session.metadata.activity', { sessionId: session.sessionId })).toBeDefined();
});

test('of many calls at once, one client allowing and another denying, none runs; each sees what the one before made', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `c${index}`);
  const model = runtime.script(callTools(...ids.map(look)), say('done'));
  const session = await runtime.client.create({ ...providerOf(model), tools });
  const allows = await runtime.connect(runtime.process, { hasGaps: true });
  hooked(allows, {
    preToolUse: () => ({ permissionDecision: 'allow', modifiedArgs: { at: 'there' } }),
  });
  await allows.resume(session.sessionId, { hooks: true });
  const denies = await runtime.connect(runtime.process, { hasGaps: true });
  const asked = hooked(denies, { preToolUse: () => ({ permissionDecision: 'deny' }) });
  await denies.resume(session.sessionId, { hooks: true });
  await session.send('Look');
  expect(await seenThrough(session)).toEqual([]);
  expect(inputsOf(asked, 'preToolUse').map(({ toolArgs }) => toolArgs)).toEqual(
    ids.map(() => ({ at: 'there' })),
  );
});

test.each<[string, () => unknown]>([
  ['does not answer in time', () => new Promise(() => undefined)],
  ['throws', () => Promise.reject(new Error('broken'))],
  ['answers nonsense', () => ['allow']],
  ['names no decision', () => ({ permissionDecision: 'perhaps' })],
])(
  'a hook that is declared advisory and %s has no opinion, and hook.end says that it failed',
  async (_, preToolUse) => {
    const model = runtime.script(callTools(look()), say('done'));
    hooked(runtime.client, { preToolUse });
    const hookOptions = { timeoutMs: 300, onFailure: 'allow' };
    const session = await runtime.client.create({ ...providerOf(model), hooks: true, hookOptions, tools });
    await session.send('Look');
    expect(await seenThrough(session)).toEqual([{ at: 'here' }]);
    expect(endsOf(session, 'preToolUse')).toMatchObject([{ success: false }]);
  },
);

describe('a guard that is gone while a client with other hooks stays', () => {
  test('guards still: a call waits for hooks of its kind', async () => {
    const model = runtime.script(callTools(look()), say('done'));
    const session = await runtime.client.create({ ...providerOf(model), tools, requestPermission: false });
    const guard = await withHooks(session.sessionId, ['preToolUse']);
    await withHooks(session.sessionId, ['sessionEnd']);
    await guard.close();
    await session.send('Look');
    await vi.waitFor(async () =>
      expect(await waits(session)).toMatchObject([{ kind: 'hooks', hookType: 'preToolUse' }]),
    );
    expect(dataOf(session, 'external_tool.requested')).toEqual([]);
    await withHooks(session.sessionId, ['preToolUse'], {
      preToolUse: () => ({ permissionDecision: 'deny' }),
    });
    expect(await seenThrough(session)).toEqual([]);
  });

  test('keeps a result back until hooks that see results are there', async () => {
    const model = runtime.script(callTools(look()), say('done'));
    const session = await runtime.client.create({ ...providerOf(model), tools, requestPermission: false });
    const guard = await withHooks(session.sessionId, ['postToolUse']);
    await withHooks(session.sessionId, ['preToolUse']);
    await session.send('Look');
    const { data } = await session.next('external_tool.requested');
    await guard.close();
    await session.answerTool(data.requestId, { result: 'the secret' });
    await vi.waitFor(async () =>
      expect(await waits(session)).toMatchObject([{ kind: 'hooks', hookType: 'postToolUse' }]),
    );
    await withHooks(session.sessionId, ['postToolUse'], { postToolUse: () => ({ modifiedResult: '***' }) });
    await session.next('session.idle');
    expect(JSON.stringify([session.events, model.requests])).not.toContain('the secret');
  });
});

test('a guard that is gone guards still in a process that took the session over', async () => {
  const other = runtime.spawn({ flags });
  const theirs = await runtime.connect(other, { hasGaps: true });
  const model = runtime.script(say('hello'), callTools(look()), say('done'));
  const before = await theirs.create({ ...providerOf(model), tools, hooks: true, requestPermission: false });
  hooked(theirs);
  await before.turn('Hello');
  const session = await runtime.client.resume(before.sessionId, {
    ...providerOf(model),
    tools,
    requestPermission: false,
  });
  await session.send('Look');
  await vi.waitFor(async () =>
    expect(await waits(session)).toMatchObject([{ kind: 'hooks', hookType: 'preToolUse' }]),
  );
  expect(dataOf(session, 'external_tool.requested')).toEqual([]);
  const guard = await runtime.connect(runtime.process, { hasGaps: true });
  hooked(guard, { preToolUse: () => ({ permissionDecision: 'deny' }) });
  await guard.resume(before.sessionId, { hooks: true });
  expect(await seenThrough(session)).toEqual([]);
});

describe('a command of a hooks file', () => {
  async function guardedBy(bash: string, timeoutSec: number) {
    const workingDirectory = mkdtempSync(join(runtime.workingDirectory, 'project-'));
    writeFileSync(
      join(workingDirectory, 'hooks.json'),
      JSON.stringify({ version: 1, hooks: { preToolUse: [{ type: 'command', bash, timeoutSec }] } }),
    );
    const model = runtime.script(callTools(look()), say('done'));
    const session = await runtime.client.create({
      ...providerOf(model),
      tools,
      workingDirectory,
      enableFileHooks: true,
    });
    await session.send('Look');
    const ran = await seenThrough(session);
    const [complete] = dataOf(session, 'tool.execution_complete');
    return { workingDirectory, ran, error: complete.error?.message };
  }

  test.each([
    [
      'nests deep',
      `node -e 'process.stdout.write("[".repeat(4e5) + "]".repeat(4e5))'`,
      /deeper than 256 levels/,
    ],
    [
      'nests deep in a field',
      `node -e 'process.stdout.write("{\\"permissionDecision\\":\\"allow\\",\\"modifiedArgs\\":" + "[".repeat(2e5) + "]".repeat(2e5) + "}")'`,
      /deeper than 256 levels/,
    ],
    ['never ends', 'yes', /more than/],
    ['floods its errors and fails', 'head -c 50000000 /dev/zero >&2; exit 3', /exit code 3/],
    ['closes its pipes and lives on', 'exec >&- 2>&- <&-; sleep 1000', /did not answer within 1 s/],
  ])('whose output %s denies', async (_, bash, reason) => {
    const { ran, error } = await guardedBy(bash, reason.source.includes('within') ? 1 : 15);
    expect(ran).toEqual([]);
    expect(error).toMatch(reason);
    expect(error.length).toBeLessThan(10_000);
  });

  test('is ended with children that left its group', async () => {
    const { workingDirectory, ran } = await guardedBy(
      'setsid sleep 1000 & echo $! > child.pid; echo "{}"; sleep 1000',
      1,
    );
    expect(ran).toEqual([]);
    const pid = Number(readFileSync(join(workingDirectory, 'child.pid'), 'utf8'));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), { timeout: 10_000 });
  });
});
