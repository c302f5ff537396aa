import type { IncomingMessage, ServerResponse } from 'node:http';
import { callTools, liveRuntime, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { http, working } from './mcp-http.js';
import { until } from './mcp-world.js';

const runtime = liveRuntime();

interface Listed {
  readonly servers: readonly { readonly name: string; readonly status: string; readonly error?: string }[];
}

const look = (id: string) => callTools({ id, name: 'srv-look', arguments: {} });

/** A session with one server over HTTP, in which everything is approved. */
async function sessionWith(url: string, replies: Parameters<typeof runtime.session>[0], config: object = {}) {
  const { session, model } = await runtime.session(replies, {
    mcpServers: { srv: { type: 'http', url, ...config } },
  });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  const status = async () => (await session.call<Listed>('session.mcp.list')).servers[0];
  return { session, model, status };
}

const deep = `${'['.repeat(400)}${']'.repeat(400)}`;
const message = (id: unknown, result: string) =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
const stray = `data: ${message(999, '{}')}\n\n`;

/** Answers a call with a stream that holds this. */
function streamed(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(text);
}

test.each<[string, (response: ServerResponse, id: unknown) => void, RegExp]>([
  [
    'answers with a body without end',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"jsonrpc":"2.0","x":"');
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    },
    /more than 8 MiB/,
  ],
  [
    'sends an event without end',
    (response) => streamed(response, `event: message\ndata: ${'x'.repeat(9 << 20)}`),
    /more than 8 MiB/,
  ],
  [
    'nests deeper than anything reads',
    (response, id) => streamed(response, `data: ${message(id, `{"content":[],"x":${deep}}`)}\n\n`),
    /nested deeper than 256 levels/,
  ],
  [
    'floods its client with answers to nothing',
    (response) => streamed(response, stray.repeat(6000)),
    /more than 5000 messages in 10 s/,
  ],
])(
  'a server over HTTP that %s is left, the call says why, and it is reached anew',
  async (_, answer, reason) => {
    let isHostile = true;
    const url = await http((request, body, response) => {
      const { id, method } = JSON.parse(body || '{}');
      if (method !== 'tools/call' || !isHostile) return working(() => false)(request, body, response);
      isHostile = false;
      answer(response, id);
    });
    const { session, model, status } = await sessionWith(url, [
      look('c1'),
      say('one'),
      look('c2'),
      say('two'),
    ]);
    await session.turn('Look');
    expect(model.requests[1]?.body.messages.at(-1)?.content).toMatch(reason);
    await session.turn('Look again');
    expect(model.requests[3]?.body.messages.at(-1)?.content).toBe('looked');
    expect(await status()).toMatchObject({ status: 'connected' });
  },
);

test('a stream with many large events is read to its end', async () => {
  const note = {
    jsonrpc: '2.0',
    method: 'notifications/message',
    params: { level: 'info', data: 'x'.repeat(1 << 20) },
  };
  const url = await http((request, body, response) => {
    const { id, method } = JSON.parse(body || '{}');
    if (method !== 'tools/call') return working(() => false)(request, body, response);
    const answer = message(id, '{"content":[{"type":"text","text":"looked"}]}');
    streamed(response, `${`data: ${JSON.stringify(note)}\r\n\r\n`.repeat(12)}data: ${answer}\n\n`);
  });
  const { session, model } = await sessionWith(url, [look('c1'), say('one')]);
  await session.turn('Look');
  expect(model.requests[1]?.body.messages.at(-1)?.content).toBe('looked');
});

test('a call whose stream breaks goes on over another one, with the id of the session and of the last event', async () => {
  const resumed: (readonly [unknown, unknown])[] = [];
  let calls = 0;
  let asked: unknown;
  const url = await http((request, body, response) => {
    const { id, method } = JSON.parse(body || '{}');
    if (request.method === 'GET' && request.headers['last-event-id'] !== undefined) {
      resumed.push([request.headers['mcp-session-id'], request.headers['last-event-id']]);
      return streamed(
        response,
        `id: 2\ndata: ${message(asked, '{"content":[{"type":"text","text":"in the end"}]}')}\n\n`,
      );
    }
    if (method === 'initialize') response.setHeader('mcp-session-id', 'session-1');
    if (method !== 'tools/call') return working(() => false)(request, body, response);
    calls += 1;
    asked = id;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('id: 1\nretry: 0\ndata:\n\n');
    setTimeout(() => response.destroy(), 20);
  });
  const { session, model } = await sessionWith(url, [look('c1'), say('one')]);
  await session.turn('Look');
  expect(model.requests[1]?.body.messages.at(-1)?.content).toBe('in the end');
  expect({ resumed, calls }).toEqual({ resumed: [['session-1', '1']], calls: 1 });
});

test('a call whose stream breaks for good has failed, at once', async () => {
  const url = await http((request, body, response) => {
    const { method } = JSON.parse(body || '{}');
    if (method !== 'tools/call') return working(() => false)(request, body, response);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    setTimeout(() => response.destroy(), 20);
  });
  const { session, model } = await sessionWith(url, [look('c1'), say('one')]);
  await session.turn('Look');
  expect(model.requests[1]?.body.messages.at(-1)?.content).toMatch(/^MCP server 'srv': /);
});

/** The stream on which a server sends changes, as long as it is open. */
function isListening(request: IncomingMessage): boolean {
  return request.method === 'GET';
}

test('the stream of changes is opened again when it breaks, and a forgotten session begun anew', async () => {
  let current = 1;
  let greetings = 0;
  const streams: ServerResponse[] = [];
  const sessions: unknown[] = [];
  const url = await http((request, body, response) => {
    const { method } = JSON.parse(body || '{}');
    if (method === 'initialize') {
      greetings += 1;
      response.setHeader('mcp-session-id', `session-${current}`);
    }
    if (!isListening(request)) return working(() => false)(request, body, response);
    const id = request.headers['mcp-session-id'];
    sessions.push(id);
    if (id !== `session-${current}`) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('retry: 0\n\n');
    streams.push(response);
  });
  const { session, status } = await sessionWith(url, [say('hi')]);
  await session.turn('Go');
  await until(() => streams.length === 1);
  streams[0]?.destroy();
  await until(() => streams.length === 2);
  expect(sessions).toEqual(['session-1', 'session-1']);
  current = 2; // The server has been restarted.
  streams[1]?.destroy();
  await until(() => streams.length === 3);
  expect({ sessions, greetings }).toEqual({
    sessions: ['session-1', 'session-1', 'session-1', 'session-2'],
    greetings: 2,
  });
  await until(async () => (await status())?.status === 'connected');
});

test('a server that is down when it is reached again is given its chances', async () => {
  let refusals = 0;
  let current = 1;
  const url = await http((request, body, response) => {
    const { method } = JSON.parse(body || '{}');
    const id = request.headers['mcp-session-id'];
    if (refusals > 0 && id === undefined) {
      refusals -= 1;
      return void request.socket.destroy();
    }
    if (method === 'initialize') response.setHeader('mcp-session-id', `session-${current}`);
    else if (id !== undefined && id !== `session-${current}`) return void response.writeHead(404).end();
    working(() => false)(request, body, response);
  });
  const { session, model, status } = await sessionWith(url, [look('c1'), say('one'), look('c2'), say('two')]);
  await session.turn('Look');
  current = 2;
  refusals = 2;
  await session.turn('Look again');
  expect(model.requests[3]?.body.messages.at(-1)?.content).toBe('looked');
  expect(await status()).toMatchObject({ status: 'connected' });
});
