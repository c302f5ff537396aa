import type { SessionEvent } from '@groundcrew/sdk';
import { callTools, hold, refuse, say, story, streamChunks } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { nextEvent, sdkWorld } from './sdk-world.js';

const world = sdkWorld();

test('sendAndWait resolves with the last thing the agent said', async () => {
  const { session } = await world.session([say('2'), say('4')]);
  expect((await session.sendAndWait('What is 1+1?'))?.data.content).toBe('2');
  expect((await session.sendAndWait({ prompt: 'Twice that?' }))?.data.content).toBe('4');
});

test('send answers with the id of the message before the turn is over', async () => {
  const held = hold(say('late'));
  const { session, model } = await world.session([held.reply]);
  const messageId = await session.send({ prompt: 'go', messageId: 'mine' });
  expect(messageId).toBe('mine');
  await model.asked(1);
  const idle = nextEvent(session, 'session.idle');
  held.release();
  await idle;
});

test('onEvent sees everything from session.start on', async () => {
  const events: SessionEvent[] = [];
  const { session } = await world.session([say('hello')], { onEvent: (event) => events.push(event) });
  await session.sendAndWait('hi');
  expect(story(events)).toEqual([
    'session.start',
    'user.message "hi" idle 0',
    'assistant.turn_start 0',
    'assistant.message "hello"',
    'assistant.turn_end 0',
    'session.idle~',
  ]);
});

test('listeners of one type hear that type, and an undo works once and for all', async () => {
  const { session } = await world.session([say('one'), say('two')]);
  const received: string[] = [];
  const undo = session.on('assistant.message', ({ data }) => received.push(data.content));
  await session.sendAndWait('1');
  undo();
  undo();
  await session.sendAndWait('2');
  expect(received).toEqual(['one']);
});

test('a listener may take itself off, and one that throws stops no other', async () => {
  const { session } = await world.session([say('one'), say('two')]);
  const received: string[] = [];
  const undo = session.on('assistant.message', () => {
    undo();
    received.push('first');
    throw new Error('thrown');
  });
  session.on('assistant.message', async () => {
    throw new Error('rejected');
  });
  session.on('assistant.message', ({ data }) => received.push(data.content));
  await session.sendAndWait('1');
  await session.sendAndWait('2');
  expect(received).toEqual(['first', 'one', 'two']);
  expect(world.failures.splice(0).map(({ handler, name, error }) => [handler, name, error.message])).toEqual([
    ['event', 'assistant.message', 'thrown'],
    ['event', 'assistant.message', 'rejected'],
    ['event', 'assistant.message', 'rejected'],
  ]);
});

test('events can be iterated, and the loop may be left', async () => {
  const { session } = await world.session([streamChunks('Hel', 'lo')], { streaming: true });
  const events = session.events();
  await session.send('hi');
  const deltas: string[] = [];
  for await (const event of events) {
    if (event.type === 'assistant.message_delta') deltas.push(event.data.deltaContent);
    if (event.type === 'session.idle') break;
  }
  expect(deltas).toEqual(['Hel', 'lo']);
});

test('a signal ends an iteration', async () => {
  const { session } = await world.session([]);
  const stop = new AbortController();
  const events = session.events(stop.signal);
  const first = events.next();
  stop.abort();
  expect(await first).toEqual({ value: undefined, done: true });
});

test('getEvents returns what is stored, and getMessages the same', async () => {
  const { session } = await world.session([say('hello')]);
  await session.sendAndWait('hi');
  expect(story(await session.getEvents())).toEqual([
    'session.start',
    'user.message "hi" idle 0',
    'assistant.turn_start 0',
    'assistant.message "hello"',
    'assistant.turn_end 0',
  ]);
  expect(await session.getMessages()).toEqual(await session.getEvents());
});

test('a failed turn rejects the wait with the reason', async () => {
  const { session } = await world.session([refuse(400, 'no such thing')]);
  await expect(session.sendAndWait('hi')).rejects.toMatchObject({
    kind: 'session_error',
    message: expect.stringMatching(/^Session error: .*no such thing/s),
  });
});

test('a notice of level error is not taken for a failed turn', async () => {
  const held = hold(say('fine'));
  const { session, model } = await world.session([held.reply]);
  const answer = session.sendAndWait('hi');
  await model.asked(1);
  await session.log('Something is odd', { level: 'error' });
  held.release();
  expect((await answer)?.data.content).toBe('fine');
});

test('a wait that takes too long ends alone, and says what the session waits for', async () => {
  const replies = [callTools({ id: 'c1', name: 'ask', arguments: {} }), say('asked'), say('done')];
  const { session } = await world.session(replies, { tools: [{ name: 'ask', skipPermission: true }] });
  const requested = nextEvent(session, 'external_tool.requested');
  await session.send('go');
  const { requestId } = (await requested).data;
  await expect(session.sendAndWait('and then?', 50)).rejects.toMatchObject({
    kind: 'timeout',
    message:
      'Timeout after 0.05s waiting for session.idle: the session waits for tool call ask (c1, served by a client)',
  });
  const idle = nextEvent(session, 'session.idle');
  await session.call('session.tools.handlePendingToolCall', { requestId, result: 'now' });
  await idle;
  const said = (await session.getEvents()).flatMap((event) =>
    event.type === 'assistant.message' ? [event.data.content] : [],
  );
  expect(said).toEqual(['', 'asked', 'done']);
});

test('a cancelled wait ends alone, with the reason of its signal', async () => {
  const held = hold(say('still said'));
  const { session, model } = await world.session([held.reply]);
  const stop = new AbortController();
  const wait = session.sendAndWait('hi', undefined, stop.signal);
  await model.asked(1);
  stop.abort(new Error('enough'));
  await expect(wait).rejects.toThrow('enough');
  const answered = nextEvent(session, 'assistant.message');
  held.release();
  expect((await answered).data.content).toBe('still said');
});

test('abort ends the turn and resolves the wait', async () => {
  const { session, model } = await world.session([hold().reply, say('again')]);
  const wait = session.sendAndWait('hi');
  await model.asked(1);
  await session.abort();
  expect(await wait).toBeUndefined();
  expect((await session.sendAndWait('and now?'))?.data.content).toBe('again');
});

test('a prompt that waits its turn is not answered by the turn before it', async () => {
  const held = hold(say('first'));
  const { session, model } = await world.session([held.reply, say('second')]);
  const first = session.sendAndWait('1');
  await model.asked(1);
  const second = session.sendAndWait('2');
  held.release();
  expect((await second)?.data.content).toBe('second');
  await first;
});

test('a prompt sent again with its id is one turn, and gives the same answer', async () => {
  const { session, model } = await world.session([say('once')]);
  const prompt = { prompt: 'hi', messageId: 'm-1' };
  const answers = [await session.sendAndWait(prompt), await session.sendAndWait(prompt)];
  expect(answers.map((answer) => answer?.data.content)).toEqual(['once', 'once']);
  expect(model.requests).toHaveLength(1);
});

test('setModel changes the model of the next call', async () => {
  const { session, model } = await world.session([say('a'), say('b')]);
  await session.sendAndWait('1');
  await session.setModel('other', { reasoningEffort: 'high' });
  await session.sendAndWait('2');
  expect(model.requests.map(({ body }) => body.model)).toEqual(['scripted', 'other']);
});

test('log puts a notice into the session', async () => {
  const { session } = await world.session([]);
  const notice = nextEvent(session, 'session.warning');
  const eventId = await session.log('Careful', { level: 'warning', ephemeral: true });
  expect(await notice).toMatchObject({ id: eventId, ephemeral: true, data: { message: 'Careful' } });
});

test('headers and attachments of a message reach the model', async () => {
  const { session, model } = await world.session([say('seen')]);
  await session.sendAndWait({
    prompt: 'look',
    requestHeaders: { 'x-app': 'mine' },
    attachments: [{ type: 'blob', mimeType: 'text/plain', data: Buffer.from('inside').toString('base64') }],
  });
  const { headers, body } = await model.asked(1);
  expect(headers['x-app']).toBe('mine');
  expect(JSON.stringify(body.messages)).toContain('inside');
});

test('disconnect rejects who waits, drops handlers and lets later calls fail', async () => {
  const { session, model } = await world.session([hold().reply]);
  const received: string[] = [];
  session.on(({ type }) => received.push(type));
  const wait = session.sendAndWait('hi');
  wait.catch(() => undefined);
  await model.asked(1);
  await Promise.all([session.disconnect(), session.disconnect(), session.destroy()]);
  const later = received.length;
  await expect(wait).rejects.toThrow(/^Session not found/);
  await expect(session.send('more')).rejects.toThrow(`Session not found: ${session.sessionId}`);
  await expect(session.getEvents()).rejects.toMatchObject({ kind: 'session_not_found' });
  expect(received.slice(later)).toEqual([]);
  expect(received.filter((type) => type === 'session.shutdown')).toEqual(['session.shutdown']);
});

test('a session may be left from inside a handler', async () => {
  const { session } = await world.session([say('bye')]);
  const left = new Promise((resolve) => {
    session.on('assistant.message', () => resolve(session.disconnect()));
  });
  await session.send('hi');
  await left;
  await expect(session.abort()).rejects.toThrow('Session not found');
});

test('await using leaves the session at the end of the block', async () => {
  let sessionId = '';
  {
    await using session = (await world.session([say('hi')])).session;
    sessionId = session.sessionId;
    await session.sendAndWait('hello');
  }
  expect(await world.client.getSessionMetadata(sessionId)).toMatchObject({ sessionId, summary: 'hello' });
});

test('the workspace path is known', async () => {
  const { session } = await world.session([]);
  expect(session.workspacePath).toContain(session.sessionId);
});

test('any method of the table can be called', async () => {
  const { session } = await world.session([say('hi')]);
  await session.sendAndWait('hello');
  expect(await session.call('session.metadata.isProcessing')).toEqual({ processing: false });
  await session.call('session.name.set', { name: 'Mine' });
  expect(await world.client.call('session.name.get', { sessionId: session.sessionId })).toMatchObject({
    name: 'Mine',
  });
});

test('a session says what it waits for', async () => {
  const held = hold(say('late'));
  const { session, model } = await world.session([held.reply]);
  expect(await session.waitingOn()).toEqual([]);
  const answered = session.sendAndWait('go');
  await model.asked(1);
  expect(await session.waitingOn()).toEqual([
    { kind: 'model', model: 'scripted', attempt: 1, since: expect.any(String) },
  ]);
  held.release();
  await answered;
  expect(await session.waitingOn()).toEqual([]);
});

test('an app that learns of it lets a session at its limit go on', async () => {
  const { session } = await world.session([say('one'), say('two')], { sessionLimits: { maxCalls: 1 } });
  session.on('session_limits_exhausted.requested', async ({ data: { requestId } }) => {
    const response = { action: 'add', additional: 1 } as const;
    await session.call('session.ui.handlePendingSessionLimitsExhausted', { requestId, response });
  });
  expect((await session.sendAndWait('One'))?.data.content).toBe('one');
  expect((await session.sendAndWait('Two'))?.data.content).toBe('two');
});
