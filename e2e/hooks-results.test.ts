import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  callTools,
  hold,
  inProcessRuntime,
  liveRuntime,
  providerOf,
  say,
  type WireClient,
  type WireSession,
} from '@groundcrew/testkit';
import { expect, test, vi } from 'vitest';
import { dataOf, endsOf, hooked, inputsOf, never } from './hooked.js';

const flags = ['--no-auto-update', '--port', '0'];
const runtime = liveRuntime({ flags });
const tools = [{ name: 'look', skipPermission: true }];
const look = callTools({ id: 'c1', name: 'look', arguments: { at: 'here' } });
const shell = (command: string, id = 'c1') =>
  callTools({ id, name: 'bash', arguments: { command, description: 'Runs' } });
const redact = {
  postToolUse: () => ({ modifiedResult: { textResultForLlm: '***', resultType: 'success' } }),
};
const waits = async (session: WireSession) =>
  (await session.call<{ waitingOn: { kind: string; hookType?: string }[] }>('session.metadata.activity'))
    .waitingOn;

/** A session of one client, with the hooks of another. */
async function guarded(model: ReturnType<typeof runtime.script>, handlers = {}, options = {}) {
  const session = await runtime.client.create({ ...providerOf(model), tools, requestPermission: false });
  const guard = await runtime.connect(runtime.process, { hasGaps: true });
  const asked = hooked(guard, handlers);
  await guard.resume(session.sessionId, { hooks: true, ...options });
  return { session, guard, asked };
}

test('a result waits for the hooks of a client that left while the tool ran, and is redacted when it is back', async () => {
  const model = runtime.script(look, say('done'));
  const { session, guard } = await guarded(model, redact);
  await session.send('Look');
  const { data } = await session.next('external_tool.requested');
  await guard.close();
  await session.answerTool(data.requestId, { result: 'the secret' });
  await vi.waitFor(async () =>
    expect(await waits(session)).toMatchObject([{ kind: 'hooks', hookType: 'postToolUse' }]),
  );
  expect(JSON.stringify(session.events)).not.toContain('the secret');
  const again = await runtime.connect(runtime.process, { hasGaps: true });
  hooked(again, redact);
  await again.resume(session.sessionId, { hooks: true });
  await session.next('session.idle');
  expect(JSON.stringify([session.events, model.requests])).not.toContain('the secret');
  expect(dataOf(session, 'tool.execution_complete')).toMatchObject([{ result: { content: '***' } }]);
});

test('a result that waits for hooks is shown as it is when a resume waives them', async () => {
  const model = runtime.script(look, say('done'));
  const { session, guard } = await guarded(model, redact);
  await session.send('Look');
  const { data } = await session.next('external_tool.requested');
  await guard.close();
  await session.answerTool(data.requestId, { result: 'a tree' });
  await vi.waitFor(async () => expect(await waits(session)).toMatchObject([{ kind: 'hooks' }]));
  const other = await runtime.connect(runtime.process, { hasGaps: true });
  await other.resume(session.sessionId, { waiveHooks: true });
  await session.next('session.idle');
  expect(dataOf(session, 'tool.execution_complete')).toMatchObject([{ result: { content: 'a tree' } }]);
});

test('a call that the user approved while the hooks were away brings its result at once', async () => {
  const model = runtime.script(look, say('done'));
  const session = await runtime.client.create({ ...providerOf(model), tools });
  const guard = await runtime.connect(runtime.process, { hasGaps: true });
  hooked(guard);
  await guard.resume(session.sessionId, { hooks: true });
  await guard.close();
  await session.send('Look');
  const { data: asked } = await session.next('permission.requested');
  await session.decide(asked.requestId, { kind: 'approve-once' });
  const { data } = await session.next('external_tool.requested');
  await session.answerTool(data.requestId, { result: 'a tree' });
  await session.next('session.idle');
  expect(dataOf(session, 'tool.execution_complete')).toMatchObject([{ success: true }]);
});

test.each(['before', 'after'])(
  'a call that waits for hooks leaves memory when the last client leaves %s it waits, and goes on with the hooks',
  async (when) => {
    const world = await inProcessRuntime();
    const held = hold(look);
    const model = world.api.script(held.reply, say('done'));
    const owner = world.connect();
    const session = await owner.create({ ...providerOf(model), tools, requestPermission: false });
    const guard = world.connect();
    await guard.resume(session.sessionId, { hooks: true });
    await guard.close();
    await session.send('Look');
    await model.asked(1);
    if (when === 'after') {
      held.release();
      await vi.waitFor(async () => expect(await waits(session)).toMatchObject([{ kind: 'hooks' }]));
    }
    await owner.close();
    held.release();
    await vi.waitFor(() => expect(world.runtime.find(session.sessionId)).toBeUndefined());
    const asked = hooked(world.client);
    const again = await world.client.resume(session.sessionId, { ...providerOf(model), tools, hooks: true });
    const { data } = await again.next('external_tool.requested');
    await again.answerTool(data.requestId, { result: 'seen' });
    await again.next('session.idle');
    expect(inputsOf(asked, 'preToolUse')).toHaveLength(1);
    await world.close();
  },
);

/** Kills a runtime while a call's hook thinks; returns what a new process needs to go on. */
async function killedWhile(hookType: string, model: ReturnType<typeof runtime.script>, handlers = {}) {
  const process = runtime.spawn({ flags });
  const client = await runtime.connect(process, { hasGaps: true });
  hooked(client, { ...handlers, [hookType]: never });
  const session = await client.create({ ...providerOf(model), tools, hooks: true });
  await session.send('Look');
  return { process, client, session };
}

async function resumed(client: WireClient, sessionId: string, params: object): Promise<WireSession> {
  return client.resume(sessionId, { tools, continuePendingWork: true, ...params });
}

test('a call whose arguments could not be read is not run without them by the process after a crash', async () => {
  const model = runtime.script(callTools({ id: 'c1', name: 'look', arguments: '{"at": "he' }), say('done'));
  const { process, session } = await killedWhile('preToolUse', model);
  await session.next('hook.start', ({ data }) => data.hookType === 'preToolUse');
  await process.signal('SIGKILL');
  const again = await resumed(runtime.client, session.sessionId, { ...providerOf(model), waiveHooks: true });
  await again.next('session.idle');
  expect(dataOf(again, 'external_tool.requested')).toEqual([]);
  expect(dataOf(again, 'tool.execution_complete')).toMatchObject([
    { success: false, error: { message: expect.stringContaining('were not valid JSON') } },
  ]);
});

test('after a crash postToolUse sees the arguments that the call was run with, and the tool does not run twice', async () => {
  const model = runtime.script(look, say('done'));
  const modifies = { preToolUse: () => ({ permissionDecision: 'allow', modifiedArgs: { at: 'there' } }) };
  const { process, session } = await killedWhile('postToolUse', model, modifies);
  const { data } = await session.next('external_tool.requested');
  expect(data.arguments).toEqual({ at: 'there' });
  await session.answerTool(data.requestId, { result: 'seen' });
  await session.next('hook.start', (event) => event.data.hookType === 'postToolUse');
  await process.signal('SIGKILL');
  const asked = hooked(runtime.client, redact);
  const again = await resumed(runtime.client, session.sessionId, { ...providerOf(model), hooks: true });
  await again.next('session.idle');
  expect(inputsOf(asked, 'postToolUse')).toMatchObject([
    { toolArgs: { at: 'there' }, toolResult: { textResultForLlm: 'seen' } },
  ]);
  expect(dataOf(again, 'external_tool.requested')).toEqual([]);
  expect(JSON.stringify(model.requests[1]?.body.messages)).toContain('***');
});

test('output that a hook may redact is not streamed before the hook has seen it', async () => {
  const model = runtime.script(shell('echo hunter2; sleep 0.3; echo and more'), say('done'));
  hooked(runtime.client, {
    preToolUse: () => ({ permissionDecision: 'allow' }),
    postToolUse: ({ toolResult }) => ({
      modifiedResult: {
        ...toolResult,
        textResultForLlm: toolResult.textResultForLlm.replace('hunter2', '***'),
      },
    }),
  });
  const session = await runtime.client.create({ ...providerOf(model), hooks: true });
  await session.turn('Run it');
  expect(dataOf(session, 'tool.execution_partial_result')).toEqual([]);
  expect(dataOf(session, 'tool.execution_complete')[0].result.content).toContain('***\nand more');
  expect(JSON.stringify(dataOf(session, 'tool.execution_complete'))).not.toContain('hunter2');
});

test('output streams as ever where no hook looks at results', async () => {
  const model = runtime.script(shell('echo one; sleep 0.5; echo two'), say('done'));
  hooked(runtime.client, { preToolUse: () => ({ permissionDecision: 'allow' }) });
  const session = await runtime.client.create({
    ...providerOf(model),
    hooks: true,
    hookOptions: { types: ['preToolUse'] },
  });
  await session.turn('Run it');
  expect(dataOf(session, 'tool.execution_partial_result')).not.toEqual([]);
});

test('what the runtime says to the model passes userPromptSubmitted like a prompt', async () => {
  const turnIsOver = join(runtime.workingDirectory, 'turn-is-over');
  const command = `until [ -e '${turnIsOver}' ]; do sleep 0.02; done; echo over`;
  const background = callTools({
    id: 'c1',
    name: 'bash',
    arguments: { command, description: 'Waits', mode: 'async' },
  });
  const model = runtime.script(background, say('started'), say('read'));
  const asked = hooked(runtime.client, {
    preToolUse: () => ({ permissionDecision: 'allow' }),
    userPromptSubmitted: ({ prompt }) =>
      prompt.includes('has ended') ? { modifiedPrompt: 'It is over.', additionalContext: 'Be quick.' } : {},
  });
  const session = await runtime.client.create({ ...providerOf(model), hooks: true });
  await session.turn('Run it');
  writeFileSync(turnIsOver, '');
  await session.next('system.notification');
  expect(inputsOf(asked, 'userPromptSubmitted').map(({ prompt }) => prompt)).toEqual([
    'Run it',
    expect.stringContaining('has ended with exit code 0'),
  ]);
  await session.turn('And?');
  const [last] = model.requests.slice(-1);
  expect(JSON.stringify(last?.body.messages)).toContain('It is over.\\n\\n<system_reminder>\\nBe quick.');
  expect(endsOf(session, 'userPromptSubmitted')).toHaveLength(3);
});

test.each(['userPromptSubmitted', 'userPromptTransformed', 'sessionStart', 'agentStop', 'sessionEnd'])(
  'a prompt that was killed while %s was asked has its turn, once',
  async (hookType) => {
    const model = runtime.script(say('hello'), say('again'));
    const { process, client, session } = await killedWhile(hookType, model);
    await client.until(
      () => session.events.find(({ data }) => (data as { hookType?: string }).hookType === hookType),
      hookType,
    );
    await process.signal('SIGKILL');
    const asked = hooked(runtime.client);
    const again = await resumed(runtime.client, session.sessionId, { ...providerOf(model), hooks: true });
    if (hookType !== 'sessionEnd') await again.next('session.idle');
    const stored = await again.stored();
    expect(stored.filter(({ type }) => type === 'user.message')).toMatchObject([
      { data: { content: 'Look' } },
    ]);
    expect(stored.filter(({ type }) => type === 'assistant.message')).toMatchObject([
      { data: { content: 'hello' } },
    ]);
    expect(model.requests).toHaveLength(1);
    const isBefore = hookType === 'userPromptSubmitted' || hookType === 'userPromptTransformed';
    expect(inputsOf(asked, 'userPromptSubmitted')).toHaveLength(isBefore ? 1 : 0);
  },
);
