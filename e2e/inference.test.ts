import { Client, RuntimeConnection } from '@groundcrew/sdk';
import { liveRuntime, say, type WireClient } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--port', '0'] });

type Params = Readonly<Record<string, unknown>>;
type Asked = readonly [method: string, params: Params];

/** A client that makes the model calls; what it is asked is kept, and each whole request is given to `make`. */
async function carrier(make: (requestId: string, client: WireClient) => Promise<unknown>) {
  const client = await runtime.connect();
  const asked: Asked[] = [];
  const made: Promise<unknown>[] = [];
  client.answer = async (method, params) => {
    const { requestId, end, cancel } = params as { requestId: string; end?: boolean; cancel?: boolean };
    asked.push([method, params as Params]);
    if (end && !cancel) made.push(make(requestId, client));
    return {};
  };
  expect(await client.call('llmInference.setProvider')).toEqual({ success: true });
  return { client, asked, made };
}

const head = (requestId: string, type: string) => ({
  requestId,
  status: 200,
  statusText: 'OK',
  headers: { 'Content-Type': [type] },
});

const completion = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Carried.' }, finish_reason: 'stop' }],
});

const chunkOf = (content: string) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

const provider = { baseUrl: 'https://nobody.invalid/v1', apiKey: 'key-1' };
const answerOf = (events: readonly { type: string; data: unknown }[]) =>
  events.flatMap(({ type, data }) =>
    type === 'assistant.message' ? [(data as { content: string }).content] : [],
  );

describe('a client that makes the model calls', () => {
  test.each([
    ['whole', false, completion],
    ['in a stream', true, `${chunkOf('Carr')}${chunkOf('ied.')}data: [DONE]\n\n`],
  ])('may leave the headers of its answer out: %s', async (_how, streaming, data) => {
    const { client, made } = await carrier(async (requestId) => {
      await client.call('llmInference.httpResponseStart', { requestId, status: 200 });
      await client.call('llmInference.httpResponseChunk', { requestId, data, end: true });
    });
    const session = await client.create({ model: 'm-1', provider, streaming });
    expect(answerOf(await session.turn('Hello'))).toEqual(['Carried.']);
    await Promise.all(made);
    await client.close();
  });

  test('gets the whole request, and its answer is the answer', async () => {
    const replies: unknown[] = [];
    const { client, asked, made } = await carrier(async (requestId) => {
      replies.push(
        await client.call('llmInference.httpResponseStart', head(requestId, 'application/json')),
        await client.call('llmInference.httpResponseChunk', { requestId, data: completion, end: true }),
        await client.call('llmInference.httpResponseChunk', { requestId, data: '', end: true }),
      );
    });
    const session = await client.create({ model: 'm-1', provider });
    const events = await session.turn('Hello');
    expect(answerOf(events)).toEqual(['Carried.']);
    const [start, chunk, ...more] = asked;
    expect(more).toEqual([]);
    const requestId = start?.[1].requestId;
    expect(start).toEqual([
      'llmInference.httpRequestStart',
      {
        requestId,
        sessionId: session.sessionId,
        agentId: session.sessionId,
        interactionType: 'conversation-user',
        method: 'POST',
        url: 'https://nobody.invalid/v1/chat/completions',
        transport: 'http',
        headers: expect.objectContaining({
          authorization: ['Bearer key-1'],
          'content-type': ['application/json'],
        }),
      },
    ]);
    expect(chunk).toEqual([
      'llmInference.httpRequestChunk',
      { requestId, data: expect.stringContaining('"model":"m-1"'), binary: false, end: true },
    ]);
    await Promise.all(made);
    expect(replies).toEqual([{ accepted: true }, { accepted: true }, { accepted: false }]);
    await client.close();
  });

  test('may stream, as bytes or as text', async () => {
    const { client, asked, made } = await carrier(async (requestId) => {
      await client.call('llmInference.httpResponseStart', head(requestId, 'text/event-stream'));
      const pieces = [chunkOf('Grü'), chunkOf('ße'), 'data: [DONE]\n\n'];
      for (const piece of pieces) {
        const bytes = Buffer.from(piece);
        const middle = bytes.indexOf(0xbc) > 0 ? bytes.indexOf(0xbc) : 5; // cuts a letter of two bytes
        for (const half of [bytes.subarray(0, middle), bytes.subarray(middle)])
          await client.call('llmInference.httpResponseChunk', {
            requestId,
            data: half.toString('base64'),
            binary: true,
            end: false,
          });
      }
      await client.call('llmInference.httpResponseChunk', { requestId, data: '', end: true });
    });
    const session = await client.create({ model: 'm-1', provider, streaming: true });
    const events = await session.turn('Hello');
    expect(answerOf(events)).toEqual(['Grüße']);
    await Promise.all(made);
    expect(asked.map(([, params]) => params.cancel)).toEqual([undefined, undefined]);
    await client.close();
  });

  test('hears of an abort, and what it says afterwards is not waited for', async () => {
    let started = (_: string): void => undefined;
    const begun = new Promise<string>((resolve) => {
      started = resolve;
    });
    const { client, asked } = await carrier(async (requestId) => started(requestId));
    const session = await client.create({ model: 'm-1', provider });
    await session.send('Hello');
    const requestId = await begun;
    await session.call('session.abort');
    await session.next('session.idle');
    await client.until(() => (asked.length > 2 ? true : undefined), 'the cancelled call');
    expect(asked[2]).toEqual([
      'llmInference.httpRequestChunk',
      { requestId, data: '', end: true, cancel: true, cancelReason: expect.any(String) },
    ]);
    const late = await client.call('llmInference.httpResponseStart', head(requestId, 'application/json'));
    expect(late).toEqual({ accepted: false });
    await client.close();
  });

  test('fails a call in its own words', async () => {
    const { client, made } = await carrier(async (requestId) => {
      await client.call('llmInference.httpResponseStart', { requestId, status: 404, headers: {} });
      await client.call('llmInference.httpResponseChunk', {
        requestId,
        data: '{"error":{"message":"no such deployment"}}',
        end: true,
      });
    });
    const session = await client.create({ model: 'm-1', provider });
    const events = await session.turn('Hello');
    expect(events.find(({ type }) => type === 'session.error')?.data).toMatchObject({
      statusCode: 404,
      message: expect.stringContaining('no such deployment'),
    });
    await Promise.all(made);
    await client.close();
  });

  test('is alone, answers only for its own calls, and when it leaves the runtime calls by itself', async () => {
    const { client, asked } = await carrier(async () => undefined);
    const other = await runtime.connect();
    expect(await other.failure('llmInference.setProvider')).toMatchObject({
      message: expect.stringContaining('Another client is already the LLM inference provider.'),
    });
    const model = runtime.script(say('directly'));
    const session = await other.create({ model: 'm-1', provider: { baseUrl: model.baseUrl } });
    await session.send('Hello');
    await client.until(() => (asked.length === 2 ? true : undefined), 'the request');
    const requestId = asked[0]?.[1].requestId;
    for (const answering of [other, client]) {
      const unknown = answering === other ? requestId : 'no-such-request';
      expect(
        await answering.call('llmInference.httpResponseChunk', { requestId: unknown, data: '', end: true }),
      ).toEqual({ accepted: false });
    }
    await client.close();
    const { data } = await session.next('assistant.message');
    expect(data.content).toBe('directly');
    expect(await other.call('llmInference.setProvider')).toEqual({ success: true });
    await other.close();
  });
});

describe('over a WebSocket', () => {
  const sockets = { ...provider, wireApi: 'responses', transport: 'websockets' };
  const events = [
    { type: 'response.output_text.delta', delta: 'Carried ' },
    { type: 'response.output_text.delta', delta: 'along.' },
    { type: 'response.completed', response: { id: 'r', status: 'completed' } },
  ];

  test('the client opens it, and what goes either way is a message', async () => {
    const client = await runtime.connect();
    const asked: Asked[] = [];
    const made: Promise<unknown>[] = [];
    const send = (requestId: string, data: string, end = false) =>
      made.push(client.call('llmInference.httpResponseChunk', { requestId, data, end }));
    client.answer = async (method, params) => {
      const { requestId, end } = params as { requestId: string; end?: boolean };
      asked.push([method, params as Params]);
      if (method === 'llmInference.httpRequestStart')
        made.push(client.call('llmInference.httpResponseStart', { requestId, status: 101, headers: {} }));
      else if (end) send(requestId, '', true);
      else for (const event of events) send(requestId, JSON.stringify(event));
      return {};
    };
    await client.call('llmInference.setProvider');
    const session = await client.create({ model: 'm-1', provider: sockets, streaming: true });
    const received = await session.turn('Hello');
    expect(answerOf(received)).toEqual(['Carried along.']);
    expect(received.filter(({ type }) => type === 'assistant.message_delta')).toHaveLength(2);
    await client.until(() => (asked.length === 3 ? true : undefined), 'the end');
    const [start, message, end] = asked;
    const requestId = start?.[1].requestId;
    expect(start?.[1]).toMatchObject({
      sessionId: session.sessionId,
      method: 'GET',
      url: 'wss://nobody.invalid/v1/responses',
      transport: 'websocket',
      headers: { authorization: ['Bearer key-1'] },
    });
    expect(message?.[1]).toMatchObject({ requestId, binary: false, end: false });
    expect(JSON.parse(String(message?.[1].data))).toMatchObject({ type: 'response.create', model: 'm-1' });
    expect(end?.[1]).toEqual({ requestId, data: '', binary: false, end: true });
    expect(await Promise.all(made)).toEqual(Array(5).fill({ accepted: true }));
    await client.close();
  });

  test('an abort reaches the client, and a client that leaves ends the call', async () => {
    const client = await runtime.connect();
    const asked: Asked[] = [];
    client.answer = async (method, params) => {
      asked.push([method, params as Params]);
      return {};
    };
    await client.call('llmInference.setProvider');
    const session = await client.create({ model: 'm-1', provider: sockets });
    await session.send('Hello');
    await client.until(() => (asked.length === 1 ? true : undefined), 'the request');
    await session.call('session.abort');
    await client.until(() => (asked.length === 2 ? true : undefined), 'the end of it');
    expect(asked[1]).toEqual([
      'llmInference.httpRequestChunk',
      expect.objectContaining({ requestId: asked[0]?.[1].requestId, cancel: true }),
    ]);
    await client.close();
  });

  test('an app of the SDK opens none, and says so', async () => {
    const client = new Client({
      connection: RuntimeConnection.forUri(`${await runtime.process.port()}`),
      onModelRequest: () => new Response(completion),
    });
    const session = await client.createSession({
      model: 'm-1',
      provider: { ...provider, wireApi: 'responses', transport: 'websockets' },
    });
    await expect(session.sendAndWait('Hello')).rejects.toThrow(
      '426 This app makes model calls over HTTP only',
    );
    await client.stop();
  });
});

test('an app of the SDK makes the model calls by one function', async () => {
  const seen: unknown[] = [];
  const client = new Client({
    connection: RuntimeConnection.forUri(`${await runtime.process.port()}`),
    onModelRequest: async (request, context) => {
      const { model } = (await request.json()) as { model: string };
      seen.push([request.method, request.url, request.headers.get('authorization'), model, context]);
      return new Response(completion, { headers: { 'content-type': 'application/json' } });
    },
  });
  const session = await client.createSession({ model: 'm-1', provider });
  const answer = await session.sendAndWait('Hello');
  expect(answer?.data.content).toBe('Carried.');
  const { sessionId } = session;
  expect(seen).toEqual([
    [
      'POST',
      'https://nobody.invalid/v1/chat/completions',
      'Bearer key-1',
      'm-1',
      { sessionId, agentId: sessionId, interactionType: 'conversation-user' },
    ],
  ]);
  await client.stop();
});
