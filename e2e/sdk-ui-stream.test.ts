import { type Session, uiMessageResponse, uiMessageStream } from '@groundcrew/sdk';
import { answer, callTools, hangUp, hold, refuse, say, streamChunks } from '@groundcrew/testkit';
import { parseJsonEventStream, readUIMessageStream, type UIMessageChunk, uiMessageChunkSchema } from 'ai';
import { expect, test } from 'vitest';
import { deferred, nextEvent, sdkWorld } from './sdk-world.js';

const world = sdkWorld();
const streaming = { streaming: true };

/** What the reader of the Vercel AI SDK makes of a stream: the parts of the message, the errors, and how the stream ended. */
async function read(stream: ReadableStream<unknown>) {
  const [seen, shown] = stream.tee() as [ReadableStream<UIMessageChunk>, ReadableStream<UIMessageChunk>];
  const errors: string[] = [];
  const onError = (error: unknown) => errors.push((error as Error).message);
  let parts: readonly object[] = [];
  const types: string[] = [];
  const noting = seen.pipeTo(new WritableStream({ write: ({ type }) => void types.push(type) }));
  for await (const message of readUIMessageStream({ stream: shown, onError })) parts = [...message.parts];
  await noting;
  return { parts, errors, ended: types.at(-1), aborted: types.includes('abort') };
}

function tool(id: string, name = 'look') {
  return { id, name, arguments: {} };
}

/** A stream that is stopped from outside once its session asks for this. */
async function stoppedAt(session: Session, type: 'external_tool.requested') {
  const stop = new AbortController();
  const asked = nextEvent(session, type);
  const reading = read(uiMessageStream(session, 'Go', stop.signal));
  await asked;
  stop.abort();
  return reading;
}

test('text, reasoning and tools that fail are read from a response as useChat reads it', async () => {
  const handler = () => ({ resultType: 'failure' as const, textResultForLlm: 'no', error: 'no such order' });
  const { session } = await world.session(
    [answer({ reasoning: ['Hm.'], chunks: ['Let me ', 'see.'], calls: [tool('c1')] }), say('It is gone.')],
    { ...streaming, tools: [{ name: 'look', skipPermission: true, handler }] },
  );
  const response = uiMessageResponse(session, 'Where is it?');
  expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
  const parsed = parseJsonEventStream({
    stream: response.body as ReadableStream<Uint8Array<ArrayBuffer>>,
    schema: uiMessageChunkSchema,
  });
  const chunks = parsed.pipeThrough(
    new TransformStream({
      transform(result, controller) {
        if (!result.success) throw result.error;
        controller.enqueue(result.value);
      },
    }),
  );
  expect(await read(chunks)).toEqual({
    parts: [
      { type: 'step-start' },
      { type: 'reasoning', id: expect.stringMatching(/^reasoning-/), text: 'Hm.', state: 'done' },
      { type: 'text', text: 'Let me see.', state: 'done' },
      {
        type: 'dynamic-tool',
        toolName: 'look',
        toolCallId: 'c1',
        state: 'output-error',
        input: {},
        errorText: 'no such order',
      },
      { type: 'step-start' },
      { type: 'text', text: 'It is gone.', state: 'done' },
    ],
    errors: [],
    ended: 'finish',
    aborted: false,
  });
});

test('an answer that breaks off and is asked for again is one text', async () => {
  const { session } = await world.session(
    [hangUp('Once ', 'upon'), streamChunks('Once ', 'upon a ', 'time')],
    streaming,
  );
  expect(await read(uiMessageStream(session, 'Tell'))).toMatchObject({
    parts: [{ type: 'step-start' }, { type: 'text', text: 'Once upon a time', state: 'done' }],
    ended: 'finish',
  });
});

test('a turn that fails is an error of the stream', async () => {
  const { session } = await world.session([refuse(400, 'no such model')], streaming);
  expect(await read(uiMessageStream(session, 'Go'))).toMatchObject({
    errors: [expect.stringContaining('no such model')],
    ended: 'error',
    aborted: false,
  });
});

test('the signal ends the turn and its tool, and the stream says so', async () => {
  const stopped = deferred<void>();
  const handler = (_given: unknown, _invocation: unknown, signal: AbortSignal) =>
    new Promise(() => signal.addEventListener('abort', () => stopped.resolve()));
  const { session } = await world.session([callTools(tool('c1')), say('later')], {
    ...streaming,
    tools: [{ name: 'look', skipPermission: true, handler }],
  });
  expect(await stoppedAt(session, 'external_tool.requested')).toMatchObject({
    parts: [{ type: 'step-start' }, { type: 'dynamic-tool', toolCallId: 'c1', state: 'output-error' }],
    aborted: true,
  });
  await stopped.promise;
  expect((await session.sendAndWait('Go on'))?.data.content).toBe('later');
});

test('a reader that leaves while nothing comes ends the turn', async () => {
  const held = hold();
  const { session, model } = await world.session([held.reply], streaming);
  const idle = nextEvent(session, 'session.idle');
  const reader = uiMessageStream(session, 'Go').getReader();
  await reader.read();
  const next = reader.read();
  await model.asked(1);
  await reader.cancel();
  await next;
  expect((await idle).data).toMatchObject({ aborted: true });
  held.release();
});

test('a signal that has fired sends no prompt, and one that fires for a prompt that waits leaves the other turn alone', async () => {
  const held = hold(say('first'));
  const { session, model } = await world.session([held.reply, say('never')], streaming);
  const first = session.sendAndWait('1');
  await model.asked(1);
  expect(await read(uiMessageStream(session, 'No', AbortSignal.abort()))).toMatchObject({
    parts: [],
    aborted: true,
  });
  const stop = new AbortController();
  const queued = nextEvent(session, 'pending_messages.modified');
  const reading = read(uiMessageStream(session, '2', stop.signal));
  await queued;
  stop.abort();
  expect(await reading).toMatchObject({ parts: [], aborted: true });
  expect((await session.call('session.queue.pendingItems')).items).toEqual([]);
  held.release();
  expect((await first)?.data.content).toBe('first');
  expect(model.requests).toHaveLength(1);
});

test('prompts that wait have streams of their own', async () => {
  const { session } = await world.session([say('one'), say('two')], streaming);
  const both = await Promise.all(['1', '2'].map((prompt) => read(uiMessageStream(session, prompt))));
  expect(both.map(({ parts }) => parts)).toMatchObject([
    [{ type: 'step-start' }, { type: 'text', text: 'one' }],
    [{ type: 'step-start' }, { type: 'text', text: 'two' }],
  ]);
});
