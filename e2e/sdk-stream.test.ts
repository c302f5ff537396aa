import { approveAll, defineTool } from '@groundcrew/sdk';
import { answer, callTools, hangUp, hold, providerOf, refuse, say, streamChunks } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { deferred, nextEvent, sdkWorld } from './sdk-world.js';

const world = sdkWorld();
const streaming = { streaming: true };

async function all(stream: AsyncIterable<string>): Promise<readonly string[]> {
  const pieces: string[] = [];
  for await (const piece of stream) pieces.push(piece);
  return pieces;
}

test('one call streams an answer piece by piece', async () => {
  const { session } = await world.session([streamChunks('Hel', 'lo', '!'), say('again')], streaming);
  const pieces = await all(session.stream('Hi'));
  expect([pieces.join(''), pieces.length > 1]).toEqual(['Hello!', true]);
  expect((await session.sendAndWait('Hi'))?.data.content).toBe('again');
});

test('without streaming the same call yields whole messages', async () => {
  const { session } = await world.session([streamChunks('Hel', 'lo', '!')]);
  expect(await all(session.stream({ prompt: 'Hi' }))).toEqual(['Hello!']);
});

test('rounds of tools are part of it, each message on a line of its own', async () => {
  const look = defineTool('look', { parameters: z.object({}), handler: () => 'a tree' });
  const calls = [{ id: 'c1', name: 'look', arguments: {} }];
  const replies = [
    answer({ chunks: ['Let me look.'], calls }),
    callTools({ ...calls[0], id: 'c2' } as never),
    say('A tree.'),
  ];
  const { session } = await world.session(replies, {
    ...streaming,
    tools: [look],
    onPermissionRequest: approveAll,
  });
  expect((await all(session.stream('What is there?'))).join('')).toBe('Let me look.\nA tree.');
});

test('a failed turn is thrown, and so is a prompt that is refused', async () => {
  const { session } = await world.session([refuse(400, 'no such thing')], streaming);
  await expect(all(session.stream('Hi'))).rejects.toMatchObject({
    kind: 'session_error',
    message: expect.stringContaining('no such thing'),
  });
  await session.disconnect();
  await expect(all(session.stream('Hi'))).rejects.toMatchObject({ kind: 'session_not_found' });
});

test('to break off the loop stops the turn and its tools', async () => {
  const calls = [{ id: 'c1', name: 'look', arguments: {} }];
  const stopped = deferred<void>();
  const handler = (_given: unknown, _invocation: unknown, signal: AbortSignal) =>
    new Promise(() => signal.addEventListener('abort', () => stopped.resolve()));
  const tools = [{ name: 'look', skipPermission: true, handler }];
  const { session } = await world.session([answer({ chunks: ['First.'], calls }), say('later')], {
    ...streaming,
    tools,
  });
  const idle = nextEvent(session, 'session.idle');
  const called = nextEvent(session, 'external_tool.requested');
  for await (const text of session.stream('Go')) {
    expect(text).toBe('First.');
    await called;
    break;
  }
  expect((await idle).data).toMatchObject({ aborted: true });
  await stopped.promise;
  expect(await all(session.stream('Go on'))).toEqual(['later']);
});

test('the signal stops the turn and is thrown', async () => {
  const held = hold();
  const { session, model } = await world.session([held.reply, say('later')], streaming);
  const idle = nextEvent(session, 'session.idle');
  const stop = new AbortController();
  const reading = expect(all(session.stream('Go', stop.signal))).rejects.toThrow('enough');
  await model.asked(1);
  stop.abort(new Error('enough'));
  await reading;
  expect((await idle).data).toMatchObject({ aborted: true });
  held.release();
});

test('a prompt that waits behind another is taken back, and the other goes on', async () => {
  const held = hold(say('first'));
  const { session, model } = await world.session([held.reply, say('never')], streaming);
  const first = session.sendAndWait('1');
  await model.asked(1);
  const stop = new AbortController();
  const queued = nextEvent(session, 'pending_messages.modified');
  const reading = expect(all(session.stream('2', stop.signal))).rejects.toThrow('enough');
  await queued;
  stop.abort(new Error('enough'));
  await reading;
  expect((await session.call('session.queue.pendingItems')).items).toEqual([]);
  held.release();
  expect((await first)?.data.content).toBe('first');
  expect(model.requests).toHaveLength(1);
});

test('two prompts that wait have streams of their own', async () => {
  const { session } = await world.session([say('one'), say('two')], streaming);
  expect(await Promise.all([all(session.stream('1')), all(session.stream('2'))])).toEqual([['one'], ['two']]);
});

test('an answer that breaks off and is asked for again goes on where it broke', async () => {
  const { session } = await world.session(
    [hangUp('Once ', 'upon'), streamChunks('Once ', 'upon a ', 'time')],
    streaming,
  );
  expect((await all(session.stream('Tell'))).join('')).toBe('Once upon a time');
});

test('a prompt that was sent before yields its answer', async () => {
  const model = world.script(say('once'));
  const session = await world.client.createSession({ ...providerOf(model), ...streaming });
  const prompt = { prompt: 'Hi', messageId: 'same' };
  expect(await all(session.stream(prompt))).toEqual(['once']);
  expect(await all(session.stream(prompt))).toEqual(['once']);
  expect(model.requests).toHaveLength(1);
});
