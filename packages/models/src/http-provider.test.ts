import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { all, collect, localServer, noUsage, plainRequest } from '../test/local-server.js';
import type { TimeLimits } from './exchange.js';
import { type HttpProviderOptions, httpProvider } from './http-provider.js';
import type { ChatMessage } from './model.js';
import { nodeExchange } from './node-exchange.js';
import { configuredProvider } from './providers.js';
import { withRetry } from './retry.js';
import { openaiChatWire } from './wires/openai-chat/wire.js';

function providerAt(
  url: string,
  options: Partial<HttpProviderOptions> = {},
  limits: Partial<TimeLimits> = {},
) {
  return httpProvider({
    id: 'local',
    wire: async () => openaiChatWire(),
    wireName: 'openai-chat',
    url: () => `${url}/chat/completions`,
    headers: () => ({ authorization: 'Bearer sk-secret', 'content-type': 'application/json' }),
    exchange: nodeExchange({ environment: {}, limits: () => limits }),
    credentials: { address: url },
    ...options,
  });
}

const whole = JSON.stringify({
  id: 'r1',
  choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }],
});
const frame = (content: string) =>
  `data: ${JSON.stringify({ id: 'r1', choices: [{ delta: { content } }] })}\n\n`;
const streamed = `${frame('Hel')}${frame('lo')}data: [DONE]\n\n`;
const end = { type: 'end', reason: 'stop', usage: noUsage, responseId: 'r1' };
const asWhole = [{ type: 'text', delta: 'Hello' }, end];
const asStreamed = [{ type: 'text', delta: 'Hel' }, { type: 'text', delta: 'lo' }, end];

test('a call is one POST with the encoded request, its headers and those of the call', async () => {
  const server = await localServer((response) => response.end(whole));
  const headers = { 'X-Turn': '7', Authorization: 'Bearer other' };
  expect(await collect(providerAt(server.url), { ...plainRequest, headers })).toEqual(asWhole);
  const [asked] = server.asked;
  expect(server.asked.length).toBe(1);
  expect(asked).toMatchObject({ method: 'POST', url: '/chat/completions' });
  expect(asked?.headers).toEqual({
    authorization: 'Bearer sk-secret',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(asked?.body ?? '')),
    'x-turn': '7',
    host: `127.0.0.1:${server.port}`,
    connection: 'keep-alive',
  });
  expect(JSON.parse(asked?.body ?? '')).toEqual(openaiChatWire().encode(plainRequest));
});

test.each([
  ['text/event-stream; charset=utf-8', streamed, asStreamed],
  ['application/json', whole, asWhole],
  ['application/json', streamed, asStreamed],
  ['text/plain', `\n ${whole}`, asWhole],
  ['', streamed, asStreamed],
])('an answer labelled %j is read for what it is, streamed or not', async (type, body, events) => {
  const server = await localServer((response) => response.setHeader('content-type', type).end(body));
  for (const stream of [true, false])
    expect(await collect(providerAt(server.url), { ...plainRequest, stream })).toEqual(events);
});

test('pieces are passed on as they come', async () => {
  const server = await localServer((response) => {
    response.setHeader('content-type', 'text/event-stream');
    response.write(frame('Hel'));
    proceed = () => response.end(`${frame('lo')}data: [DONE]\n\n`);
  });
  let proceed: () => unknown = () => undefined;
  const batches: unknown[] = [];
  for await (const batch of providerAt(server.url).stream(plainRequest, new AbortController().signal)) {
    batches.push(batch);
    if (batches.length === 1) proceed();
  }
  expect(batches).toEqual([[asStreamed[0]], [asStreamed[1], end]]);
});

test('a packed answer is unpacked', async () => {
  const server = await localServer((response) => {
    response.setHeader('content-encoding', 'gzip').setHeader('content-type', 'application/json');
    response.end(gzipSync(whole));
  });
  expect(await collect(providerAt(server.url))).toEqual(asWhole);
});

test('a header is sent letter by letter, whatever the letters of the body', async () => {
  const server = await localServer((response) => response.end(whole));
  const headers = { 'x-name': 'J\u00f6rg' };
  await collect(providerAt(server.url), { ...plainRequest, system: '\u4f60', headers });
  expect(server.asked[0]?.headers['x-name']).toBe('J\u00f6rg');
});

test('the end carries the id the service gave the call', async () => {
  const server = await localServer((response) => response.setHeader('x-request-id', 'req-1').end(whole));
  expect((await collect(providerAt(server.url))).at(-1)).toEqual({ ...end, requestId: 'req-1' });
});

test('calls one after the other share connections, although answers are left at their last event', async () => {
  const ports = new Set<number | undefined>();
  const server = await localServer((response) => {
    ports.add(response.socket?.remotePort);
    response.setHeader('content-type', 'text/event-stream').end(streamed);
  });
  const provider = providerAt(server.url);
  for (let call = 0; call < 10; call++) await collect(provider);
  expect(ports.size).toBeLessThanOrEqual(2);
});

test('a call that a kept connection was closed under is made again at once, and the retry is reported', async () => {
  const used = new Set<unknown>();
  const server = await localServer((response) => {
    if (used.has(response.socket)) return response.destroy();
    used.add(response.socket);
    return response.end(whole);
  });
  const provider = withRetry(providerAt(server.url));
  expect(await collect(provider)).toEqual(asWhole);
  expect(await collect(provider)).toEqual([
    {
      type: 'retry',
      attempt: 1,
      delayMs: 0,
      error: expect.objectContaining({ kind: 'network', code: 'ECONNRESET' }),
    },
    ...asWhole,
  ]);
  expect(server.asked).toHaveLength(3);
});

test('a list that a kept connection was closed under is asked for again', async () => {
  const used = new Set<unknown>();
  const server = await localServer((response) => {
    if (used.has(response.socket)) return response.destroy();
    used.add(response.socket);
    return response.end('{}');
  });
  const provider = providerAt(server.url, { models: { url: () => `${server.url}/models`, read: () => [] } });
  for (const _ of [1, 2]) expect(await provider.models()).toEqual([]);
  expect(server.asked).toHaveLength(3);
});

test('a failure is reported in the words of the service, without our secrets', async () => {
  const server = await localServer((response) => {
    response.writeHead(429, { 'retry-after': '7', 'x-github-request-id': 'req-2' });
    response.end('{"error":{"message":"Slow down, sk-secret","code":"busy"}}');
  });
  await expect(collect(providerAt(server.url))).rejects.toMatchObject({
    kind: 'rate_limit',
    message: 'Slow down, ***',
    statusCode: 429,
    code: 'busy',
    retryAfter: 7,
    requestId: 'req-2',
  });
});

test('a failure inside a stream has the id of its call', async () => {
  const server = await localServer((response) => {
    response.setHeader('content-type', 'text/event-stream').setHeader('request-id', 'req-3');
    response.end(`${frame('a')}data: {"error":{"message":"upstream","code":503}}\n\n`);
  });
  await expect(collect(providerAt(server.url))).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'upstream',
    statusCode: 503,
    requestId: 'req-3',
  });
});

test.each([
  [
    'text/html',
    '<html>Log in</html>',
    'The model service sent text/html where JSON or an event stream was expected',
  ],
  [
    'application/json',
    'ok',
    'The model service sent application/json where JSON or an event stream was expected',
  ],
  ['application/json', '{"choices":', 'The model service sent an answer that is not JSON'],
  ['application/json', '', 'The model service sent an empty answer'],
])('an answer labelled %s that reads %j is a bad response', async (type, body, message) => {
  const server = await localServer((response) => response.setHeader('content-type', type).end(body));
  await expect(collect(providerAt(server.url))).rejects.toMatchObject({ kind: 'bad_response', message });
});

test('a redirect is not followed, for it could carry secrets away', async () => {
  const server = await localServer((response) =>
    response.writeHead(308, { location: 'https://x.test/v1?k=1' }).end(),
  );
  await expect(collect(providerAt(server.url))).rejects.toMatchObject({
    kind: 'configuration',
    message: 'The model service redirects to https://x.test; set its address to where it is',
  });
  expect(server.asked.length).toBe(1);
});

test.each(['text/event-stream', 'application/json'])('an answer too long is refused (%s)', async (type) => {
  const server = await localServer((response) => response.setHeader('content-type', type).end(whole));
  await expect(collect(providerAt(server.url, { maxAnswerBytes: 20 }))).rejects.toMatchObject({
    kind: 'bad_response',
    message: 'The model service sent more than 20 bytes',
  });
});

test('a connection that breaks midway, and one that is refused, are failures of the network', async () => {
  const server = await localServer((response) => {
    response.setHeader('content-type', 'text/event-stream');
    response.write(frame('Hel'), () => response.destroy());
  });
  await expect(collect(providerAt(server.url))).rejects.toMatchObject({
    kind: 'network',
    message: 'The connection was closed before the answer was complete',
  });
  await expect(collect(providerAt('http://127.0.0.1:1'))).rejects.toMatchObject({
    kind: 'network',
    code: 'ECONNREFUSED',
    message: 'connect ECONNREFUSED 127.0.0.1:1',
  });
});

test('a service that does not answer, or stops answering, is given up', async () => {
  const silent = await localServer(() => undefined);
  const first = providerAt(silent.url, {}, { firstByte: 20 });
  await expect(collect(first)).rejects.toMatchObject({
    kind: 'timeout',
    message: 'The model service did not answer within 0.02 seconds',
  });
  const stuck = await localServer((response) => {
    response.setHeader('content-type', 'text/event-stream').write(frame('Hel'));
  });
  const idle = providerAt(stuck.url, {}, { idle: 20 });
  await expect(collect(idle)).rejects.toMatchObject({
    kind: 'timeout',
    message: 'The model service stopped sending its answer within 0.02 seconds',
  });
});

test('an abort ends the call with its reason, before, during and after the first byte', async () => {
  const reason = new Error('enough');
  const closed: Promise<void>[] = [];
  const server = await localServer((response, { headers }) => {
    closed.push(new Promise((resolve) => response.once('close', resolve)));
    if (headers['x-turn'] === 'silent') controller.abort(reason);
    else response.setHeader('content-type', 'text/event-stream').write(frame('Hel'));
  });
  let controller = new AbortController();
  controller.abort(reason);
  await expect(collect(providerAt(server.url), plainRequest, controller.signal)).rejects.toBe(reason);
  expect(server.asked).toEqual([]);

  controller = new AbortController();
  const silent = { ...plainRequest, headers: { 'x-turn': 'silent' } };
  await expect(collect(providerAt(server.url), silent, controller.signal)).rejects.toBe(reason);

  controller = new AbortController();
  const speaking = (async () => {
    for await (const _ of providerAt(server.url).stream(plainRequest, controller.signal))
      controller.abort(reason);
  })();
  await expect(speaking).rejects.toBe(reason);
  await Promise.all(closed);
});

test('leaving an answer early gives its connection up', async () => {
  const server = await localServer((response) => {
    closed = new Promise((resolve) => response.once('close', () => resolve('closed')));
    response.setHeader('content-type', 'text/event-stream').write(frame('Hel'));
  });
  let closed: Promise<string> = Promise.resolve('');
  for await (const _ of providerAt(server.url).stream(plainRequest, new AbortController().signal)) break;
  expect(await closed).toBe('closed');
});

test('models are read from where the service lists them, or are none', async () => {
  const server = await localServer((response) => response.end('["a"]'));
  const read = (body: unknown) => [{ id: JSON.stringify(body), name: 'a', vision: false }];
  const provider = providerAt(server.url, { models: { url: () => `${server.url}/models`, read } });
  expect(await provider.models()).toEqual([{ id: '["a"]', name: 'a', vision: false }]);
  expect(server.asked).toMatchObject([{ method: 'GET', url: '/models', body: '' }]);
  expect(await providerAt(server.url).models()).toEqual([]);
});

test('a client may make the calls', async () => {
  async function* body() {
    yield Buffer.from(whole);
  }
  const provider = providerAt('http://elsewhere.test', {
    exchange: async ({ url }) => ({ status: 200, headers: { 'x-request-id': url }, body: body() }),
  });
  const batches = await all(provider.stream(plainRequest, new AbortController().signal));
  expect(batches.flat()).toEqual([
    asWhole[0],
    { ...end, requestId: 'http://elsewhere.test/chat/completions' },
  ]);
});

test.each(['completions', 'responses', 'messages'] as const)(
  'over %s, messages of an earlier call are read once, and bodies are as if each were the first',
  async (api) => {
    const server = await localServer((response) => response.end('{}'));
    const type = api === 'messages' ? ('anthropic' as const) : ('openai' as const);
    const kind = api === 'messages' ? { type } : { type, wireApi: api };
    const provide = () =>
      configuredProvider({ baseUrl: server.url, ...kind }, { environment: {}, version: '1' });
    const read: string[] = [];
    const said = (text: string): ChatMessage => ({
      role: 'user',
      get parts() {
        read.push(text);
        return [{ type: 'text' as const, text }];
      },
    });
    const answer: ChatMessage = { role: 'assistant', text: 'Well', toolCalls: [] };
    const [one, two] = [said('one'), said('two')];
    const calls = [[one], [one, answer, two], [said('three')]].map((messages) => ({
      ...plainRequest,
      messages,
    }));
    const provider = provide();
    for (const call of calls) await collect(provider, call).catch(() => undefined);
    expect(read).toEqual(['one', 'two', 'three']);
    for (const call of calls) await collect(provide(), call).catch(() => undefined);
    const bodies = server.asked.map(({ body }) => body);
    expect(bodies.slice(0, 3)).toEqual(bodies.slice(3));
    expect(bodies).toHaveLength(6);
  },
);
