import { type CompletionMessage, callTools, hold, liveRuntime, say, story } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();
const tools = [{ name: 'look', skipPermission: true }];
const look = callTools({ id: 'c1', name: 'look', arguments: {} });
const interrupted = 'The execution of this tool, or a previous tool was interrupted.';
const lastUser = (messages: readonly CompletionMessage[] = []) =>
  messages.findLast(({ role }) => role === 'user')?.content;
const lines = (session: { events: Parameters<typeof story>[0] }) =>
  story(session.events).filter((line) =>
    /^(user|assistant\.message |abort|session\.(idle|error))/.test(line),
  );

test('prompts sent meanwhile are turns of their own, in order, with one idle at the end', async () => {
  const held = hold(say('one'));
  const { session, model } = await runtime.session([held.reply, say('two'), say('three')]);
  await session.send('First');
  await model.asked(1);
  await session.send('Second');
  await session.send('Third', { mode: 'enqueue' });
  expect(await session.call('session.queue.pendingItems')).toEqual({
    items: ['Second', 'Third'].map((displayText) => ({
      id: expect.any(String),
      kind: 'message',
      displayText,
      agentMode: 'interactive',
    })),
    steeringMessages: [],
  });
  held.release();
  await session.next('session.idle');
  expect(lines(session)).toEqual([
    'user.message "First" idle 0',
    'assistant.message "one"',
    'user.message "Second" queued 0',
    'assistant.message "two"',
    'user.message "Third" queued 0',
    'assistant.message "three"',
    'session.idle~',
  ]);
});

test('a word into the running turn joins it bare, before the next model call', async () => {
  const { session, model } = await runtime.session([look, say('turned left')], { tools });
  await session.send('Go');
  const { data } = await session.next('external_tool.requested');
  await session.send('Left, please', { mode: 'immediate' });
  expect(await session.call('session.queue.pendingItems')).toEqual({
    items: [],
    steeringMessages: ['Left, please'],
  });
  await session.answerTool(data.requestId, { result: 'a fork' });
  const events = await session.untilIdle();
  const steering = events.find(({ type }) => type === 'user.message');
  expect(steering?.data).toMatchObject({ delivery: 'steering' });
  expect(steering?.data).not.toHaveProperty('transformedContent');
  expect(lastUser(model.requests[1]?.body.messages)).toBe('Left, please');
  const interactions = session.events.flatMap(({ type, data: each }) =>
    type === 'user.message' ? [(each as { interactionId: string }).interactionId] : [],
  );
  expect(new Set(interactions).size).toBe(1);
});

test('one of each together: the word joins the turn, the queued prompt follows, then one idle', async () => {
  const { session } = await runtime.session([look, say('first'), say('second')], { tools });
  await session.send('Go');
  const { data } = await session.next('external_tool.requested');
  await session.send('Queued');
  await session.send('Steering', { mode: 'immediate' });
  await session.answerTool(data.requestId, { result: 'ok' });
  await session.next('session.idle');
  expect(lines(session)).toEqual([
    'user.message "Go" idle 0',
    'assistant.message "" look#c1',
    expect.stringMatching(/^user.message "Steering" steering/),
    'assistant.message "first"',
    'user.message "Queued" queued 0',
    'assistant.message "second"',
    'session.idle~',
  ]);
});

test('a word that comes during the last model call is answered all the same', async () => {
  const held = hold(say('done'));
  const { session, model } = await runtime.session([held.reply, say('and that')]);
  await session.send('Go');
  await model.asked(1);
  await session.send('And that', { mode: 'immediate' });
  held.release();
  await session.next('session.idle');
  expect(lines(session).at(-2)).toBe('assistant.message "and that"');
  expect(lastUser(model.requests[1]?.body.messages)).toContain('And that');
});

test('a word into an idle session is a turn like any other', async () => {
  const { session } = await runtime.session([say('hi')]);
  await session.turn('Hello', { mode: 'immediate' });
  expect(lines(session)).toEqual(['user.message "Hello" idle 0', 'assistant.message "hi"', 'session.idle~']);
});

test('prompts that wait can be taken back', async () => {
  const held = hold(say('one'));
  const { session, model } = await runtime.session([held.reply]);
  await session.send('First');
  await model.asked(1);
  expect(await session.call('session.queue.removeMostRecent')).toEqual({ removed: false });
  for (const prompt of ['Second', 'Third', 'Fourth']) await session.send(prompt);
  expect(await session.call('session.queue.removeMostRecent')).toEqual({ removed: true });
  expect(await session.call('session.queue.pendingItems')).toMatchObject({
    items: [{ displayText: 'Second' }, { displayText: 'Third' }],
  });
  expect(await session.call('session.queue.clear')).toBeNull();
  held.release();
  await session.next('session.idle');
  expect(lines(session)).toEqual(['user.message "First" idle 0', 'assistant.message "one"', 'session.idle~']);
});

test('an abort in a model call ends the turn, and what the model had said is gone', async () => {
  const held = hold();
  const { session, model } = await runtime.session([held.reply, say('fresh')], { streaming: true });
  await session.send('Talk');
  await model.asked(1);
  expect(await session.call('session.abort')).toEqual({ success: true });
  const events = await session.untilIdle();
  expect(story(events, { without: ['session.usage_info'] }).slice(-4)).toEqual([
    'abort user_initiated',
    'assistant.turn_end 0',
    'assistant.idle~',
    'session.idle~ aborted',
  ]);
  await session.turn('Again');
  expect(model.requests[1]?.body.messages.map(({ role }) => role)).toEqual(['system', 'user', 'user']);
  held.release();
});

test('an abort in a tool leaves no receipt; the model learns that it was interrupted', async () => {
  const { session, model } = await runtime.session([look, say('fresh')], { tools });
  await session.send('Look');
  const { data } = await session.next('external_tool.requested');
  await session.call('session.abort', { reason: 'user_abort' });
  const events = await session.untilIdle();
  expect(story(events)).toEqual(['abort user_abort', 'assistant.turn_end 0', 'session.idle~ aborted']);
  expect(await session.answerTool(data.requestId, { result: 'late' })).toEqual({ success: false });
  await session.turn('Again');
  expect(model.requests[1]?.body.messages.slice(1)).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ id: 'c1' }] },
    { role: 'tool', tool_call_id: 'c1', content: interrupted },
    { role: 'user' },
  ]);
});

test('an abort with prompts that wait starts the next of them, with one idle at the end', async () => {
  const held = hold();
  const { session, model } = await runtime.session([held.reply, say('two')]);
  await session.send('First');
  await model.asked(1);
  await session.send('Second');
  await session.call('session.abort');
  await session.next('session.idle');
  expect(lines(session)).toEqual([
    'user.message "First" idle 0',
    'abort user_initiated',
    'user.message "Second" queued 0',
    'assistant.message "two"',
    'session.idle~',
  ]);
  held.release();
});

test('an abort of an idle session does nothing and says so', async () => {
  const { session } = await runtime.session([say('hi')]);
  expect(await session.call('session.abort')).toEqual({ success: true });
  await session.turn('Hello');
  expect(await session.call('session.abort')).toEqual({ success: true });
  expect(session.events.filter(({ type }) => type === 'abort' || type === 'session.idle')).toHaveLength(1);
});

test('a suspended turn ends and the session goes on working', async () => {
  const { session } = await runtime.session([look, say('fresh')], { tools: [{ name: 'look' }] });
  await session.send('Look');
  const { data } = await session.next('permission.requested');
  expect(await session.call('session.suspend')).toBeNull();
  expect(story(await session.untilIdle())).toEqual([
    'permission.completed cancelled',
    'assistant.turn_end 0',
    'session.idle~ aborted',
  ]);
  expect(await session.decide(data.requestId, { kind: 'approve-once' })).toEqual({ success: false });
  await session.turn('Again');
});
