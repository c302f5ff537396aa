import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { callTools, liveRuntime, type ScriptedReply, say } from '@groundcrew/testkit';
import { afterAll, expect, test } from 'vitest';
import { closedPort } from './mcp-world.js';

const runtime = liveRuntime();
const { resolve } = createRequire(import.meta.url);
const everything = resolve('@modelcontextprotocol/server-everything/dist/index.js');
const filesystem = resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
const memory = resolve('@modelcontextprotocol/server-memory/dist/index.js');
const node = process.execPath;
const children: ChildProcess[] = [];

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** What the model read of each call, in order. */
async function results(mcpServers: object, ...replies: readonly ScriptedReply[]) {
  const { session, model } = await runtime.session([...replies, say('done')], { mcpServers });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.turn('Go');
  const { messages } = (await model.asked(replies.length + 1)).body;
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
}

/** The server of everything, on a port of its own. */
async function startEverything(transport: 'streamableHttp' | 'sse'): Promise<number> {
  const port = await closedPort();
  const child = spawn(node, [everything, transport], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  children.push(child);
  await new Promise<void>((listening) => {
    child.stderr?.on('data', (text: Buffer) => {
      if (/listening on port|running on port/.test(String(text))) listening();
    });
  });
  return port;
}

const echoAndSum = [
  callTools({ id: 'c1', name: 'all-echo', arguments: { message: 'hello' } }),
  callTools({ id: 'c2', name: 'all-get-sum', arguments: { a: 2, b: 40 } }),
];

test('the server of everything answers over stdio', async () => {
  const servers = { all: { command: node, args: [everything] } };
  expect(await results(servers, ...echoAndSum)).toEqual(['Echo: hello', 'The sum of 2 and 40 is 42.']);
});

test.each([
  ['http', 'streamableHttp', 'mcp'],
  ['sse', 'sse', 'sse'],
] as const)('the server of everything answers over %s', async (type, transport, path) => {
  const port = await startEverything(transport);
  const servers = { all: { type, url: `http://127.0.0.1:${port}/${path}` } };
  expect(await results(servers, ...echoAndSum)).toEqual(['Echo: hello', 'The sum of 2 and 40 is 42.']);
});

test('the server of files reads where the session works', async () => {
  const path = join(runtime.workingDirectory, 'note.txt');
  writeFileSync(path, 'a note');
  const servers = { files: { command: node, args: [filesystem, runtime.workingDirectory] } };
  const [text] = await results(
    servers,
    callTools({ id: 'c1', name: 'files-read_text_file', arguments: { path } }),
  );
  expect(text).toContain('a note');
});

test('the server of memories remembers', async () => {
  const env = { MEMORY_FILE_PATH: join(runtime.workingDirectory, 'memory.jsonl') };
  const servers = { memory: { command: node, args: [memory], env } };
  const entity = { name: 'Ada', entityType: 'person', observations: ['writes programs'] };
  const [, found] = await results(
    servers,
    callTools({ id: 'c1', name: 'memory-create_entities', arguments: { entities: [entity] } }),
    callTools({ id: 'c2', name: 'memory-search_nodes', arguments: { query: 'Ada' } }),
  );
  expect(found).toContain('writes programs');
});
