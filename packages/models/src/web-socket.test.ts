import { expect, test } from 'vitest';
import { collect, localProxy, localServer, noUsage, plainRequest } from '../test/local-server.js';
import { type ServedSocket, socketServer } from '../test/socket-server.js';
import { copilotProvider } from './copilot.js';
import { nodeExchange } from './node-exchange.js';
import { configuredProvider } from './providers.js';

const surroundings = { environment: {}, version: '1' };
const delta = JSON.stringify({ type: 'response.output_text.delta', delta: 'Hi' });
const completed = JSON.stringify({ type: 'response.completed', response: { id: 'r1', status: 'completed' } });
const answer = (socket: ServedSocket) => {
  socket.send(delta);
  socket.send(completed.slice(0, 9), completed.slice(9, 20), completed.slice(20));
};
const provider = (baseUrl: string, limits = {}) =>
  configuredProvider(
    { baseUrl, apiKey: 'k', wireApi: 'responses', transport: 'websockets' },
    { ...surroundings, exchange: nodeExchange({ environment: {}, limits: () => limits }) },
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

test('a service that wants to know whether anybody listens is told', async () => {
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
    ...surroundings,
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
    { ...surroundings, exchange: nodeExchange({ environment }) },
  );
  await expect(collect(proxied)).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'The proxy refused the connection with status 503',
  });
  expect(proxy.asked.map(({ method, url }) => [method, url])).toEqual([['CONNECT', 'model.test:443']]);
});
