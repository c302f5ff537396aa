import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  callTools,
  hold,
  inProcessRuntime,
  liveRuntime,
  providerOf,
  refuse,
  say,
  story,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';
import { dataOf, endsOf, hooked, inputsOf, never, openHooks } from './hooked.js';

const runtime = liveRuntime({ flags: ['--no-auto-update', '--port', '0'] });
const tools = [{ name: 'look', skipPermission: true }];
const look = (id: string) => ({ id, name: 'look', arguments: { at: 'here' } });
describe('a prompt whose hook has not decided', () => {
  test('is taken back by an abort, and runs neither then nor after a restart', async () => {
    const process = runtime.spawn({ flags: ['--no-auto-update', '--port', '0'] });
    const client = await runtime.connect(process, { hasGaps: true });
    hooked(client, { userPromptSubmitted: never });
    const model = runtime.script(say('never said'));
    const session = await client.create({ ...providerOf(model), hooks: true });
    await session.send('Do not');
    await session.next('hook.start');
    await session.call('session.abort');
    await session.next('session.idle');
    expect(story(session.events).slice(-5)).toEqual([
      'hook.end',
      'abort user_initiated',
      'hook.start',
      'hook.end',
      'session.idle~ aborted',
    ]);
    expect(endsOf(session, 'userPromptSubmitted')).toMatchObject([{ success: false }]);
    expect(await session.call('session.queue.pendingItems')).toEqual({ items: [], steeringMessages: [] });
    await process.signal('SIGKILL');
    hooked(runtime.client);
    const again = await runtime.client.resume(session.sessionId, {
      ...providerOf(model),
      hooks: true,
      continuePendingWork: true,
    });
    expect(await again.call('session.queue.pendingItems')).toEqual({ items: [], steeringMessages: [] });
    expect(await again.call('session.metadata.activity')).toMatchObject({ waitingOn: [] });
    expect(model.requests).toEqual([]);
  });

  test('waits again when the session is suspended', async () => {
    const model = runtime.script(say('said at last'));
    let decided: (value: unknown) => void = () => undefined;
    const asked = hooked(runtime.client, {
      userPromptSubmitted: () =>
        new Promise((resolve) => {
          decided = resolve;
        }),
    });
    const session = await runtime.client.create({ ...providerOf(model), hooks: true });
    await session.send('Later');
    await session.next('hook.start');
    await session.call('session.suspend');
    await session.next('session.idle');
    expect(await session.call('session.queue.pendingItems')).toMatchObject({
      items: [{ displayText: 'Later' }],
    });
    const again = await runtime.client.resume(session.sessionId, {
      ...providerOf(model),
      hooks: true,
      continuePendingWork: true,
    });
    await runtime.client.until(() => asked[1], 'the hook');
    decided({});
    await again.next('session.idle');
    expect(model.requests).toHaveLength(1);
  });

  test('is not lost by an abort when it was to steer the turn: it is the next turn', async () => {
    const held = hold(callTools(look('c1')));
    const model = runtime.script(held.reply, say('left then'), say('right then'));
    let stalls = false;
    hooked(runtime.client, { userPromptSubmitted: () => (stalls ? never() : {}) });
    const session = await runtime.client.create({ ...providerOf(model), hooks: true, tools });
    await session.send('Go');
    await model.asked(1);
    await session.send('Left', { mode: 'immediate' });
    await session.send('Right', { mode: 'immediate' });
    stalls = true;
    held.release();
    const { data } = await session.next('external_tool.requested');
    await session.answerTool(data.requestId, { result: 'a fork' });
    await runtime.client.until(
      () => dataOf(session, 'hook.start').filter(({ hookType }) => hookType === 'userPromptSubmitted')[1],
      'the hook of the steering prompt',
    );
    stalls = false;
    await session.call('session.abort');
    await session.next('session.idle');
    expect(story(session.events).filter((line) => line.startsWith('user.message'))).toEqual([
      'user.message "Go" idle 0',
      'user.message "Left" queued 0',
      'user.message "Right" steering 0',
    ]);
    expect(openHooks(session)).toEqual([]);
  });
});

test('what a hook takes out of a prompt reaches no client: not in hook.start, not in the title', async () => {
  const model = runtime.script(say('ok'));
  const asked = hooked(runtime.client, {
    userPromptSubmitted: () => ({ modifiedPrompt: 'Log in with ***' }),
  });
  const session = await runtime.client.create({ ...providerOf(model), hooks: true });
  await session.turn('Log in with hunter2');
  expect(inputsOf(asked, 'userPromptSubmitted')).toMatchObject([{ prompt: 'Log in with hunter2' }]);
  expect(JSON.stringify(session.events)).not.toContain('hunter2');
  expect(JSON.stringify(model.requests)).not.toContain('hunter2');
  expect(session.events.find(({ type }) => type === 'session.title_changed')?.data).toEqual({
    title: 'Log in with ***',
  });
});

test('an abort is answered while the hook at the end of the turn still thinks, and cuts it short the second time', async () => {
  const held = hold();
  const model = runtime.script(held.reply, say('next'));
  hooked(runtime.client, { sessionEnd: ({ reason }) => (reason === 'abort' ? never() : {}) });
  const session = await runtime.client.create({ ...providerOf(model), hooks: true });
  await session.send('Slow');
  await model.asked(1);
  await session.call('session.abort');
  expect(story(session.events)).toContain('abort user_initiated');
  await session.next('hook.start', ({ data }) => data.hookType === 'sessionEnd');
  await session.call('session.abort');
  await session.next('session.idle');
  expect(openHooks(session)).toEqual([]);
  held.release();
});

test('a session is closed although the hook at its end never answers', async () => {
  const held = hold();
  const model = runtime.script(held.reply);
  const asked = hooked(runtime.client, { sessionEnd: never });
  const session = await runtime.client.create({ ...providerOf(model), hooks: true });
  await session.send('Slow');
  await model.asked(1);
  const before = performance.now();
  await session.call('session.destroy');
  expect(performance.now() - before).toBeLessThan(10_000);
  expect(inputsOf(asked, 'sessionEnd')).toMatchObject([{ reason: 'user_exit' }]);
  held.release();
});

test('what a hook configures at the start counts for the first model call', async () => {
  const model = runtime.script(say('ok'));
  hooked(runtime.client, {
    sessionStart: () => ({
      modifiedConfig: { model: 'other', reasoningEffort: 'high', excludedTools: ['look'], colour: 'red' },
    }),
  });
  const session = await runtime.client.create({ ...providerOf(model), hooks: true, tools });
  await session.turn('Hello');
  const { body } = await model.asked(1);
  expect(body.model).toBe('other');
  expect(body.tools?.map((tool) => tool.function.name)).not.toContain('look');
  expect(dataOf(session, 'session.warning')).toMatchObject([
    { warningType: 'hooks', message: expect.stringContaining("'colour'") },
  ]);
});

test('the hooks of several calls end in one event that says what was said of each', async () => {
  const model = runtime.script(callTools(look('c1'), look('c2'), look('c3')), say('done'));
  let calls = 0;
  hooked(runtime.client, {
    preToolUse: () => {
      calls += 1;
      return calls === 3 ? {} : { permissionDecision: 'deny', permissionDecisionReason: `reason ${calls}` };
    },
    postToolUse: () => ({ suppressOutput: true, additionalContext: 'hidden', userNotification: 'look here' }),
  });
  const session = await runtime.client.create({ ...providerOf(model), hooks: true, tools });
  await session.send('Look');
  const { data } = await session.next('external_tool.requested');
  await session.answerTool(data.requestId, { result: 'seen' });
  await session.next('session.idle');
  expect(endsOf(session, 'preToolUse')[0]).toMatchObject({
    success: true,
    output: {
      toolCalls: [
        { id: 'c1', output: { permissionDecision: 'deny', permissionDecisionReason: 'reason 1' } },
        { id: 'c2', output: { permissionDecision: 'deny', permissionDecisionReason: 'reason 2' } },
        { id: 'c3', output: {} },
      ],
    },
  });
  expect(endsOf(session, 'postToolUse')[0]).not.toHaveProperty('output');
  expect(dataOf(session, 'session.info')).toContainEqual({ infoType: 'hook', message: 'look here' });
});

test('an abort ends every hook that was called', async () => {
  const model = runtime.script(callTools(look('c1'), look('c2')));
  hooked(runtime.client, { preToolUse: never });
  const session = await runtime.client.create({ ...providerOf(model), hooks: true, tools });
  await session.send('Look');
  await session.next('hook.start', ({ data }) => data.hookType === 'preToolUse');
  await session.call('session.abort');
  await session.next('session.idle');
  expect(openHooks(session)).toEqual([]);
  expect(endsOf(session, 'preToolUse')[0]).toMatchObject({
    success: false,
    error: { message: expect.stringContaining('stopped') },
  });
});

describe('errorOccurred', () => {
  test('a tool that failed is run again as often as the hook says, then the model reads the failure', async () => {
    const model = runtime.script(callTools(look('c1')), say('done'));
    const asked = hooked(runtime.client, {
      errorOccurred: () => ({ errorHandling: 'retry', retryCount: 2 }),
    });
    const session = await runtime.client.create({ ...providerOf(model), hooks: true, tools });
    await session.send('Look');
    for (const text of ['first', 'second', 'third']) {
      const { data } = await session.next('external_tool.requested');
      const result = { resultType: 'failure', textResultForLlm: `${text} failure` };
      await session.answerTool(data.requestId, { result });
    }
    await session.next('session.idle');
    expect(inputsOf(asked, 'errorOccurred')).toMatchObject(
      ['first', 'second', 'third'].map((text) => ({
        error: expect.stringContaining(`${text} failure`),
        errorContext: 'tool_execution',
        recoverable: true,
      })),
    );
    // Every attempt passes the gate, and only the last one is the call's result.
    expect(inputsOf(asked, 'preToolUse')).toHaveLength(3);
    expect(inputsOf(asked, 'postToolUseFailure')).toHaveLength(1);
    const results = model.requests[1]?.body.messages.filter(({ role }) => role === 'tool');
    expect(JSON.stringify(results)).toContain('third failure');
  });

  test('a hook may end the turn because a tool failed', async () => {
    const model = runtime.script(callTools(look('c1'), look('c2')));
    hooked(runtime.client, { errorOccurred: () => ({ errorHandling: 'abort' }) });
    const session = await runtime.client.create({ ...providerOf(model), hooks: true, tools });
    await session.send('Look');
    const { data } = await session.next('external_tool.requested');
    await session.answerTool(data.requestId, { error: 'broken' });
    const { data: idle } = await session.next('session.idle');
    expect(idle).toEqual({ aborted: true });
    expect(story(session.events)).toContain('abort user_abort');
    expect(model.requests).toHaveLength(1);
  });

  test.each(['skip', 'abort'] as const)(
    'a failed model call is counted once when a hook says %s',
    async (errorHandling) => {
      const model = runtime.script(refuse(500, 'overloaded'), say('the second and last call'));
      const asked = hooked(runtime.client, { errorOccurred: () => ({ errorHandling }) });
      const session = await runtime.client.create({
        ...providerOf(model),
        hooks: true,
        sessionLimits: { maxCalls: 2 },
      });
      await session.turn('Hello');
      expect(inputsOf(asked, 'errorOccurred')).toMatchObject([
        { errorContext: 'model_call', recoverable: true },
      ]);
      expect(dataOf(session, 'session.error')).toEqual([]);
      expect(dataOf(session, 'abort')).toEqual(errorHandling === 'abort' ? [{ reason: 'user_abort' }] : []);
      await session.turn('Hello again');
      expect(dataOf(session, 'assistant.message')).toMatchObject([{ content: 'the second and last call' }]);
    },
  );

  test.each([
    [2, 3, 'the third answer'],
    [0, 1, undefined],
    [-1, 1, undefined],
    [99, 6, undefined],
  ])(
    'a model call that failed is made again %d times, within the bound of the runtime',
    async (retryCount, calls, said) => {
      const failures = Array.from({ length: said === undefined ? 9 : calls - 1 }, () => refuse(400, 'no'));
      const model = runtime.script(...failures, say(said ?? 'unsaid'));
      const asked = hooked(runtime.client, {
        errorOccurred: () => ({ errorHandling: 'retry', retryCount }),
      });
      const session = await runtime.client.create({ ...providerOf(model), hooks: true });
      await session.turn('Hello');
      expect(model.requests).toHaveLength(calls);
      expect(inputsOf(asked, 'errorOccurred')).toHaveLength(said === undefined ? calls : calls - 1);
      expect(dataOf(session, 'assistant.message')).toMatchObject(
        said === undefined ? [] : [{ content: said }],
      );
      expect(inputsOf(asked, 'sessionEnd')).toMatchObject([
        { reason: said === undefined ? 'error' : 'complete' },
      ]);
    },
  );

  test('an attachment that cannot be read is an error of the user; the hook may have it read again', async () => {
    const path = join(runtime.workingDirectory, 'late.txt');
    const model = runtime.script(say('read'));
    const asked = hooked(runtime.client, {
      errorOccurred: () => {
        writeFileSync(path, 'here now\n');
        return { errorHandling: 'retry' };
      },
    });
    const session = await runtime.client.create({ ...providerOf(model), hooks: true });
    await session.turn('Read this', { attachments: [{ type: 'file', path }] });
    expect(inputsOf(asked, 'errorOccurred')).toMatchObject([
      { errorContext: 'user_input', recoverable: true, error: expect.stringContaining('late.txt') },
    ]);
    expect(JSON.stringify(model.requests[0]?.body.messages)).toContain('late.txt (1 lines)');
  });

  test('an attachment that cannot be read may end the prompt, which is withdrawn', async () => {
    const model = runtime.script(say('unsaid'));
    const asked = hooked(runtime.client, { errorOccurred: () => ({ errorHandling: 'abort' }) });
    const session = await runtime.client.create({ ...providerOf(model), hooks: true });
    await session.turn('Read this', { attachments: [{ type: 'file', path: 'not-there.txt' }] });
    expect(inputsOf(asked, 'errorOccurred')).toHaveLength(1);
    expect(model.requests).toEqual([]);
    expect(await session.call('session.queue.pendingItems')).toEqual({ items: [], steeringMessages: [] });
  });

  test('an error of the runtime is reported once, and may be skipped', async () => {
    for (const errorHandling of [undefined, 'skip'] as const) {
      const model = runtime.script(say('unsaid'));
      const asked = hooked(runtime.client, { errorOccurred: () => ({ errorHandling }) });
      const session = await runtime.client.create({
        ...providerOf(model),
        hooks: true,
        tools: [{ name: 'view', description: 'Stands in the way of a built-in tool' }],
      });
      await session.turn('Hello');
      expect(inputsOf(asked, 'errorOccurred')).toMatchObject([
        { errorContext: 'system', recoverable: false },
      ]);
      const errors = session.events.filter(({ type }) => type === 'session.error');
      expect(errors).toHaveLength(errorHandling === 'skip' ? 0 : 1);
      expect(inputsOf(asked, 'sessionEnd')).toMatchObject([
        { reason: errorHandling === 'skip' ? 'complete' : 'error' },
      ]);
    }
  });
});

describe('sessionEnd', () => {
  test('says complete, error or abort, and what was said last', async () => {
    const held = hold();
    const model = runtime.script(say('bye'), refuse(400, 'no'), held.reply);
    const asked = hooked(runtime.client, {
      sessionEnd: () => ({ sessionSummary: 'greetings', cleanupActions: ['swept'] }),
    });
    const session = await runtime.client.create({ ...providerOf(model), hooks: true });
    await session.turn('One');
    await session.turn('Two');
    await session.send('Three');
    await model.asked(3);
    await session.call('session.abort');
    await session.next('session.idle');
    expect(inputsOf(asked, 'sessionEnd')).toMatchObject([
      { reason: 'complete', finalMessage: 'bye' },
      { reason: 'error', error: expect.stringContaining('no') },
      { reason: 'abort' },
    ]);
    expect(endsOf(session, 'sessionEnd')[0].output).toEqual({
      sessionSummary: 'greetings',
      cleanupActions: ['swept'],
    });
    const { sessions } = await runtime.client.call<{ sessions: { sessionId: string; summary?: string }[] }>(
      'session.list',
    );
    expect(sessions.find(({ sessionId }) => sessionId === session.sessionId)?.summary).toBe('greetings');
    held.release();
  });

  test('says timeout when the turn took too long', async () => {
    const limits = { toolRounds: 2, queuedPrompts: 2, turnMilliseconds: 50, stopBlocks: 3, continuations: 5 };
    const world = await inProcessRuntime({ limits });
    const held = hold();
    const asked = hooked(world.client);
    const session = await world.client.create({ ...providerOf(world.api.script(held.reply)), hooks: true });
    await session.turn('Slow');
    expect(inputsOf(asked, 'sessionEnd')).toMatchObject([{ reason: 'timeout' }]);
    held.release();
    await world.close();
  });
});

test('agentStop keeps the agent at work three times for each prompt, or as often as the client says', async () => {
  for (const [hookOptions, blocks] of [
    [{}, 3],
    [{ stopBlocks: 5 }, 5],
    [{ stopBlocks: 0 }, 0],
  ] as const) {
    const model = runtime.script(...Array.from({ length: blocks + 1 }, (_, index) => say(`answer ${index}`)));
    const asked = hooked(runtime.client, { agentStop: () => ({ decision: 'block', reason: 'Not yet' }) });
    const session = await runtime.client.create({ ...providerOf(model), hooks: true, hookOptions });
    await session.turn('Work');
    expect(model.requests).toHaveLength(blocks + 1);
    expect(inputsOf(asked, 'agentStop').map(({ stop_hook_active }) => stop_hook_active)).toEqual(
      Array.from({ length: blocks }, (_, index) => index > 0),
    );
  }
});

test('the transcript that agentStop names has every event so far, also in processes after a crash and with a damaged mark', async () => {
  const flags = ['--no-auto-update', '--port', '0'];
  const model = runtime.script(...['one', 'two', 'three', 'four'].map((text) => say(text)));
  let sessionId = '';
  for (const damage of ['', '', '{"seq":1,"bytes":', '{}']) {
    const process = runtime.spawn({ flags });
    const client = await runtime.connect(process, { hasGaps: true });
    const read: unknown[] = [];
    let path = '';
    hooked(client, {
      agentStop: ({ transcriptPath }) => {
        path = transcriptPath;
        for (const line of readFileSync(path, 'utf8').trim().split('\n')) read.push(JSON.parse(line));
      },
    });
    const settings = { ...providerOf(model), hooks: true, hookOptions: { types: ['agentStop'] } };
    const session =
      sessionId === '' ? await client.create(settings) : await client.resume(sessionId, settings);
    sessionId = session.sessionId;
    await session.turn('Go');
    const stored = await session.stored();
    const until = stored.findLastIndex(({ type }) => type === 'assistant.turn_end');
    expect(read).toEqual(stored.slice(0, until + 1));
    await process.signal('SIGKILL');
    if (damage !== '') writeFileSync(path.replace('.jsonl', '.mark.json'), damage);
  }
});

test('a client is asked at the points it names, and at no other', async () => {
  const model = runtime.script(callTools(look('c1')), say('done'));
  const asked = hooked(runtime.client);
  const session = await runtime.client.create({
    ...providerOf(model),
    hooks: true,
    hookOptions: { types: ['preToolUse', 'sessionEnd'] },
    tools,
  });
  await session.send('Look');
  const { data } = await session.next('external_tool.requested');
  await session.answerTool(data.requestId, { result: 'seen' });
  await session.next('session.idle');
  expect(asked.map(({ hookType }) => hookType)).toEqual(['preToolUse', 'sessionEnd']);
});
