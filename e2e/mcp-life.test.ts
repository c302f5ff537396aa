import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { callTools, liveRuntime, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { http, listen, working } from './mcp-http.js';
import { closedPort, testServer } from './mcp-world.js';

const runtime = liveRuntime();

async function errorOf(server: object): Promise<{ readonly status: string; readonly error: string }> {
  const { session } = await runtime.session([say('hi')], { mcpServers: { srv: server } });
  await session.turn('Go');
  const { servers: listed } = await session.call<{ servers: readonly { status: string; error: string }[] }>(
    'session.mcp.list',
  );
  const [{ status, error } = { status: '', error: '' }] = listed;
  return { status, error };
}

test.each<[string, () => Promise<object>, string, RegExp]>([
  [
    'nothing listens',
    async () => ({ url: `http://127.0.0.1:${await closedPort()}/mcp` }),
    'failed',
    /nothing listens.*ECONNREFUSED/,
  ],
  [
    'it wants authorisation',
    async () => ({ url: await http((_, __, response) => response.writeHead(401).end()) }),
    'needs-auth',
    /401/,
  ],
  [
    'it denies access',
    async () => ({ url: await http((_, __, response) => response.writeHead(403).end()) }),
    'failed',
    /403/,
  ],
  [
    'nothing is there',
    async () => ({ url: await http((_, __, response) => response.writeHead(404).end()) }),
    'failed',
    /404/,
  ],
  [
    'it answers what is no JSON',
    async () => ({
      url: await http((_, __, response) =>
        response.setHeader('content-type', 'application/json').end('<html>'),
      ),
    }),
    'failed',
    /JSON/,
  ],
  [
    'it answers another kind of content',
    async () => ({
      url: await http((_, __, response) => response.setHeader('content-type', 'text/html').end('<html>')),
    }),
    'failed',
    /content type/i,
  ],
  [
    'it breaks the connection',
    async () => ({ url: await http((request) => request.socket.destroy()) }),
    'failed',
    /broke the connection/,
  ],
  ['its certificate is its own', async () => ({ url: await tls() }), 'failed', /TLS: /],
  ['it never answers', async () => ({ url: await http(() => undefined), timeout: 300 }), 'pending', /^$/],
  [
    'its command does not exist',
    async () => ({ command: 'no-such-command-here' }),
    'failed',
    /command not found: no-such-command-here/,
  ],
  [
    'it says why it ends',
    async () => testServer({ dieAt: 'initialize', exitCode: 9, stderr: 'the disk is missing' }),
    'failed',
    /code 9.*the disk is missing/s,
  ],
])('the status says in words that %s', async (_name, server, status, words) => {
  const found = await errorOf(await server());
  expect(found.status).toBe(status);
  expect(found.error ?? '').toMatch(words);
});

/** A server whose certificate is signed by itself alone. */
async function tls(): Promise<string> {
  const pem = readFileSync(new URL('fixtures/self-signed.pem', import.meta.url));
  const server = createTlsServer({ key: pem, cert: pem }, (_, response) => response.end());
  return `https://127.0.0.1:${await listen(server)}/mcp`;
}

test('headers go with every request, and a server that forgets the session is greeted again before the call is made', async () => {
  let current = 0;
  const seen = new Set<string>();
  const calls: string[] = [];
  const url = await http(
    working((request, method, response) => {
      seen.add(String(request.headers['x-key']));
      if (method === 'initialize') {
        current += 1;
        response.setHeader('mcp-session-id', `session-${current}`);
        return false;
      }
      const id = request.headers['mcp-session-id'];
      if (method === 'tools/call') calls.push(String(id));
      if (id === undefined || id === `session-${current}`) return false;
      response.writeHead(404).end();
      return true;
    }),
  );
  const look = (id: string) => callTools({ id, name: 'srv-look', arguments: {} });
  const { session, model } = await runtime.session([look('c1'), say('one'), look('c2'), say('two')], {
    mcpServers: { srv: { type: 'http', url, headers: { 'X-Key': 'of-the-tests' } } },
  });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.turn('Look');
  current += 1; // The server has been restarted.
  await session.turn('Look again');
  expect(model.requests[3]?.body.messages.at(-1)?.content).toBe('looked');
  expect(calls).toEqual(['session-1', 'session-1', 'session-3']);
  expect([...seen]).toEqual(['of-the-tests']);
});

test('a server that crashes again and again is started five times more, ever later, and then given up', async () => {
  const { session } = await runtime.session([say('hi')], {
    mcpServers: { srv: testServer({ dieAt: 'prompts/list', exitCode: 4 }) },
  });
  await session.turn('Go');
  const { data } = await session.next(
    'session.mcp_server_status_changed',
    (event) => event.data.status === 'failed',
  );
  expect(data.error).toMatch(/code 4.*restarted 5 times/);
  const starts = session.events.filter(
    (event) =>
      event.type === 'session.mcp_server_status_changed' &&
      (event.data as { status: string }).status === 'connected',
  );
  const times = starts.map(({ timestamp }) => Date.parse(timestamp));
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(pauses).toHaveLength(5);
  for (const [index, pause] of pauses.entries()) expect(pause).toBeGreaterThanOrEqual(250 * 2 ** index);
});

test('prompts of servers are commands of users: listed, run with their arguments, and refused without them', async () => {
  const { session, model } = await runtime.session([say('reviewed')], { mcpServers: { srv: testServer() } });
  await session.call('session.mcp.list');
  await session.next('mcp.prompts.list_changed');
  const { commands } = await session.call<{ commands: readonly { name: string }[] }>('session.commands.list');
  expect(commands.find(({ name }) => name === 'srv-review')).toEqual({
    name: 'srv-review',
    description: 'Reviews',
    kind: 'skill',
    allowDuringAgentExecution: false,
    input: { hint: '<file>' },
  });
  expect(await session.call('session.commands.execute', { commandName: 'srv-review' })).toEqual({
    error: '/srv-review needs file',
  });
  expect(
    await session.call('session.commands.execute', { commandName: 'srv-review', args: 'a b.txt' }),
  ).toEqual({});
  await session.next('session.idle');
  expect(JSON.stringify(model.requests[0]?.body.messages.at(-1)?.content)).toContain('Review a b.txt');
});

test('a redirect to another origin is not followed, and no header goes there', async () => {
  const reached: string[] = [];
  const elsewhere = await http((request, _, response) => {
    reached.push(String(request.headers.authorization));
    response.end();
  });
  const url = await http((_, __, response) => response.writeHead(307, { location: elsewhere }).end());
  const { status, error } = await errorOf({
    type: 'http',
    url,
    headers: { Authorization: 'Bearer of-the-tests' },
  });
  expect(status).toBe('failed');
  expect(error).not.toContain('of-the-tests');
  expect(reached).toEqual([]);
});

test('a server over SSE may not name an address elsewhere for what it is sent', async () => {
  const reached: string[] = [];
  const elsewhere = await http((request, _, response) => {
    reached.push(request.url ?? '');
    response.end();
  });
  const url = await http((_, __, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: endpoint\ndata: ${elsewhere}\n\n`);
  });
  const { status } = await errorOf({ type: 'sse', url, timeout: 1000 });
  expect(['failed', 'pending']).toContain(status);
  expect(reached).toEqual([]);
});
