import { answer, hold, liveRuntime, say, story, streamChunks } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();

test('a plain first turn is published in the order of the protocol', async () => {
  const { session, model } = await runtime.session([say('1+1 = 2')]);
  const events = await session.turn('What is 1+1?');
  expect(story(events, { without: ['session.title_changed', 'pending_messages.modified'] })).toEqual([
    'session.start',
    'session.tools_updated~',
    'user.message "What is 1+1?" idle 0',
    'system.message',
    'assistant.turn_start 0',
    'session.usage_info~',
    'assistant.usage~',
    'assistant.message "1+1 = 2"',
    'assistant.turn_end 0',
    'assistant.idle~',
    'session.idle~',
  ]);
  expect(model.requests.map(({ path, body }) => [path, body.model, body.stream ?? false])).toEqual([
    ['/chat/completions', 'scripted', false],
  ]);
});

test('start and resume leave before the answers to create and resume, the prompt after the answer to send', async () => {
  const from = runtime.client.frames.length;
  const { session } = await runtime.session([say('one')]);
  expect(runtime.client.order(from)).toEqual([
    'lifecycle session.created',
    'session.start',
    'lifecycle session.updated',
    'reply session.create',
  ]);
  const before = runtime.client.frames.length;
  await session.turn('Hello');
  const sent = runtime.client.order(before).filter((line) => /reply|user\.message/.test(line));
  expect(sent).toEqual(['reply session.send', 'user.message']);
  const resumed = runtime.client.frames.length;
  await runtime.client.resume(session.sessionId);
  const answered = runtime.client.order(resumed).filter((line) => !line.startsWith('lifecycle'));
  expect(answered).toEqual(['session.tools_updated~', 'session.resume', 'reply session.resume']);
});

test('events of log, switchTo and destroy are sent before the answer', async () => {
  const { session } = await runtime.session([say('one')]);
  await session.turn('Hello');
  const before = runtime.client.frames.length;
  await session.call('session.log', { message: 'noted' });
  await session.call('session.model.switchTo', { modelId: 'other' });
  await session.call('session.destroy');
  const received = runtime.client.order(before).filter((line) => !line.startsWith('lifecycle'));
  expect(received).toEqual([
    'session.info',
    'reply session.log',
    'session.model_change',
    'reply session.model.switchTo',
    'session.shutdown',
    'reply session.destroy',
  ]);
});

test('a streamed turn emits one delta for each chunk, and their sum is the message', async () => {
  const chunks = ['Hel', 'lo, ', 'wörld', ' \u2028', '🚀'];
  const { session, model } = await runtime.session([streamChunks(...chunks)], { streaming: true });
  const events = await session.turn('Greet');
  const without = [
    'session.start',
    'pending_messages.modified',
    'session.title_changed',
    'session.tools_updated',
    'session.usage_info',
  ];
  expect(story(events, { without })).toEqual([
    'user.message "Greet" idle 0',
    'system.message',
    'assistant.turn_start 0',
    ...chunks.flatMap((chunk, index) => [
      'assistant.streaming_delta~',
      ...(index === 0 ? ['assistant.message_start~'] : []),
      `assistant.message_delta~ ${JSON.stringify(chunk)}`,
    ]),
    'assistant.usage~',
    `assistant.message ${JSON.stringify(chunks.join(''))}`,
    'assistant.turn_end 0',
    'assistant.idle~',
    'session.idle~',
  ]);
  const ids = events.flatMap(({ type, data }) =>
    /^assistant\.message/.test(type) ? [(data as { messageId: string }).messageId] : [],
  );
  expect(new Set(ids).size).toBe(1);
  const sizes = events.flatMap(({ type, data }) =>
    type === 'assistant.streaming_delta'
      ? [(data as { totalResponseSizeBytes: number }).totalResponseSizeBytes]
      : [],
  );
  expect(sizes.at(-1)).toBe(Buffer.byteLength(chunks.join('')));
  expect(model.requests[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
});

test('of a flood of chunks each is emitted, and their total once for all that came together', async () => {
  const chunks = Array.from({ length: 400 }, (_, index) => `é${index} `);
  const frames = [...chunks.map((content) => ({ content })), {}].map((delta, index) => {
    const finish = index === chunks.length ? 'stop' : null;
    return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  });
  const body = `${frames.join('')}data: [DONE]\n\n`;
  const headers = { 'content-type': 'text/event-stream' };
  const flood = { type: 'status', status: 200, body, headers } as const;
  const { session } = await runtime.session([flood], { streaming: true });
  const events = await session.turn('Go');
  const pieces = events.flatMap(({ type, data }) =>
    type === 'assistant.message_delta' ? [(data as { deltaContent: string }).deltaContent] : [],
  );
  expect(pieces).toEqual(chunks);
  const totals = events.flatMap(({ type, data }) =>
    type === 'assistant.streaming_delta'
      ? [(data as { totalResponseSizeBytes: number }).totalResponseSizeBytes]
      : [],
  );
  expect(totals.at(-1)).toBe(Buffer.byteLength(chunks.join('')));
  expect(totals.length).toBeLessThan(chunks.length / 10);
});

test('streamed reasoning and tool calls have deltas of their own', async () => {
  const reply = answer({
    reasoning: ['hm, ', 'well'],
    chunks: ['Looking'],
    calls: [{ id: 'c1', name: 'look', arguments: { at: 1 } }],
  });
  const tools = [{ name: 'look', skipPermission: true }];
  const { session } = await runtime.session([reply, say('Seen')], { streaming: true, tools });
  await session.send('Look');
  const { data } = await session.next('external_tool.requested');
  await session.answerTool(data.requestId, { result: 'a tree' });
  await session.next('session.idle');
  const types = [
    'assistant.reasoning_delta',
    'assistant.message_delta',
    'assistant.tool_call_delta',
    'assistant.reasoning',
    'assistant.message',
  ];
  expect(story(session.events.filter(({ type }) => types.includes(type)))).toEqual([
    'assistant.reasoning_delta~ "hm, "',
    'assistant.reasoning_delta~ "well"',
    'assistant.message_delta~ "Looking"',
    'assistant.tool_call_delta~',
    'assistant.message "Looking" look#c1',
    'assistant.reasoning~ "hm, well"',
    'assistant.message_delta~ "Seen"',
    'assistant.message "Seen"',
  ]);
});

test('without streaming no delta is emitted', async () => {
  const { session } = await runtime.session([answer({ reasoning: ['why'], chunks: ['a', 'b'] })]);
  const events = await session.turn('Hello');
  expect(events.filter(({ type }) => /delta|message_start/.test(type))).toEqual([]);
});

test('stored events are those that were sent, less the ephemeral ones', async () => {
  const { session } = await runtime.session([say('one'), say('two')]);
  await session.turn('First');
  await session.turn('Second');
  expect(await session.stored()).toEqual(session.events.filter((event) => !event.ephemeral));
});

test('an empty answer of the model is an empty message', async () => {
  const { session } = await runtime.session([say('')]);
  expect(story(await session.turn('Hello'))).toContain('assistant.message ""');
});

test('a prompt that is missing or no text is an empty prompt', async () => {
  const { session } = await runtime.session([say('a'), say('b')]);
  for (const params of [{}, { prompt: 42 }]) {
    expect(await session.call('session.send', params)).toEqual({ messageId: expect.any(String) });
    expect((await session.next('user.message')).data.content).toBe('');
    await session.next('session.idle');
  }
});

test('the system prompt is published and stored only when its text changes', async () => {
  const { session } = await runtime.session([say('one'), say('two')]);
  await session.turn('First');
  await session.turn('Second');
  const stored = await session.stored();
  expect(stored.filter(({ type }) => type === 'system.message')).toHaveLength(1);
});

test('the session is busy from the answer to send until its idle event', async () => {
  const held = hold();
  const { session, model } = await runtime.session([held.reply]);
  await session.send('Wait');
  await model.asked(1);
  expect(await session.call('session.metadata.isProcessing')).toEqual({ processing: true });
  held.release();
  await session.next('session.idle');
  expect(await session.call('session.metadata.isProcessing')).toEqual({ processing: false });
});
