import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import type { ClientApp, McpServer } from '@agentclientprotocol/sdk';
import { callTools, freePort, RuntimeProcess, say, streamChunks } from '@groundcrew/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EditorContext } from './editor.js';
import { type RemoteServer, startRemoteServer } from './remote-server.js';

const everything = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);

let world: EditorContext;
beforeAll(async () => {
  world = await EditorContext.open();
});
afterAll(() => world.close());

/** The words of every result that the model was given in its last request. */
function results(): readonly unknown[] {
  const messages = world.model.requests.at(-1)?.body.messages ?? [];
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
}

/** An editor that fills forms in by what `fill` says, and notes what it was asked. */
function formsOf(asked: unknown[], fill: () => object): (app: ClientApp) => void {
  return (app) => {
    app.onRequest('elicitation/create', ({ params }) => {
      asked.push(params);
      return fill() as never;
    });
  };
}

test('MCP servers of the editor are used, and their forms are put to it', { timeout: 60_000 }, async () => {
  const asked: { message?: string; mode?: string }[] = [];
  const form = { action: 'accept', content: { name: 'Ada' } };
  const editor = await world.start(
    [
      callTools({ id: 'm1', name: 'all-echo', arguments: { message: 'hello' } }),
      callTools({ id: 'm2', name: 'all-trigger-elicitation-request', arguments: {} }),
      say('All heard.'),
    ],
    { abilities: { elicitation: { form: {} } }, handlers: formsOf(asked, () => form) },
  );
  const { sessionId } = await editor.agent.request('session/new', {
    cwd: world.directory,
    mcpServers: [
      { name: 'all', command: process.execPath, args: [everything], env: [{ name: 'SEEN', value: 'yes' }] },
    ],
  });
  expect(await editor.prompt(sessionId, 'Use the server')).toBe('end_turn');
  expect(results()).toEqual(['Echo: hello', expect.stringContaining('Ada')]);
  expect(asked).toMatchObject([{ sessionId, mode: 'form', requestedSchema: { type: 'object' } }]);
  expect(editor.asked.map(({ toolCall }) => toolCall.toolCallId)).toEqual(['m1', 'm2']);
  const twice = { name: 'all', command: 'x', args: [], env: [] };
  await expect(
    editor.agent.request('session/new', { cwd: world.directory, mcpServers: [twice, twice] }),
  ).rejects.toThrow(/two MCP servers are named all/);
  await editor.close();
});

const remote: RemoteServer[] = [];
afterAll(() => {
  for (const server of remote) server.close();
});

test('MCP servers over HTTP and SSE get the headers of the editor, and one that is gone stops no other', {
  timeout: 60_000,
}, async () => {
  const header = 'x-editor';
  const [overHttp, overSse] = await Promise.all([
    startRemoteServer(everything, { transport: 'streamableHttp', header }),
    startRemoteServer(everything, { transport: 'sse', header }),
  ]);
  remote.push(overHttp, overSse);
  const mcpServers: McpServer[] = [
    {
      type: 'http',
      name: 'web',
      url: `${overHttp.origin}/mcp`,
      headers: [{ name: 'X-Editor', value: 'by http' }],
    },
    {
      type: 'sse',
      name: 'feed',
      url: `${overSse.origin}/sse`,
      headers: [{ name: 'X-Editor', value: 'by sse' }],
    },
    { type: 'http', name: 'gone', url: `http://127.0.0.1:${await freePort()}/mcp`, headers: [] },
  ];
  const editor = await world.start([
    callTools(
      { id: 'r1', name: 'web-echo', arguments: { message: 'hello' } },
      { id: 'r2', name: 'feed-echo', arguments: { message: 'there' } },
    ),
    say('Both heard.'),
    callTools({ id: 'r3', name: 'feed-get-sum', arguments: { a: 2, b: 40 } }),
    say('Summed.'),
  ]);
  const { sessionId } = await editor.agent.request('session/new', { cwd: world.directory, mcpServers });
  expect(await editor.prompt(sessionId, 'Use both')).toBe('end_turn');
  expect(results()).toEqual(['Echo: hello', 'Echo: there']);
  expect([...new Set(overHttp.seen), ...new Set(overSse.seen)]).toEqual(['by http', 'by sse']);
  await editor.close();

  const again = await world.start();
  await again.agent.request('session/load', { sessionId, cwd: world.directory, mcpServers });
  expect(await again.prompt(sessionId, 'Once more')).toBe('end_turn');
  expect(results()).toEqual(['Echo: hello', 'Echo: there', 'The sum of 2 and 40 is 42.']);
  await again.close();
});

test('questions of the agent are forms where the editor has them, and else the agent cannot ask', async () => {
  const asked: unknown[] = [];
  const replies: object[] = [
    { action: 'accept', content: { answer: 'blue' } },
    { action: 'accept', content: { answer: 'mauve' } },
    { action: 'decline' },
  ];
  const question = { question: 'Which hue?', choices: ['red', 'blue'] };
  const asks = (id: string) => callTools({ id, name: 'ask_user', arguments: question });
  const editor = await world.start([asks('a1'), asks('a2'), asks('a3'), say('Heard.')], {
    abilities: { elicitation: { form: {} } },
    handlers: formsOf(asked, () => replies.shift() ?? {}),
  });
  const { sessionId } = await editor.agent.request('session/new', { cwd: world.directory, mcpServers: [] });
  expect(await editor.prompt(sessionId, 'Ask me')).toBe('end_turn');
  expect(results()).toEqual([
    expect.stringContaining('blue'),
    expect.stringContaining('mauve'),
    'User responded: The user declined to answer.',
  ]);
  expect(asked[0]).toEqual({
    sessionId,
    mode: 'form',
    message: 'Which hue?',
    requestedSchema: {
      type: 'object',
      properties: {
        answer: { type: 'string', title: 'Answer', description: 'red, blue, or your own words' },
      },
      required: ['answer'],
    },
  });
  await editor.close();
  const plain = await world.start([say('I cannot ask.')]);
  const other = await plain.agent.request('session/new', { cwd: world.directory, mcpServers: [] });
  expect(await plain.prompt(other.sessionId, 'Ask me')).toBe('end_turn');
  const tools = world.model.requests.at(-1)?.body.tools?.map((tool) => tool.function.name);
  expect(tools).not.toContain('ask_user');
  await plain.close();
});

test('an editor works on the sessions of a server that runs, and leaves it running', async () => {
  const token = 'open-sesame';
  const server = new RuntimeProcess({
    flags: ['serve', '--port', '0'],
    home: `${world.home.path}/server`,
    workingDirectory: world.directory,
    environment: {
      ...world.environment,
      GROUNDCREW_HOME: `${world.home.path}/server`,
      GROUNDCREW_TOKEN: token,
    },
  });
  const args = ['--connect', String(await server.port())];
  const environment = { GROUNDCREW_TOKEN: token };
  const first = await world.start([say('Kept by the server.')], { args, environment });
  const { sessionId } = await first.agent.request('session/new', { cwd: world.directory, mcpServers: [] });
  expect(await first.prompt(sessionId, 'Keep it')).toBe('end_turn');
  await first.close();
  expect(await first.ended).toBe(0);
  const second = await world.start([say('Gone on with.')], { args, environment });
  await second.agent.request('session/load', { sessionId, cwd: world.directory, mcpServers: [] });
  expect(second.story()).toEqual(['user: Keep it', 'agent: Kept by the server.']);
  expect(await second.prompt(sessionId, 'Go on')).toBe('end_turn');
  await second.close();
  const stranger = await world.start([], { args, environment: { GROUNDCREW_TOKEN: 'wrong' } });
  await expect(
    stranger.agent.request('session/new', { cwd: world.directory, mcpServers: [] }),
  ).rejects.toThrow(/AUTHENTICATION|token|authenticat/i);
  await stranger.close();
  await server.stop();
});

test('whatever a model says, and whatever an editor sends, stdout stays one JSON-RPC message a line', async () => {
  const hostile = 'a\u0000b\u001b[2J\u202e\u2028\u2029\r\nnot json {"jsonrpc":"2.0"}\ud800';
  const huge = 'x'.repeat(1_000_000);
  const editor = await world.start([
    callTools({
      id: hostile,
      name: 'bash',
      arguments: { command: `printf '%s' '${'y'.repeat(50_000)}'`, description: hostile },
    }),
    streamChunks(hostile, huge),
  ]);
  const { sessionId } = await editor.agent.request('session/new', { cwd: world.directory, mcpServers: [] });
  expect(await editor.prompt(sessionId, hostile)).toBe('end_turn');
  for (const line of editor.written) expect(JSON.parse(line).jsonrpc).toBe('2.0');
  expect(editor.story().find((text) => text.startsWith('agent:'))?.length).toBeGreaterThan(huge.length);
  await editor.close();

  const child = world.spawn();
  const answers: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => answers.push(line));
  const send = (line: string) => child.stdin.write(`${line}\n`);
  send('this is no JSON');
  send('[]');
  send('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1"}}');
  send('{"jsonrpc":"2.0","id":2,"method":"session/new","params":{}}');
  send('{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"none"}}');
  send(`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":9999}}`);
  send('{"jsonrpc":"2.0","id":4,"method":"no/such","params":{}}');
  const answerTo = () => new Map(answers.map((line) => JSON.parse(line)).map((each) => [each.id, each]));
  while (![1, 2, 3, 4].every((id) => answerTo().has(id))) await once(child.stdout, 'data');
  const byId = answerTo();
  expect(byId.get(1)).toMatchObject({ error: { code: -32_602 } });
  expect(byId.get(2)).toMatchObject({ error: { code: expect.any(Number) } });
  // Of an editor that speaks a later version, it says which one it speaks.
  expect(byId.get(3)).toMatchObject({ result: { protocolVersion: 1 } });
  expect(byId.get(4)).toMatchObject({ error: { code: expect.any(Number) } });
  child.stdin.end();
  expect((await once(child, 'close'))[0]).toBe(0);
});
