import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, providerOf, say } from '@groundcrew/testkit';
import { describe, expect, test, vi } from 'vitest';
import { dataOf, hooked, inputsOf } from './hooked.js';

const runtime = liveRuntime({ flags: ['--no-auto-update', '--port', '0'] });
const look = (id = 'c1') => ({ id, name: 'look', arguments: { at: 'here' } });
const tools = [{ name: 'look', skipPermission: true }];

const view = (path: string) => ({ id: 'c1', name: 'view', arguments: { path } });

describe('arguments that a hook has made', () => {
  test('are refused by the tool when they do not fit it', async () => {
    const model = runtime.script(callTools(view(join(runtime.workingDirectory, 'a.txt'))), say('done'));
    hooked(runtime.client, {
      preToolUse: () => ({ permissionDecision: 'allow', modifiedArgs: { path: { a: 1 } } }),
    });
    const session = await runtime.client.create({ ...providerOf(model), hooks: true });
    await session.turn('Read');
    const [{ success, error }] = dataOf(session, 'tool.execution_complete');
    expect(success).toBe(false);
    expect(error.message).toMatch(/path/);
  });

  test('are judged by the rules: what is denied stays denied although the hook allows it', async () => {
    const secret = join(runtime.workingDirectory, 'secret.txt');
    writeFileSync(secret, 'the secret');
    const model = runtime.script(callTools(view(join(runtime.workingDirectory, 'a.txt'))), say('done'));
    hooked(runtime.client, {
      preToolUse: () => ({ permissionDecision: 'allow', modifiedArgs: { path: secret } }),
    });
    const session = await runtime.client.create({ ...providerOf(model), hooks: true });
    const rules = join(runtime.home.path, 'permissions.json');
    writeFileSync(rules, JSON.stringify({ deny: [{ path: secret }] }));
    await session.turn('Read');
    rmSync(rules);
    expect(dataOf(session, 'tool.execution_complete')).toMatchObject([
      {
        success: false,
        error: {
          code: 'denied',
          message: expect.stringMatching(/^Permission denied by rules: .*secret\.txt/),
        },
      },
    ]);
    expect(JSON.stringify([session.events, model.requests])).not.toContain('the secret');
  });

  test('may have keys of prototypes, which are keys and nothing else', async () => {
    const model = runtime.script(callTools(look()), say('done'));
    const session = await runtime.client.create({ ...providerOf(model), tools });
    const guard = await runtime.connect(runtime.process, { hasGaps: true });
    const modifiedArgs = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}}}');
    hooked(guard, { preToolUse: () => ({ modifiedArgs }) });
    await guard.resume(session.sessionId, { hooks: true });
    await session.send('Look');
    const { data } = await session.next('external_tool.requested');
    expect(JSON.stringify(data.arguments)).toBe(JSON.stringify(modifiedArgs));
    await session.answerTool(data.requestId, { result: 'seen' });
    await session.next('session.idle');
    const { sessions } = await runtime.client.call<{ sessions: object[] }>('session.list');
    expect(sessions.every((each) => !('polluted' in each))).toBe(true);
  });
});

test('an abort while a hook decides lets the call run neither then nor when the hook allows it late', async () => {
  const model = runtime.script(callTools(look()), say('after'));
  const session = await runtime.client.create({ ...providerOf(model), tools });
  const guard = await runtime.connect(runtime.process, { hasGaps: true });
  let allow: (said: unknown) => void = () => undefined;
  hooked(guard, {
    preToolUse: () =>
      new Promise((resolve) => {
        allow = resolve;
      }),
  });
  await guard.resume(session.sessionId, { hooks: true });
  await session.send('Look');
  await session.next('hook.start', ({ data }) => data.hookType === 'preToolUse');
  await session.call('session.abort');
  await session.next('session.idle');
  allow({ permissionDecision: 'allow' });
  await session.turn('And now?');
  expect(dataOf(session, 'external_tool.requested')).toEqual([]);
});

test('a client that leaves while its hook decides and comes back denies, and is asked about the next call', async () => {
  const model = runtime.script(callTools(look('c1')), callTools(look('c2')), say('done'));
  const session = await runtime.client.create({ ...providerOf(model), tools, requestPermission: false });
  const guard = await runtime.connect(runtime.process, { hasGaps: true });
  const back = await runtime.connect(runtime.process, { hasGaps: true });
  const asked = hooked(back, {
    preToolUse: () => ({ permissionDecision: 'deny', permissionDecisionReason: 'later' }),
  });
  hooked(guard, {
    preToolUse: async () => {
      await back.resume(session.sessionId, { hooks: true, requestPermission: false });
      await guard.close();
      return new Promise(() => undefined);
    },
  });
  await guard.resume(session.sessionId, { hooks: true, requestPermission: false });
  await session.turn('Look');
  expect(dataOf(session, 'external_tool.requested')).toEqual([]);
  expect(inputsOf(asked, 'preToolUse')).toHaveLength(1);
  const messages = dataOf(session, 'tool.execution_complete').map(({ error }) => error.message);
  expect(messages[0]).toMatch(/The client has left/);
  expect(messages[1]).toBe('Denied by preToolUse hook: later');
});

test('one client that allows at once does not overtake one that denies late', async () => {
  const model = runtime.script(callTools(look()), say('done'));
  const session = await runtime.client.create({ ...providerOf(model), tools });
  const late = await runtime.connect(runtime.process, { hasGaps: true });
  let deny: (said: unknown) => void = () => undefined;
  const asked = hooked(late, {
    preToolUse: () =>
      new Promise((resolve) => {
        deny = resolve;
      }),
  });
  const quick = await runtime.connect(runtime.process, { hasGaps: true });
  hooked(quick, { preToolUse: () => ({ permissionDecision: 'allow' }) });
  await quick.resume(session.sessionId, { hooks: true });
  await late.resume(session.sessionId, { hooks: true });
  await session.send('Look');
  await vi.waitFor(() => expect(inputsOf(asked, 'preToolUse')).toHaveLength(1));
  expect(dataOf(session, 'external_tool.requested')).toEqual([]);
  deny({ permissionDecision: 'deny' });
  await session.next('session.idle');
  expect(dataOf(session, 'external_tool.requested')).toEqual([]);
});
