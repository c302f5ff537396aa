import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { collect, localProxy, localServer, noUsage, plainRequest } from '../test/local-server.js';
import { type ServedSocket, socketServer } from '../test/socket-server.js';
import { copilotProvider } from './copilot.js';
import { nodeExchange } from './node-exchange.js';
import { configuredProvider } from './providers.js';

const context = { environment: {}, version: '1' };
const delta = JSON.stringify({ type: 'response.output_text.delta', delta: 'Hi' });
const completed = JSON.stringify({ type: 'response.completed', response: { id: 'r1', status: 'completed' } });
const answer = (socket: ServedSocket) => {
  socket.send(delta);
  socket.send(completed.slice(0, 9), completed.slice(9, 20), completed.slice(20));
};
const provider = (baseUrl: string, limits = {}) =>
  configuredProvider(
    { baseUrl, apiKey: 'k', wireApi: 'responses', transport: 'websockets' },
    { ...context, exchange: nodeExchange({ environment: {}, limits: () => limits }) },
  );
const said = [
  { type: 'text', delta: 'Hi' },
  { type: 'end', reason: 'stop', usage: noUsage, responseId: 'r1' },
];

test('a call is a message, each event of its answer is one, and the socket is closed when it is answered', async () => {
  const server = await socketServer(answer);
  expect(await collect(provider(`${server.url}/v1`), { ...plainRequest, stream: true })).toEqual(said);
  await server.closed;
  const [asked] = server.asked;
  expect(JSON.parse(asked?.message ?? '')).toEqual({
    type: 'response.create',
    model: 'tiny',
    instructions: 'Be brief.',
    store: false,
    include: ['reasoning.encrypted_content'],
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
  });
  expect([asked?.url, asked?.headers.authorization, asked?.headers['user-agent']]).toEqual([
    '/v1/responses',
    'Bearer k',
    'groundcrew/1',
  ]);
  expect(server.controls).toEqual(['8:03e8']);
});

test('a ping of the service is answered', async () => {
  const server = await socketServer((socket) => {
    socket.frame(0x9, Buffer.from('there?'));
    answer(socket);
  });
  expect(await collect(provider(server.url))).toEqual(said);
  await server.closed;
  expect(server.controls[0]).toBe(`10:${Buffer.from('there?').toString('hex')}`);
});

test.each([
  [
    401,
    {
      kind: 'auth',
      message: expect.stringMatching(/^The model service at \S+ refused the request \(401\): no\. /),
    },
  ],
  [429, { kind: 'rate_limit', message: 'no' }],
  [503, { kind: 'unavailable', message: 'no' }],
])('a service that answers %i opens none', async (status, error) => {
  const server = await socketServer(answer, { status });
  await expect(collect(provider(server.url))).rejects.toMatchObject({ ...error, statusCode: status });
});

test.each<[string, (socket: ServedSocket) => void, object]>([
  [
    'that fails',
    (socket) => socket.send(JSON.stringify({ type: 'error', error: { message: 'too long', code: 'x' } })),
    { message: 'too long', code: 'x' },
  ],
  [
    'that is closed for a reason',
    (socket) => socket.frame(0x8, Buffer.from([0x03, 0xf3])),
    { kind: 'unavailable', message: 'The model service closed the WebSocket with code 1011' },
  ],
  ['that is closed too early', (socket) => socket.frame(0x8, Buffer.alloc(0)), { kind: 'unavailable' }],
  ['that breaks', (socket) => socket.destroy(), { kind: 'unavailable' }],
  ['that is no JSON', (socket) => socket.send('what', 'ever'), { kind: 'bad_response' }],
])('an answer %s is a failure', async (_, play, error) => {
  const server = await socketServer((socket) => {
    play(socket);
    socket.send(delta);
  });
  await expect(collect(provider(server.url))).rejects.toMatchObject(error);
});

const noFrames = 'The model service sent bytes that are no WebSocket frames';

test.each([
  ['an extension that was not negotiated', [0xc1, 0x00], noFrames],
  ['a masked frame', [0x81, 0x80, 0, 0, 0, 0], noFrames],
  ['a piece of nothing', [0x80, 0x00], noFrames],
  ['a message within another', [0x01, 0x00, 0x81, 0x00], noFrames],
  ['a frame of no known kind', [0x83, 0x00], noFrames],
  ['text that is none', [0x81, 0x01, 0xff], noFrames],
  [
    'a frame that is too large',
    [0x82, 127, 0, 0, 0, 0, 0x03, 0, 0, 0],
    'The model service sent a message larger than 32 MB',
  ],
])('%s is a bad answer', async (_, bytes, message) => {
  const server = await socketServer((socket) => socket.bytes(Buffer.from(bytes)));
  await expect(collect(provider(server.url))).rejects.toMatchObject({ kind: 'bad_response', message });
});

test('a long answer is read whole, however slow its reader is', async () => {
  const text = 'x'.repeat(40_000);
  const server = await socketServer((socket) => {
    for (let i = 0; i < 20; i++)
      socket.send(JSON.stringify({ type: 'response.output_text.delta', delta: text }));
    socket.send(completed);
  });
  let length = 0;
  const signal = new AbortController().signal;
  for await (const events of provider(server.url).stream({ ...plainRequest, stream: true }, signal)) {
    for (const event of events) if (event.type === 'text') length += event.delta.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(length).toBe(20 * text.length);
});

test('a service that upgrades without proof opened none', async () => {
  const server = createServer((_, response) => response.end());
  server.on('upgrade', (_, socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  await expect(collect(provider(`http://127.0.0.1:${port}`))).rejects.toMatchObject({
    kind: 'bad_response',
    message: 'The model service opened no WebSocket',
  });
});

test('a service that cannot be reached is reported as for every other call', async () => {
  await expect(collect(provider('http://127.0.0.1:1'))).rejects.toMatchObject({
    kind: 'network',
    code: 'ECONNREFUSED',
  });
});

test('silence ends the call, before the answer and in the middle of it', async () => {
  const limits = { firstByte: 30, idle: 20 };
  const silent = await socketServer(() => undefined);
  const message = (what: string) => ({ kind: 'timeout', message: `The model service ${what} seconds` });
  await expect(collect(provider(silent.url, limits))).rejects.toMatchObject(
    message('did not answer within 0.03'),
  );
  const faltering = await socketServer((socket) => socket.send(delta));
  await expect(collect(provider(faltering.url, limits))).rejects.toMatchObject(
    message('stopped sending its answer within 0.02'),
  );
});

test('an abort closes the socket and throws its reason', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const server = await socketServer((socket) => {
    socket.send(delta);
    setImmediate(() => controller.abort(reason));
  });
  await expect(collect(provider(server.url), plainRequest, controller.signal)).rejects.toBe(reason);
  await server.closed;
});

test('where the Copilot API opens no socket it is asked without one, and from then on always', async () => {
  const body = JSON.stringify({
    id: 'r2',
    status: 'completed',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'Ho' }] }],
  });
  const server = await localServer((response) =>
    response.setHeader('content-type', 'application/json').end(body),
  );
  const copilot = copilotProvider({
    ...context,
    baseUrl: server.url,
    token: 't',
    apiOf: () => 'responses-socket',
  });
  for (const _ of [1, 2])
    expect(await collect(copilot)).toEqual([
      { type: 'text', delta: 'Ho' },
      { type: 'end', reason: 'stop', usage: noUsage, responseId: 'r2' },
    ]);
  expect(server.asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /responses',
    'POST /responses',
    'POST /responses',
  ]);
});

test('an encrypted one is opened through the proxy that the environment names', async () => {
  const proxy = await localProxy(0, 503);
  const environment = { HTTPS_PROXY: proxy.url };
  const proxied = configuredProvider(
    { baseUrl: 'https://model.test', apiKey: 'k', wireApi: 'responses', transport: 'websockets' },
    { ...context, exchange: nodeExchange({ environment }) },
  );
  await expect(collect(proxied)).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'The proxy refused the connection with status 503',
  });
  expect(proxy.asked.map(({ method, url }) => [method, url])).toEqual([['CONNECT', 'model.test:443']]);
});

test('a plain one is handed to the proxy with its whole address', async () => {
  const server = await socketServer(answer);
  const environment = { HTTP_PROXY: server.url.replace('http://', 'http://ann:p%40ss@') };
  const proxied = configuredProvider(
    { baseUrl: 'http://model.test/v1', apiKey: 'k', wireApi: 'responses', transport: 'websockets' },
    { ...context, exchange: nodeExchange({ environment }) },
  );
  expect(await collect(proxied)).toEqual(said);
  expect(server.asked).toMatchObject([
    {
      url: 'http://model.test/v1/responses',
      headers: {
        host: 'model.test',
        authorization: 'Bearer k',
        'proxy-authorization': `Basic ${Buffer.from('ann:p@ss').toString('base64')}`,
      },
    },
  ]);
});
