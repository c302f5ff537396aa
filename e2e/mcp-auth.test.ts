import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callTools, liveRuntime, say } from '@groundcrew/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { http, working } from './mcp-http.js';

const runtime = liveRuntime();
let server: Server;
let url = '';
/** The token that the server takes now. */
let wanted = 'first-token';
/** Once its tools are listed it takes another. */
let rotates = false;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (request.url === '/metadata') {
    response.end('{"resource":"here"}');
    return;
  }
  const { authorization } = request.headers;
  if (authorization !== `Bearer ${wanted}`) {
    const challenge = `Bearer resource_metadata="${url}/metadata", scope="read", error="invalid_token"`;
    response.writeHead(401, { 'www-authenticate': challenge }).end();
    return;
  }
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString() || '{}');
  if (id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: params?.protocolVersion ?? '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'locked', version: '1' },
    },
    'tools/list': { tools: [{ name: 'who', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: String(authorization) }] },
  };
  const result = results[method];
  if (method === 'tools/list' && rotates) wanted = 'second-token';
  const reply = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...reply }));
}

beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const locked = () => ({
  srv: { type: 'http', url: `${url}/mcp`, oauthClientId: 'app', oauthPublicClient: true },
});

test('a server without a login needs authorisation, and the turn goes on', async () => {
  const { session } = await runtime.session([say('hi')], { mcpServers: locked() });
  const events = await session.turn('Go');
  expect(events.filter(({ type }) => type === 'mcp.oauth_required')).toEqual([]);
  expect(await session.call('session.mcp.list')).toMatchObject({
    servers: [{ name: 'srv', status: 'needs-auth', error: expect.stringContaining('401') }],
  });
});

test('a client that wants to be asked brings a token, and a fresh one when that is refused; none is in any event', async () => {
  wanted = 'first-token';
  rotates = true;
  const { session, model } = await runtime.session(
    [callTools({ id: 'c1', name: 'srv-who', arguments: {} }), say('done')],
    { mcpServers: locked() },
  );
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.call('session.eventLog.registerInterest', { eventType: 'mcp.oauth_required' });
  await session.send('Go');
  const first = await session.next('mcp.oauth_required');
  expect(first.data).toMatchObject({
    serverName: 'srv',
    serverUrl: `${url}/mcp`,
    reason: 'initial',
    resourceMetadata: '{"resource":"here"}',
    staticClientConfig: { clientId: 'app', publicClient: true },
    wwwAuthenticateParams: { resourceMetadataUrl: `${url}/metadata`, scope: 'read', error: 'invalid_token' },
  });
  const give = (requestId: string, accessToken: string) =>
    session.call('session.mcp.oauth.handlePendingRequest', {
      requestId,
      result: { kind: 'token', accessToken },
    });
  expect(await give(first.data.requestId, 'first-token')).toEqual({ success: true });
  expect(await give(first.data.requestId, 'other')).toEqual({ success: false });
  await session.next('session.mcp_server_status_changed', ({ data }) => data.status === 'connected');
  const second = await session.next('mcp.oauth_required');
  expect(second.data.reason).toBe('refresh');
  await give(second.data.requestId, 'second-token');
  await session.next('session.idle');
  expect(model.requests[1]?.body.messages.at(-1)?.content).toBe('Bearer second-token');
  const published = session.events.filter(
    ({ type }) => type.startsWith('mcp.') || type.startsWith('session.mcp'),
  );
  expect(JSON.stringify(published)).not.toMatch(/first-token|second-token/);
});

test('a server that writes what it was sent into its errors has no token in any event', async () => {
  const echoUrl = await http(
    working((request, method, response) => {
      if (method !== 'tools/list') return false;
      const { authorization = '', 'x-key': key = '' } = request.headers;
      response.writeHead(500).end(`debug: authorization=${authorization.replace('Bearer ', '')} key=${key}`);
      return true;
    }),
  );
  const { session } = await runtime.session([say('hi')], {
    mcpServers: {
      written: {
        type: 'streamable-http',
        url: echoUrl,
        headers: { Authorization: 'Bearer written-token', 'X-Key': 'written-key' },
      },
      given: { type: 'http', url: echoUrl, headersRefreshTtlMs: 3_600_000 },
    },
  });
  await session.call('session.eventLog.registerInterest', { eventType: 'mcp.headers_refresh_required' });
  await session.send('Go');
  const { data } = await session.next('mcp.headers_refresh_required');
  await session.call('session.mcp.headers.handlePendingHeadersRefreshRequest', {
    requestId: data.requestId,
    result: { kind: 'headers', headers: { Authorization: 'Bearer given-token' } },
  });
  await session.next('session.idle');
  expect(await session.call('session.mcp.list')).toMatchObject({
    servers: [
      { status: 'failed', error: expect.stringContaining('debug: authorization=*** key=***') },
      { status: 'failed', error: expect.stringContaining('debug: authorization=*** key=') },
    ],
  });
  expect(JSON.stringify(session.events)).not.toMatch(/written-token|written-key|given-token/);
});

test.each([
  ['handlePendingRequest', { result: { kind: 'cancelled' } }],
  ['respond', {}],
])('a client that declines by %s leaves the server without authorisation', async (method, more) => {
  const { session } = await runtime.session([say('hi')], { mcpServers: locked() });
  await session.call('session.eventLog.registerInterest', { eventType: 'mcp.oauth_required' });
  await session.send('Go');
  const { data } = await session.next('mcp.oauth_required');
  const answer = () => session.call(`session.mcp.oauth.${method}`, { requestId: data.requestId, ...more });
  expect(await answer()).toEqual({ success: true });
  await session.next('mcp.oauth_completed', (event) => event.data.outcome === 'cancelled');
  await session.next('session.mcp_server_status_changed', (event) => event.data.status === 'needs-auth');
  await session.next('session.idle');
  expect(await answer()).toEqual({ success: false });
});

test('a client that gives headers is asked at the start and when they are refused; none is in any event', async () => {
  wanted = 'header-one';
  rotates = false;
  const { session } = await runtime.session([say('hi')], {
    mcpServers: { srv: { type: 'http', url: `${url}/mcp`, headersRefreshTtlMs: 3_600_000 } },
  });
  await session.call('session.eventLog.registerInterest', { eventType: 'mcp.headers_refresh_required' });
  const give = (requestId: string, token: string) =>
    session.call('session.mcp.headers.handlePendingHeadersRefreshRequest', {
      requestId,
      result: { kind: 'headers', headers: { Authorization: `Bearer ${token}` } },
    });
  await session.call('session.mcp.list');
  const first = await session.next('mcp.headers_refresh_required');
  expect(first.data).toMatchObject({ reason: 'startup', serverName: 'srv', serverUrl: `${url}/mcp` });
  expect(await give(first.data.requestId, 'header-old')).toEqual({ success: true });
  const second = await session.next('mcp.headers_refresh_required');
  expect(second.data.reason).toBe('auth-failed');
  await give(second.data.requestId, 'header-one');
  expect(await give(second.data.requestId, 'header-two')).toEqual({ success: false });
  await session.next('session.mcp_server_status_changed', ({ data }) => data.status === 'connected');
  expect(JSON.stringify(session.events)).not.toMatch(/header-one|header-old/);
});
