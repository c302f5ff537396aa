import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import {
  callTools,
  LiveRuntime,
  providerOf,
  RuntimeProcess,
  type ScriptedReply,
  say,
} from '@groundcrew/testkit';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from './mcp-world.js';

const program = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));
const token = 'a-token-of-the-tests';
// Only its home, its model and its processes are used here.
const world = new LiveRuntime({ flags: ['--stdio'] });
let served: RuntimeProcess;
let url = '';

/** The environment that leads sessions of a server to a scripted model. */
function environment(...replies: readonly ScriptedReply[]) {
  const { provider } = providerOf(world.script(...replies));
  return {
    OPENAI_BASE_URL: provider.baseUrl,
    OPENAI_API_KEY: provider.apiKey,
    GROUNDCREW_MODEL: 'scripted',
  };
}

beforeAll(async () => {
  await world.start();
  served = new RuntimeProcess({
    flags: ['mcp', 'serve', '--http'],
    home: world.home.path,
    workingDirectory: world.workingDirectory,
    environment: {
      GROUNDCREW_TOKEN: token,
      ...environment(
        callTools({
          id: 'c1',
          name: 'bash',
          arguments: { command: 'echo changed > made.txt', description: 'x' },
        }),
        say('It is made'),
        callTools({
          id: 'c2',
          name: 'ask_user',
          arguments: { question: 'Which?', choices: ['red', 'blue'] },
        }),
        say('It is blue'),
      ),
    },
  });
  await until(() => /listening at/.test(served.stdout));
  url = /listening at (\S+)/.exec(served.stdout)?.[1] ?? '';
});
afterAll(async () => {
  await served.stop();
  await world.stop();
});

interface View {
  readonly sessionId: string;
  readonly status: string;
  readonly answer?: string;
  readonly questions: readonly { readonly questionId: string; readonly kind: string }[];
}

async function call(client: Client, name: string, args: object): Promise<View> {
  const { structuredContent, isError, content } = await client.callTool({ name, arguments: { ...args } });
  if (isError) throw new Error(JSON.stringify(content));
  return structuredContent as unknown as View;
}

async function connected(mode: 'auto' | 'legacy' = 'auto'): Promise<Client> {
  const client = new Client({ name: 'host', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client;
}

test('a host starts a session, is asked before a tool changes anything, answers, and reads what happened', async () => {
  const host = await connected();
  expect((await host.listTools()).tools.map(({ name }) => name).sort()).toEqual([
    'abort_turn',
    'answer_question',
    'list_sessions',
    'read_events',
    'send_prompt',
    'start_session',
    'wait',
  ]);
  const { sessionId } = await call(host, 'start_session', { prompt: 'Make it' });
  const asked = await call(host, 'wait', { sessionId });
  expect(asked).toMatchObject({ status: 'question', questions: [{ kind: 'permission' }] });
  const questionId = asked.questions[0]?.questionId;
  await expect(call(host, 'answer_question', { sessionId, questionId })).rejects.toThrow(/approve or deny/);
  await call(host, 'answer_question', { sessionId, questionId, decision: 'approve' });
  expect(await call(host, 'wait', { sessionId })).toMatchObject({ status: 'idle', answer: 'It is made' });
  await expect(call(host, 'answer_question', { sessionId, questionId, decision: 'deny' })).rejects.toThrow(
    /no open question/,
  );
  await call(host, 'send_prompt', { sessionId, prompt: 'Colour it' });
  const second = await call(host, 'wait', { sessionId });
  expect(second).toMatchObject({
    status: 'question',
    questions: [{ kind: 'input', choices: ['red', 'blue'] }],
  });
  await call(host, 'answer_question', {
    sessionId,
    questionId: second.questions[0]?.questionId,
    answer: 'blue',
  });
  expect(await call(host, 'wait', { sessionId })).toMatchObject({ status: 'idle', answer: 'It is blue' });
  const { events } = (await call(host, 'read_events', { sessionId, max: 100 })) as unknown as {
    events: readonly { readonly type: string }[];
  };
  expect(events.map(({ type }) => type)).toContain('tool.execution_complete');
  await host.close();
});

test('hosts of older revisions have a session of their own, and get an error when it is gone', async () => {
  const host = await connected('legacy');
  expect(host.getNegotiatedProtocolVersion()).toBe('2025-11-25');
  expect(await call(host, 'list_sessions', {})).toMatchObject({ sessions: expect.any(Array) });
  const headers = { authorization: `Bearer ${token}`, 'mcp-session-id': 'no-such-one' };
  expect((await raw({ headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' })).status).toBe(404);
  await host.close();
});

test('a session that does not exist is an answer, not a crash', async () => {
  const host = await connected();
  await expect(call(host, 'wait', { sessionId: 'none' })).rejects.toThrow(/none/);
  await expect(call(host, 'send_prompt', { sessionId: 'none', prompt: '' })).rejects.toThrow();
  await host.close();
});

/** A request as it stands: no library sends wrong hosts and origins. */
function raw({
  method = 'POST',
  path = '/mcp',
  headers = {},
  body = '',
}: {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}): Promise<{ readonly status: number; readonly text: string }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        hostname,
        port,
        path,
        method,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

const right = { authorization: `Bearer ${token}` };
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

test.each<[string, Parameters<typeof raw>[0], number]>([
  ['no token', { body: ping }, 401],
  ['a wrong token', { headers: { authorization: 'Bearer wrong' }, body: ping }, 401],
  ['another kind of authorisation', { headers: { authorization: `Basic ${token}` }, body: ping }, 401],
  ['the token in the address', { path: `/mcp?token=${token}`, body: ping }, 401],
  [
    'another host, as after DNS rebinding',
    { headers: { ...right, host: 'evil.example.com' }, body: ping },
    403,
  ],
  ['the right name with a wrong port', { headers: { ...right, host: '127.0.0.1:1' }, body: ping }, 403],
  [
    'the origin of a page elsewhere',
    { headers: { ...right, origin: 'https://evil.example.com' }, body: ping },
    403,
  ],
  ['the origin of a file', { headers: { ...right, origin: 'null' }, body: ping }, 403],
  [
    'the origin of another port here',
    { headers: { ...right, origin: 'http://localhost:1' }, body: ping },
    403,
  ],
  ['another path', { path: '/other', headers: right, body: ping }, 404],
  ['a path of objects', { path: '/constructor', headers: right, body: ping }, 404],
  ['more than 4 MiB', { headers: right, body: Buffer.alloc(5 * 1024 * 1024, 32) }, 413],
])('a request with %s is refused', async (_name, request, status) => {
  const answer = await raw(request);
  expect(answer.status).toBe(status);
  expect(answer.text).not.toContain(token);
});

test('what is no message is refused, and the server goes on', async () => {
  for (const body of ['', '{', '[]', 'null', '"x"', '{"jsonrpc":"2.0"}', '['.repeat(100_000)])
    expect((await raw({ headers: right, body })).status).toBeGreaterThanOrEqual(400);
  const host = await connected();
  await host.listTools();
  await host.close();
});

test('pending peers that send little and stay keep no client out, and a client that leaves early is no failure', async () => {
  const { hostname, port } = new URL(url);
  const open = async (text: string) => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  };
  const before = served.stderr;
  const head = `POST /mcp HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-length: 4000\r\n`;
  const strangers = await Promise.all(
    Array.from({ length: 300 }, (_, index) =>
      open(index % 2 === 0 ? 'POST /mcp HTTP/1.1\r\nhost: ' : `${head}\r\n{`),
    ),
  );
  const host = await connected();
  await host.listTools();
  await host.close();
  for (const stranger of strangers) stranger.destroy();
  const leaving = await open(`${head}authorization: Bearer ${token}\r\n\r\n{`);
  await raw({ headers: right, body: ping });
  leaving.destroy();
  await once(leaving, 'close');
  expect((await raw({ headers: right, body: ping })).status).toBeLessThan(500);
  expect(served.stderr).toBe(before);
});

test('bodies that come slowly, with the right token, keep no client out and no request waiting', async () => {
  const { hostname, port } = new URL(url);
  const head = `POST /mcp HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${token}\r\n`;
  const before = served.stderr;
  const heard: string[] = [];
  const open = async (index: number) => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      heard[index] = `${heard[index] ?? ''}${bytes}`;
    });
    await once(socket, 'connect');
    socket.write(`${head}content-type: application/json\r\ncontent-length: 4000\r\n\r\n{`);
    return socket;
  };
  const slow: Awaited<ReturnType<typeof open>>[] = [];
  // More than the door has places for, connections included: it has to close those that wait longest.
  for (let index = 0; index < 400; index += 1) slow.push(await open(index));
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => raw({ headers: right, body: ping }).then(({ status }) => status)),
  );
  expect(answers.filter((status) => status >= 500)).toEqual([]);
  const host = await connected();
  await host.listTools();
  await host.close();
  await until(() => slow.filter(({ closed }) => closed).length >= 400 - 64);
  expect(heard.filter(Boolean).every((text) => text.startsWith('HTTP/1.1 408 '))).toBe(true);
  expect(heard[0]).toContain('The request took too long to arrive');
  for (const socket of slow) socket.destroy();
  expect(served.stderr).toBe(before);
});

test('over stdio nothing but messages is on stdout, and the server ends with its host', async () => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp', 'serve'],
    cwd: world.workingDirectory,
    env: { PATH: process.env.PATH ?? '', COPILOT_HOME: world.home.path, ...environment(say('hello')) },
    stderr: 'pipe',
  });
  const host = new Client({ name: 'host', version: '1' });
  const faults: Error[] = [];
  host.onerror = (error) => faults.push(error);
  await host.connect(transport);
  const { sessionId } = await call(host, 'start_session', { prompt: 'Hi' });
  expect(await call(host, 'wait', { sessionId })).toMatchObject({ status: 'idle', answer: 'hello' });
  const { pid } = transport;
  await host.close();
  await until(() => !isRunning(pid ?? 0));
  expect(faults).toEqual([]);
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
