import { callTools, hold, liveRuntime, providerOf, refuse, say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const tools = [{ name: 'look', skipPermission: true }];
const look = callTools({ id: 'c1', name: 'look', arguments: {} });

type Session = Awaited<ReturnType<typeof runtime.session>>['session'];
const said = (session: Pick<Session, 'events'>) =>
  session.events.flatMap(({ type, data }) =>
    type === 'user.message' ? [(data as { content: string }).content] : [],
  );

/** The id of the first prompt that waits, as soon as one does. */
const waiting = async (session: Session): Promise<string> => {
  for (;;) {
    const { items } = await session.call<{ items: { id: string }[] }>('session.queue.pendingItems');
    if (items[0]) return items[0].id;
  }
};

describe('a prompt that is waited for', () => {
  test('is answered with its last message, after the event that ended it', async () => {
    const { session } = await runtime.session([look, say('a fork')], { tools });
    const answer = session.call<{ completionEventId: string }>('session.sendAndWait', { prompt: 'Look' });
    const { data } = await session.next('external_tool.requested');
    await session.answerTool(data.requestId, { result: 'seen' });
    const result = await answer;
    expect(result).toEqual({
      messageId: expect.any(String),
      aborted: false,
      completionEventId: session.events.find(({ type }) => type === 'session.idle')?.id,
      response: session.events.findLast(({ type }) => type === 'assistant.message'),
    });
    expect(result).toMatchObject({ response: { data: { content: 'a fork' } } });
  });

  test('is not answered with what comes of prompts before and behind it', async () => {
    const first = hold(say('one'));
    const { session, model } = await runtime.session([first.reply, say('two'), say('three')]);
    await session.send('First');
    await model.asked(1);
    const second = session.call('session.sendAndWait', { prompt: 'Second' });
    await waiting(session);
    const third = session.call('session.sendAndWait', { prompt: 'Third' });
    first.release();
    expect(await second).toMatchObject({ response: { data: { content: 'two' } }, aborted: false });
    expect(await third).toMatchObject({
      response: { data: { content: 'three' } },
      completionEventId: expect.any(String),
    });
  });

  test('ends when it is stopped, taken back, or fails', async () => {
    const first = hold(say('one'));
    const { session, model } = await runtime.session([first.reply, refuse(400, 'no')]);
    const running = session.call('session.sendAndWait', { prompt: 'Run' });
    await model.asked(1);
    const queued = session.call('session.sendAndWait', { prompt: 'Wait' });
    await session.call('session.queue.removeAt', { id: await waiting(session) });
    expect(await queued).toMatchObject({ aborted: true });
    await session.call('session.abort');
    expect(await running).toMatchObject({ aborted: true });
    expect(await session.failure('session.sendAndWait', { prompt: 'Fail' })).toMatchObject({
      message: expect.stringContaining('Session error'),
    });
    first.release();
  });

  test('that was sent before under the same id is not waited for twice', async () => {
    const { session } = await runtime.session([say('once')]);
    const send = () => session.call('session.sendAndWait', { prompt: 'Hi', messageId: 'mine' });
    expect(await send()).toMatchObject({ response: { data: { content: 'once' } } });
    expect(await send()).toEqual({ messageId: 'mine', aborted: false });
  });

  test('is waited for by session.send, too, if it says so', async () => {
    const { session } = await runtime.session([say('ok')]);
    expect(await session.send('Hi', { wait: true })).toEqual({ messageId: expect.any(String) });
    expect(session.events.at(-1)?.type).toBe('session.idle');
  });

  test('has an answer of the form that responseFormat names', async () => {
    const { session, model } = await runtime.session([say('{"amount": 12}')]);
    const schema = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] };
    const format = { type: 'json_schema', jsonSchema: { name: 'order', schema, strict: true } };
    const send = (more: object) =>
      session.call('session.sendAndWait', { prompt: 'How many?', responseFormat: format, ...more });
    await expect(send({ mode: 'immediate' })).rejects.toThrow("mode 'immediate'");
    await expect(send({ output: { schema } })).rejects.toThrow('send one');
    await expect(send({ responseFormat: { type: 'grammar' } })).rejects.toThrow();
    expect(await send({})).toMatchObject({ response: { data: { content: '{"amount": 12}' } } });
    expect(model.requests[0]?.body).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'order' } },
    });
  });
});

describe('several messages at once', () => {
  test('are one turn, in order, each a message of its own', async () => {
    const { session, model } = await runtime.session([say('both')]);
    const messages = [{ prompt: 'One', displayPrompt: 'first' }, { prompt: 'Two' }];
    const { messageIds } = await session.call<{ messageIds: string[] }>('session.sendMessages', {
      messages,
      wait: true,
    });
    const sent = session.events.filter(({ type }) => type === 'user.message');
    expect(sent.map(({ data }) => data)).toMatchObject([
      { content: 'first', messageId: messageIds[0], delivery: 'idle' },
      { content: 'Two', messageId: messageIds[1], delivery: 'idle' },
    ]);
    expect(model.requests).toHaveLength(1);
    const users = model.requests[0]?.body.messages.filter(({ role }) => role === 'user');
    expect(users?.map(({ content }) => String(content).includes('One'))).toEqual([true, false]);
    expect(session.events.filter(({ type }) => type === 'assistant.turn_start')).toHaveLength(1);
  });

  test('wait together, outlive kill -9, and are not said twice', async () => {
    const first = hold(say('never'));
    const model = runtime.script(first.reply, say('again'), say('both'));
    const process = runtime.spawn({ flags: ['--stdio'] });
    const session = await (await runtime.connect(process)).create(providerOf(model));
    await session.send('First');
    await model.asked(1);
    await session.call('session.sendMessages', { messages: [{ prompt: 'One' }, { prompt: 'Two' }] });
    expect(await session.call('session.queue.pendingItems')).toMatchObject({
      items: [{ displayText: 'One\n\nTwo' }],
    });
    await process.signal('SIGKILL');
    const resumed = await runtime.client.resume(session.sessionId, {
      ...providerOf(model),
      continuePendingWork: true,
    });
    await resumed.next('session.idle');
    const log = await resumed.call<{ events: Session['events'] }>('session.getMessages');
    expect(said(log)).toEqual(['First', 'One', 'Two']);
    expect(model.requests).toHaveLength(3);
  });

  test('join the running turn when they may not wait', async () => {
    const { session, model } = await runtime.session([look, say('ok')], { tools });
    await session.send('Go');
    const { data } = await session.next('external_tool.requested');
    await session.call('session.sendMessages', {
      messages: [{ prompt: 'Left' }, { prompt: 'Slowly' }],
      mode: 'immediate',
    });
    await session.answerTool(data.requestId, { result: 'a fork' });
    await session.next('session.idle');
    expect(said(session)).toEqual(['Go', 'Left', 'Slowly']);
    expect(model.requests[1]?.body.messages.slice(-2)).toMatchObject([
      { content: 'Left' },
      { content: 'Slowly' },
    ]);
  });

  test('that are none have the model go on from what there is', async () => {
    const { session, model } = await runtime.session([say('one'), say('more')]);
    const go = () => session.call('session.sendMessages', { messages: [], wait: true });
    await expect(go()).rejects.toThrow('no message yet');
    await session.turn('Tell');
    expect(await go()).toEqual({ messageIds: [] });
    expect(said(session)).toEqual(['Tell']);
    expect(model.requests[1]?.body.messages.slice(-1)).toMatchObject([{ role: 'assistant', content: 'one' }]);
    expect(session.events.findLast(({ type }) => type === 'assistant.message')?.data).toMatchObject({
      content: 'more',
    });
  });

  test('must be messages, and not too many', async () => {
    const { session } = await runtime.session([]);
    const send = (messages: unknown) => session.call('session.sendMessages', { messages });
    await expect(send(undefined)).rejects.toThrow();
    await expect(send([{ text: 'x' }])).rejects.toThrow();
    await expect(send(Array.from({ length: 101 }, () => ({ prompt: 'x' })))).rejects.toThrow('at most 100');
    expect(said(session)).toEqual([]);
  });
});

describe('the turn of the root agent', () => {
  test('is interrupted, and prompts that wait are taken back or come next', async () => {
    const replies = [hold(say('never')), hold(say('never'))];
    const { session, model } = await runtime.session([...replies.map(({ reply }) => reply), say('next')]);
    const interrupt = (params: object = {}) => session.call('session.interruptMainTurn', params);
    expect(await interrupt()).toEqual({ interrupted: false });
    await session.send('One');
    await model.asked(1);
    await session.send('Gone');
    expect(await interrupt()).toEqual({ interrupted: true });
    await session.next('session.idle');
    await session.send('Two');
    await model.asked(2);
    await session.send('Kept');
    expect(await interrupt({ flushQueued: true })).toEqual({ interrupted: true });
    await session.next('session.idle');
    expect(said(session)).toEqual(['One', 'Two', 'Kept']);
    await expect(interrupt({ flushQueued: 'yes' })).rejects.toThrow();
    for (const { release } of replies) release();
  });
});
