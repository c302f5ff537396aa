import { callTools, liveRuntime, providerOf, say, story } from '@groundcrew/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';

const runtime = liveRuntime({
  flags: ['--stdio'],
  environment: {
    MY_TEAM: 'blue',
    MY_OTHER: 'not-for-clients',
    OPENAI_API_KEY: 'key-of-the-operator',
    GROUNDCREW_HEADER_ENV: 'MY_TEAM, OPENAI_API_KEY, COPILOT_CONNECTION_TOKEN',
    COPILOT_CONNECTION_TOKEN: 'token-of-the-port',
  },
});
const variable = (name: string) => `\${${name}}`;
const trace = (digit: number) => `00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333${digit}-01`;

describe('the provider of a session', () => {
  test('gets a bearer token over an api key, and headers filled from the environment', async () => {
    const model = runtime.script(say('hi'));
    const headers = {
      'X-Team': variable('MY_TEAM'),
      'X-Stage': variable('MY_STAGE:-dev'),
      'X-Plain': 'a $ b',
    };
    const provider = {
      type: 'openai',
      wireApi: 'completions',
      baseUrl: model.baseUrl,
      apiKey: 'k',
      bearerToken: 'b',
      headers,
    };
    const session = await runtime.client.create({ provider, model: 'm-1', clientName: 'my app' });
    await session.turn('Hello');
    expect(model.requests[0]).toMatchObject({
      path: '/chat/completions',
      headers: {
        authorization: 'Bearer b',
        'x-team': 'blue',
        'x-stage': 'dev',
        'x-plain': 'a $ b',
        'user-agent': expect.stringContaining('client/my-app'),
      },
      body: { model: 'm-1' },
    });
  });

  test('may be called over WebSockets, one for each call', async () => {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await new Promise((resolve) => server.once('listening', resolve));
    onTestFinished(() => void server.close());
    const asked: unknown[] = [];
    server.on('connection', (socket, { url, headers }) => {
      socket.once('message', (message) => {
        asked.push([url, headers.authorization, JSON.parse(String(message)).type]);
        socket.send(JSON.stringify({ type: 'response.output_text.delta', delta: 'Hi there' }));
        const response = { id: 'r1', status: 'completed' };
        socket.send(JSON.stringify({ type: 'response.completed', response }));
      });
    });
    const { port } = server.address() as { port: number };
    const provider = {
      baseUrl: `http://127.0.0.1:${port}/v1`,
      bearerToken: 'b',
      wireApi: 'responses',
      transport: 'websockets',
    };
    const session = await runtime.client.create({ provider, model: 'm-1' });
    const said = (await session.turn('Hello')).filter(({ type }) => type === 'assistant.message');
    await session.turn('Again');
    expect(said).toMatchObject([{ data: { content: 'Hi there' } }]);
    expect(asked).toEqual(Array(2).fill(['/v1/responses', 'Bearer b', 'response.create']));
  });

  test.each(['MY_OTHER', 'OPENAI_API_KEY', 'COPILOT_CONNECTION_TOKEN', 'constructor', '__proto__', 'PATH'])(
    'has no header made of %s: the operator did not allow it, or it is a key of the runtime',
    async (name) => {
      const model = runtime.script(say('hi'));
      const service = { baseUrl: model.baseUrl, apiKey: 'k' };
      const plain = { ...service, headers: { 'X-A': variable(name) } };
      expect(await runtime.client.failure('session.create', { provider: plain, model: 'm' })).toMatchObject({
        message: expect.stringContaining(
          `The environment variable ${name} is not set, or not allowed: GROUNDCREW_HEADER_ENV lists those that are`,
        ),
      });
      const headers = { 'X-A': variable(`${name}:-default`) };
      const session = await runtime.client.create({ provider: { ...service, headers }, model: 'm' });
      await session.turn('Hello');
      expect(model.requests[0]?.headers).toMatchObject({ 'x-a': 'default' });
    },
  );

  test('is masked everywhere, also where a service repeats keys and headers', async () => {
    const key = 'key-that-nobody-may-see';
    const model = runtime.script({
      type: 'status',
      status: 400,
      body: JSON.stringify({
        error: { message: `no ${key}`, code: `bad_${key}`, type: key },
        request_id: `id-${key}`,
      }),
      headers: { 'x-request-id': `req-${key}` },
    });
    const session = await runtime.client.create({
      provider: { baseUrl: model.baseUrl, apiKey: key },
      model: 'm',
    });
    const events = await session.turn('Hello');
    expect(events.some(({ type }) => type === 'session.error')).toBe(true);
    expect(JSON.stringify(events)).not.toContain(key);
  });

  test('keeps a query and a trailing slash of its address, and may know the model by another name', async () => {
    const model = runtime.script(say('hi'));
    const provider = { baseUrl: `${model.baseUrl}/?api=1`, wireModel: 'wire-name', modelId: 'ours' };
    const session = await runtime.client.create({ provider });
    const events = await session.turn('Hello');
    expect(model.requests[0]).toMatchObject({
      path: '/chat/completions?api=1',
      body: { model: 'wire-name' },
    });
    expect(story(events)).toContain('session.model_change ours startup');
    expect(model.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  const bad: readonly [string, object, string][] = [
    ['a header name', { headers: { 'bad name': 'x' } }, 'is no name for a header'],
    [
      'a header value',
      { headers: { 'x-a': 'a\r\nx-b: c' } },
      'The value of the header x-a has characters that cannot be sent',
    ],
    [
      'a header of the connection',
      { headers: { 'content-length': '1' } },
      'The header content-length cannot be set',
    ],
    [
      'a variable that is not set',
      { headers: { 'x-a': variable('NOT_SET_ANYWHERE') } },
      'The environment variable NOT_SET_ANYWHERE is not set',
    ],
    ['an address', { baseUrl: 'ftp://x' }, 'has to be an http or https address'],
    ['an address with a password', { baseUrl: 'http://me:hunter2@x.test' }, 'must not contain credentials'],
    ['a kind not served', { type: 'bedrock' }, 'This version serves providers of type'],
    ['a key that cannot be sent', { apiKey: 'a\nb' }, 'has characters that cannot be sent'],
  ];
  test.each(bad)('with %s that cannot be is refused at once', async (_name, wrong, reason) => {
    const model = runtime.script();
    const failure = await runtime.client.failure('session.create', {
      provider: { baseUrl: model.baseUrl, ...wrong },
    });
    expect(failure).toMatchObject({ code: -32603, message: expect.stringContaining(reason) });
    expect(JSON.stringify(failure)).not.toMatch(/hunter2|a\\nb/);
  });
});

test('headers of one send are on the calls of its turn only, and cannot replace the key', async () => {
  const tools = [{ name: 'look', skipPermission: true }];
  const look = callTools({ id: 'c1', name: 'look', arguments: {} });
  const { session, model } = await runtime.session([look, say('a'), say('b')], { tools });
  await session.send('One', {
    requestHeaders: { 'X-Tenant': 't1', Authorization: 'Bearer stolen', Host: 'evil' },
  });
  const { data } = await session.next('external_tool.requested');
  await session.answerTool(data.requestId, { result: 'x' });
  await session.next('session.idle');
  await session.turn('Two');
  expect(model.requests.map(({ headers }) => [headers['x-tenant'], headers.authorization])).toEqual([
    ['t1', 'Bearer key-of-the-tests'],
    ['t1', 'Bearer key-of-the-tests'],
    [undefined, 'Bearer key-of-the-tests'],
  ]);
});

test.each([
  [{ 'x-a': 'hush\r\nvalue' }, 'The value of the header x-a has characters that cannot be sent'],
  [{ 'x a': 'hush' }, '"x a" is no name for a header'],
])('a send with the header %j is refused with words that name it, not its value', async (headers, reason) => {
  const { session, model } = await runtime.session([say('fine')]);
  expect(await session.failure('session.send', { prompt: 'One', requestHeaders: headers })).toEqual({
    code: -32603,
    message: `Request session.send failed with message: ${reason}`,
  });
  await session.turn('Two');
  expect(model.requests).toHaveLength(1);
});

test('a key that the service repeats in its error is taken out', async () => {
  const model = runtime.script({
    type: 'status',
    status: 400,
    headers: {},
    body: 'bad key key-of-the-tests given',
  });
  const session = await runtime.client.create(providerOf(model));
  const events = await session.turn('Hello');
  expect(story(events).find((line) => line.startsWith('session.error'))).toContain('bad key *** given');
  expect(JSON.stringify(events)).not.toContain('key-of-the-tests');
});

test('the trace of create, resume and send reaches tools and the model', async () => {
  const tools = [{ name: 'look', skipPermission: true }];
  const look = (id: string) => callTools({ id, name: 'look', arguments: {} });
  const { session, model } = await runtime.session(
    [look('c1'), say('a'), look('c2'), say('b'), look('c3'), say('c')],
    {
      tools,
      traceparent: trace(1),
      tracestate: 'made=create',
    },
  );
  const round = async (more: object) => {
    await session.send('Look', more);
    const { data } = await session.next('external_tool.requested');
    await session.answerTool(data.requestId, { result: 'x' });
    await session.next('session.idle');
    return [data.traceparent, data.tracestate];
  };
  expect(await round({})).toEqual([trace(1), 'made=create']);
  expect(await round({ traceparent: trace(2), tracestate: 'made=send' })).toEqual([trace(2), 'made=send']);
  await runtime.client.resume(session.sessionId, { tools, traceparent: trace(3) });
  expect(await round({})).toEqual([trace(3), undefined]);
  expect(model.requests.map(({ headers }) => [headers.traceparent, headers.tracestate])).toEqual([
    ...Array(2).fill([trace(1), 'made=create']),
    ...Array(2).fill([trace(2), 'made=send']),
    ...Array(2).fill([trace(3), undefined]),
  ]);
});

test('a trace that no header can carry is left out, and the turn goes on without it', async () => {
  const { session, model } = await runtime.session([say('a'), say('b')], { traceparent: 'a\r\nX-Evil: 1' });
  await session.turn('One');
  await session.turn('Two', { traceparent: trace(1), tracestate: 'é' });
  expect(model.requests.map(({ headers }) => [headers.traceparent, headers.tracestate])).toEqual([
    [undefined, undefined],
    [trace(1), undefined],
  ]);
});

test('after a cold resume without a provider, the error says what to bring', async () => {
  const { session } = await runtime.session([say('a')]);
  await session.turn('One');
  await session.call('session.destroy');
  const again = await runtime.client.resume(session.sessionId);
  const events = await again.turn('Two');
  expect(story(events).find((line) => line.startsWith('session.error'))).toMatch(
    /give the provider again on session\.resume/,
  );
});

test('the Copilot API is used where the environment names it', async () => {
  const model = runtime.script(say('hi'), say('again'));
  const process = runtime.spawn({
    flags: ['--stdio', '--auth-token-env', 'MY_TOKEN'],
    environment: { COPILOT_API_URL: model.baseUrl, MY_TOKEN: 'gho_1' },
  });
  const client = await runtime.connect(process);
  const { models } = await client.call<{ models: { id: string }[] }>('models.list', {});
  expect(models.map(({ id }) => id)).toEqual(['auto', 'first-model', 'second-model']);
  const session = await client.create();
  const events = await session.turn('Hello');
  expect(story(events)).toContain('session.model_change first-model startup');
  expect(model.requests[0]).toMatchObject({
    headers: {
      authorization: 'Bearer gho_1',
      'copilot-integration-id': 'copilot-developer-cli',
      'openai-intent': 'conversation-agent',
      'x-initiator': 'user',
      'x-interaction-type': 'conversation-user',
      'x-client-session-id': session.sessionId,
    },
    body: { model: 'first-model', temperature: 0, snippy: { enabled: false } },
  });
  expect(model.requests[0]?.body.messages[0]?.content).toContain('GitHub');
});
