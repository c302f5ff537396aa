import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  callTools,
  hold,
  liveRuntime,
  providerOf,
  refuse,
  type ScriptedReply,
  say,
  story,
  streamChunks,
  type WireSession,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
/** What the scripted service reports for every call: 7 tokens in, 3 out. */
const reported = {
  inputTokens: 7,
  outputTokens: 3,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};
/** By the price of gpt-4.1: 2 dollars a million in, 8 out. */
const dollarsPerCall = 38 / 1_000_000;
const priced = { model: 'gpt-4.1' };

const lines = (session: WireSession) =>
  story(session.events).filter((line) =>
    /^(assistant\.message|session_limits|session\.(error|idle|session_l))/.test(line),
  );

async function limited(sessionLimits: object, replies: readonly ScriptedReply[], more: object = {}) {
  return runtime.session(replies, { sessionLimits, ...more });
}

describe('usage', () => {
  test('is published for each call: tokens, time and what it cost', async () => {
    const { session } = await runtime.session([streamChunks('a', 'b')], { ...priced, streaming: true });
    const events = await session.turn('Hello');
    expect(events.find(({ type }) => type === 'assistant.usage')?.data).toEqual({
      model: 'gpt-4.1',
      ...reported,
      cost: dollarsPerCall,
      duration: expect.any(Number),
      timeToFirstTokenMs: expect.any(Number),
      interTokenLatencyMs: expect.any(Number),
      initiator: 'user',
      numToolCalls: 0,
      finishReason: 'stop',
      apiCallId: 'chatcmpl-1',
    });
  });

  test('of a model with an unknown price costs null, and so does the session', async () => {
    const { session } = await runtime.session([say('a')]);
    const events = await session.turn('Hello');
    expect(events.find(({ type }) => type === 'assistant.usage')?.data).toMatchObject({ cost: null });
    expect(await session.call('session.usage.getMetrics')).toMatchObject({
      totalCost: null,
      // Clients of some ages read no null here.
      modelMetrics: { scripted: { requests: { count: 1, cost: 0 }, usage: reported } },
    });
  });

  test('adds up over calls and survives a restart', async () => {
    const model = runtime.script(say('a'), say('b'), say('c'));
    const first = runtime.spawn({ flags: ['--stdio'] });
    const client = await runtime.connect(first, { hasGaps: true });
    const session = await client.create({ ...providerOf(model), ...priced });
    await session.turn('One');
    await session.turn('Two');
    await first.signal('SIGKILL');
    const again = await runtime.client.resume(session.sessionId, { ...providerOf(model), ...priced });
    await again.turn('Three');
    expect(await again.call('session.usage.getMetrics')).toMatchObject({
      totalCost: expect.closeTo(3 * dollarsPerCall, 12),
      totalNanoAiu: Math.round(3 * dollarsPerCall * 1e11),
      lastCallInputTokens: 7,
      lastCallOutputTokens: 3,
      modelMetrics: {
        'gpt-4.1': { requests: { count: 3 }, usage: { inputTokens: 21, outputTokens: 9 } },
      },
    });
  });
});

test('a session that closes says what it used and changed in all: with sub-agents, summaries and earlier processes; a fork begins anew', async () => {
  const path = join(runtime.workingDirectory, 'totals.txt');
  const edit = { path, old_str: 'b\n', new_str: 'B\nBB\n' };
  const task = { agent_type: 'general-purpose', description: 'Edit', prompt: 'Edit it', name: 'editor' };
  const { session, model } = await runtime.session([
    callTools({ id: 'c1', name: 'create', arguments: { path, file_text: 'a\nb\nc\n' } }),
    say('made'),
    callTools({ id: 't1', name: 'task', arguments: task }),
    callTools({ id: 'c2', name: 'edit', arguments: edit }),
    ...[say('edited'), say('all done'), say('<overview>We wrote.</overview>'), say('after')],
  ]);
  await session.call('session.permissions.setMode', { mode: 'allow-all' });
  await session.turn('Make it');
  await session.turn('Have it edited');
  await session.call('session.history.compact');
  const ending = async (closing: WireSession, prompt: string) => {
    await closing.turn(prompt);
    await runtime.client.call('session.destroy', { sessionId: closing.sessionId });
    return (await closing.next('session.shutdown')).data;
  };
  const used = (count: number) => ({
    scripted: {
      requests: { count, cost: null },
      usage: { ...reported, inputTokens: 7 * count, outputTokens: 3 * count },
    },
  });
  const codeChanges = { linesAdded: 5, linesRemoved: 1, filesModified: [path] };
  const first = await ending(session, 'And now?');
  expect(first).toMatchObject({ shutdownType: 'routine', modelMetrics: used(8), codeChanges });
  model.play(say('again'), say('forked'));
  const again = await runtime.client.resume(session.sessionId, providerOf(model));
  expect(await ending(again, 'Again')).toMatchObject({ modelMetrics: used(9), codeChanges });
  const { sessionId } = await runtime.client.call<{ sessionId: string }>('sessions.fork', {
    sessionId: session.sessionId,
  });
  const fork = await runtime.client.resume(sessionId, providerOf(model));
  expect(await ending(fork, 'Fork')).toMatchObject({
    modelMetrics: used(1),
    codeChanges: { linesAdded: 0, linesRemoved: 0, filesModified: [] },
  });
});

test('the model hears with each call what is left, and nothing of it stays in the conversation', async () => {
  const tools = [{ name: 'look', skipPermission: true }];
  const replies = [callTools({ id: 'c1', name: 'look', arguments: {} }), say('one'), say('two')];
  const { session, model } = await limited({ maxCalls: 3 }, replies, { tools });
  await session.send('One');
  const { requestId } = (await session.next('external_tool.requested')).data;
  await session.answerTool(requestId, { result: 'a tree' });
  await session.next('session.idle');
  await session.turn('Two');
  const received = model.requests.map(({ body }) => {
    const messages = body.messages as { role: string; content: string | null }[];
    const isStatus = messages.map(({ content }) => content?.startsWith('<session_limits_status>') ?? false);
    return [isStatus.indexOf(true) - messages.length, messages.at(-1)?.content?.split('. ')];
  });
  const later = 'Later session_limits_status messages supersede earlier ones';
  const frugal =
    'Be frugal; avoid optional exploration and unnecessary tool calls.\n</session_limits_status>';
  const left = (rest: string) => `<session_limits_status>\nRemaining session limits: ${rest}`;
  expect(received).toEqual([
    [-1, [left('3 model calls'), later, frugal]],
    [-1, [left('2 model calls'), later, frugal]],
    [-1, [left('1 model call'), later, expect.stringMatching(/^Final model call for this session/)]],
  ]);
  expect(story(session.events).filter((line) => line.startsWith('user.message'))).toHaveLength(2);
});

describe('at its limit', () => {
  test('of calls a session asks, and goes on when it may', async () => {
    const { session, model } = await limited({ maxCalls: 1 }, [say('one'), say('two'), say('three')]);
    await session.turn('One');
    await session.send('Two');
    const { data } = await session.next('session_limits_exhausted.requested');
    expect(data).toEqual({
      requestId: expect.any(String),
      limit: 'maxCalls',
      max: 1,
      used: 1,
      maxAiCredits: 0,
      usedAiCredits: 0,
    });
    expect(model.requests).toHaveLength(1);
    const answer = (action: object) =>
      session.call('session.ui.handlePendingSessionLimitsExhausted', {
        requestId: data.requestId,
        response: action,
      });
    expect(await session.call('session.metadata.activity')).toMatchObject({
      waitingOn: [{ kind: 'session_limits', requestId: data.requestId }],
    });
    expect(await session.call('session.questions.pending')).toMatchObject({
      items: [{ kind: 'session_limits', requestId: data.requestId, data }],
    });
    expect(await answer({ action: 'add', additional: 1 })).toEqual({ success: true });
    expect(await answer({ action: 'add', additional: 9 })).toEqual({ success: false });
    await session.next('session.idle');
    expect(lines(session)).toEqual([
      'assistant.message "one"',
      'session.idle~',
      'session_limits_exhausted.requested~',
      'session_limits_exhausted.completed~',
      'session.session_limits_changed',
      'assistant.message "two"',
      'session.idle~',
    ]);
    expect(await session.call('session.metadata.snapshot')).toMatchObject({ sessionLimits: { maxCalls: 2 } });
  });

  test('and answered with stop, its turn ends with an error and the next asks again', async () => {
    const { session, model } = await limited({ maxCalls: 0 }, [say('never')]);
    for (const prompt of ['One', 'Two']) {
      await session.send(prompt);
      const { requestId } = (await session.next('session_limits_exhausted.requested')).data;
      const response = { action: 'cancel' };
      await session.call('session.ui.handlePendingSessionLimitsExhausted', { requestId, response });
      const { data } = await session.next('session.error');
      expect(data).toEqual({
        errorType: 'session_limits',
        errorCode: 'session_limits_exhausted',
        message: 'The session has spent its limit of 0 model calls.',
      });
      await session.next('session.idle');
    }
    expect(model.requests).toEqual([]);
  });

  test('attempts that failed are calls too', async () => {
    const replies = [refuse(503, 'busy', { 'retry-after': '0' }), say('now')];
    const { session, model } = await limited({ maxCalls: 1 }, replies);
    await session.send('Hello');
    const { data } = await session.next('session_limits_exhausted.requested');
    expect([data.used, model.requests.length]).toEqual([1, 1]);
    const response = { action: 'unset' };
    await session.call('session.ui.handlePendingSessionLimitsExhausted', {
      requestId: data.requestId,
      response,
    });
    await session.next('session.idle');
    expect(lines(session).slice(-3)).toEqual([
      'session.session_limits_changed',
      'assistant.message "now"',
      'session.idle~',
    ]);
    expect(await session.call('session.metadata.snapshot')).toMatchObject({ sessionLimits: null });
  });

  test('an answer that was aborted is a call too, without a report of its usage', async () => {
    const { reply } = hold();
    const { session, model } = await limited({ maxCalls: 2 }, [reply, say('two')]);
    await session.send('One');
    await model.asked(1);
    await session.call('session.abort');
    await session.next('session.idle');
    await session.turn('Two');
    await session.send('Three');
    expect((await session.next('session_limits_exhausted.requested')).data).toMatchObject({
      max: 2,
      used: 2,
    });
    expect(await session.call('session.usage.getMetrics')).toMatchObject({
      modelMetrics: { scripted: { requests: { count: 1 }, usage: reported } },
    });
    await session.call('session.abort');
    await session.next('session.idle');
  });

  test('of tokens, the answer may be no longer than what is left', async () => {
    const { session, model } = await limited({ maxTokens: 1_000_000 }, [
      say('one'),
      say('two'),
      say('three'),
    ]);
    await session.turn('One');
    expect(model.requests[0]?.body).not.toHaveProperty('max_tokens');
    await session.call('session.options.update', { sessionLimits: { maxTokens: 60 } });
    await session.turn('Two');
    // 10 are spent, and a prompt like the last one, which was of 7, leaves some forty for the answer.
    const most = Number(model.requests[1]?.body.max_tokens ?? model.requests[1]?.body.max_completion_tokens);
    expect(most).toBeGreaterThanOrEqual(40);
    expect(most).toBeLessThanOrEqual(43);
    await session.call('session.options.update', { sessionLimits: { maxTokens: 30 } });
    await session.send('Three');
    expect((await session.next('session_limits_exhausted.requested')).data).toMatchObject({
      limit: 'maxTokens',
      max: 30,
      used: 20,
    });
    await session.call('session.abort');
    await session.next('session.idle');
  });

  test('of money it is never exceeded, whatever the answers cost', async () => {
    const { session } = await limited({ maxAiCredits: 5 }, Array(10).fill(say('x')), priced);
    await session.turn('Hello');
    await session.call('session.options.update', { sessionLimits: { maxCost: 3 * dollarsPerCall } });
    await session.send('Again');
    expect((await session.next('session_limits_exhausted.requested')).data).toMatchObject({
      limit: 'maxCost',
      used: dollarsPerCall,
      usedAiCredits: 100 * dollarsPerCall,
    });
    await session.call('session.abort');
    await session.next('session.idle');
  });

  test('of money, a model with an unknown price is not called', async () => {
    const { session, model } = await limited({ maxAiCredits: 5 }, [say('never')]);
    const events = await session.turn('Hello');
    expect(events.find(({ type }) => type === 'session.error')?.data).toMatchObject({
      errorType: 'session_limits',
      message: expect.stringContaining('what scripted costs is not known'),
    });
    expect(model.requests).toEqual([]);
  });

  test('after a crash the same question waits, and what the call had been given is counted', async () => {
    const { reply } = hold();
    const tools = [{ name: 'look', skipPermission: true }];
    const model = runtime.script(reply, callTools({ id: 'c1', name: 'look', arguments: {} }), say('never'));
    const settings = { ...providerOf(model), tools, sessionLimits: { maxCalls: 2 } };
    const first = runtime.spawn({ flags: ['--stdio'] });
    const client = await runtime.connect(first, { hasGaps: true });
    const session = await client.create(settings);
    await session.send('Look');
    await model.asked(1);
    await first.signal('SIGKILL');
    const second = runtime.spawn({ flags: ['--stdio'] });
    const middle = await runtime.connect(second, { hasGaps: true });
    const { sessionLimits: _, ...plain } = settings;
    const taken = await middle.resume(session.sessionId, { ...plain, continuePendingWork: true });
    const { requestId } = (await taken.next('external_tool.requested')).data;
    await taken.answerTool(requestId, { result: 'a tree' });
    const asked = await taken.next('session_limits_exhausted.requested');
    expect(asked.data).toMatchObject({ limit: 'maxCalls', max: 2, used: 2 });
    await second.signal('SIGKILL');
    const last = await runtime.client.resume(session.sessionId, { ...plain, continuePendingWork: true });
    const again = await last.next('session_limits_exhausted.requested');
    expect(again.data).toEqual(asked.data);
    const response = { action: 'set', max: 3 };
    model.play(say('done'));
    await last.call('session.ui.handlePendingSessionLimitsExhausted', {
      requestId: again.data.requestId,
      response,
    });
    await last.next('session.idle');
  });
});

test('limits given on resume hold from then on, and are published', async () => {
  const { session, model } = await runtime.session([say('one')]);
  await session.turn('One');
  const again = await runtime.client.resume(session.sessionId, {
    ...providerOf(model),
    sessionLimits: { maxCalls: 1 },
  });
  await again.next('session.session_limits_changed');
  expect((await again.stored()).find(({ type }) => type === 'session.resume')?.data).toMatchObject({
    sessionLimits: { maxCalls: 1 },
  });
  await again.send('Two');
  await again.next('session_limits_exhausted.requested');
  await again.call('session.abort');
  await again.next('session.idle');
});

test('prices of the home’s own settings come first', async () => {
  const home = join(runtime.home.path, 'with-prices');
  const model = runtime.script(say('a'));
  mkdirSync(home);
  writeFileSync(
    join(home, 'config.json'),
    JSON.stringify({ prices: { scripted: { input: 1000, output: 2000 } } }),
  );
  const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'], home }));
  const events = await (await client.create(providerOf(model))).turn('Hello');
  expect(events.find(({ type }) => type === 'assistant.usage')?.data).toMatchObject({ cost: 0.013 });
});

test('an answer to no question is refused', async () => {
  const { session } = await runtime.session([]);
  const response = { action: 'cancel' };
  expect(
    await session.call('session.ui.handlePendingSessionLimitsExhausted', { requestId: 'none', response }),
  ).toEqual({ success: false });
});
