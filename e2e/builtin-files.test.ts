import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  type CompletionMessage,
  callTools,
  liveRuntime,
  providerOf,
  type ScriptedCall,
  say,
  story,
} from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();

/** A directory of its own for each test. */
function workIn(name: string): string {
  const directory = join(runtime.workingDirectory, name);
  mkdirSync(directory);
  return directory;
}

/** A session whose model makes these calls in one message and then ends. */
async function sessionWith(directory: string, ...calls: readonly ScriptedCall[]) {
  const { session, model } = await runtime.session([callTools(...calls), say('done')], {
    workingDirectory: directory,
  });
  await session.send('Go');
  return { session, model };
}

const toolTexts = (messages: readonly CompletionMessage[] = []) =>
  messages.filter(({ role }) => role === 'tool').map(({ content }) => content);

test('a file is created, reported, and read back by numbered lines', async () => {
  const directory = workIn('create');
  const path = join(directory, 'new.txt');
  const { session, model } = await runtime.session(
    [
      callTools({ id: 'c1', name: 'create', arguments: { path, file_text: 'one\ntwo' } }),
      callTools({ id: 'c2', name: 'view', arguments: { path: 'new.txt' } }),
      say('done'),
    ],
    { workingDirectory: directory },
  );
  await session.send('Go');
  const write = await session.next('permission.requested');
  expect(write.data.promptRequest).toEqual(write.data.permissionRequest);
  await session.decide(write.data.requestId, { kind: 'approve-once' });
  const read = await session.next('permission.requested');
  expect(read.data.permissionRequest).toEqual({
    kind: 'read',
    intention: `Read file: ${path}`,
    path,
    toolCallId: 'c2',
  });
  await session.decide(read.data.requestId, { kind: 'approve-once' });
  await session.next('session.idle');
  expect(story(session.events).slice(3, 10)).toEqual([
    'assistant.message "" create#c1',
    'tool.execution_start create#c1',
    'permission.requested write',
    'permission.completed approved',
    `session.info~ file_created ${JSON.stringify(path)}`,
    `tool.execution_complete c1 ok ${JSON.stringify(`Created file ${path} with 7 characters`)}`,
    'assistant.turn_end 0',
  ]);
  expect(toolTexts(model.requests[2]?.body.messages)).toEqual([
    `Created file ${path} with 7 characters`,
    '1. one\n2. two',
  ]);
  const said = session.events.find(({ type }) => type === 'assistant.message');
  expect(said?.data).toMatchObject({
    toolRequests: [{ name: 'create', intentionSummary: `create a new file at ${path}.` }],
  });
});

test('a call that fails before it could do anything asks no question', async () => {
  const directory = workIn('preconditions');
  writeFileSync(join(directory, 'f.txt'), 'text');
  const { session, model } = await sessionWith(
    directory,
    { id: 'c1', name: 'create', arguments: { path: 'f.txt', file_text: '' } },
    { id: 'c2', name: 'edit', arguments: { path: 'f.txt', old_str: 'nothing', new_str: '' } },
    { id: 'c3', name: 'view', arguments: {} },
    { id: 'c4', name: 'view', arguments: { path: 'gone' } },
  );
  await session.next('session.idle');
  expect(story(session.events).filter((line) => line.startsWith('permission'))).toEqual([]);
  const completed = session.events.filter(({ type }) => type === 'tool.execution_complete');
  expect(completed.map(({ data }) => (data as { error: unknown }).error)).toEqual(
    expect.arrayContaining([
      { message: 'Path already exists', code: 'failure' },
      { message: 'No match found', code: 'failure' },
      { message: '"path": Required', code: 'failure' },
      { message: 'Path does not exist', code: 'failure' },
    ]),
  );
  expect(toolTexts(model.requests[1]?.body.messages)).toContain('Invalid input: "path": Required');
});

test('a file outside the working directory is asked for twice: for the place, and for the reading', async () => {
  const directory = workIn('inside');
  const path = join(runtime.workingDirectory, 'elsewhere.txt');
  writeFileSync(path, 'elsewhere');
  const { session, model } = await sessionWith(directory, { id: 'c1', name: 'view', arguments: { path } });
  const request = { kind: 'read', intention: `Read file: ${path}`, path, toolCallId: 'c1' };
  const place = await session.next('permission.requested');
  expect(place.data).toMatchObject({
    permissionRequest: request,
    promptRequest: { kind: 'path', accessKind: 'read', paths: [path], toolCallId: 'c1' },
  });
  await session.decide(place.data.requestId, { kind: 'approve-once' });
  const read = await session.next('permission.requested');
  expect(read.data).toMatchObject({ permissionRequest: request, promptRequest: request });
  await session.decide(read.data.requestId, { kind: 'approve-once' });
  await session.next('session.idle');
  expect(toolTexts(model.requests[1]?.body.messages)).toEqual(['1. elsewhere']);
});

test('without anybody to ask, not even a file of the working directory is read', async () => {
  const directory = workIn('nobody');
  writeFileSync(join(directory, 'f.txt'), 'text');
  const { session, model } = await runtime.session(
    [callTools({ id: 'c1', name: 'view', arguments: { path: 'f.txt' } }), say('done')],
    { requestPermission: false, workingDirectory: directory },
  );
  await session.turn('Go');
  expect(toolTexts(model.requests[1]?.body.messages)).toEqual([
    'Permission denied and could not request permission from user',
  ]);
});

test('two edits of one file in one message are both made', async () => {
  const directory = workIn('edits');
  const path = join(directory, 'f.txt');
  writeFileSync(path, 'one\ntwo\n');
  const { session } = await sessionWith(
    directory,
    { id: 'c1', name: 'edit', arguments: { path, old_str: 'one', new_str: '1' } },
    { id: 'c2', name: 'edit', arguments: { path, old_str: 'two', new_str: '2' } },
  );
  const first = await session.next('permission.requested');
  const second = await session.next('permission.requested');
  await Promise.all(
    [first, second].map(({ data }) => session.decide(data.requestId, { kind: 'approve-once' })),
  );
  await session.next('session.idle');
  expect(readFileSync(path, 'utf8')).toBe('1\n2\n');
});

test('a picture reaches the model as a picture', async () => {
  const directory = workIn('picture');
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const path = join(directory, 'p.png');
  writeFileSync(path, Buffer.from(pixel, 'base64'));
  const { session, model } = await sessionWith(directory, { id: 'c1', name: 'view', arguments: { path } });
  const { data } = await session.next('permission.requested');
  await session.decide(data.requestId, { kind: 'approve-once' });
  await session.next('session.idle');
  expect(model.requests[1]?.body.messages.slice(-2)).toMatchObject([
    { role: 'tool', content: 'Viewed image file successfully.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: `Image file at path ${path}` },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } },
      ],
    },
  ]);
});

test('files are searched by content and by name', async () => {
  const directory = workIn('search');
  mkdirSync(join(directory, 'src'));
  writeFileSync(join(directory, 'src', 'index.ts'), 'export const wren = 1;\n');
  const { session, model } = await sessionWith(
    directory,
    { id: 'c1', name: 'grep', arguments: { pattern: 'wren', output_mode: 'content', '-n': true } },
    { id: 'c2', name: 'glob', arguments: { pattern: '**/*.ts' } },
  );
  const first = await session.next('permission.requested');
  const second = await session.next('permission.requested');
  const intentions = [first, second].map(({ data }) => data.permissionRequest as { intention?: string });
  expect(intentions.map(({ intention }) => intention).sort()).toEqual([
    `Search for files matching pattern in: ${directory}`,
    `Search in directory: ${directory}`,
  ]);
  await session.decide(first.data.requestId, { kind: 'approve-once' });
  await session.decide(second.data.requestId, { kind: 'approve-once' });
  await session.next('session.idle');
  expect(toolTexts(model.requests[1]?.body.messages)).toEqual([
    './src/index.ts:1:export const wren = 1;',
    './src/index.ts',
  ]);
});

test('todos are kept with the session, and clients hear of each change', async () => {
  const directory = workIn('todos');
  const { session, model } = await sessionWith(directory, {
    id: 'c1',
    name: 'sql',
    arguments: {
      description: 'Two todos',
      query:
        "INSERT INTO todos (id, title) VALUES ('a', 'A'); INSERT INTO todos (id, title) VALUES ('b', 'B');",
    },
  });
  await session.next('session.idle');
  expect(story(session.events).filter((line) => /todos|permission/.test(line))).toEqual([
    'session.todos_changed~',
    'session.todos_changed~',
  ]);
  expect(toolTexts(model.requests[1]?.body.messages)).toEqual([
    'Executed 2 statement(s):\n\n1. INSERT\n   1 row(s) inserted. Last inserted row ID: 1.\n\n2. INSERT\n   1 row(s) inserted. Last inserted row ID: 2.',
  ]);
});

test('only clients of old have report_intent', async () => {
  const call = callTools({ id: 'c1', name: 'report_intent', arguments: { intent: 'Looking' } });
  const old = await runtime.session([call, say('done')], { toolFilterPrecedence: null });
  await old.session.turn('Go');
  expect(toolTexts(old.model.requests[1]?.body.messages)).toEqual(['Intent logged']);
  const newer = await runtime.session([call, say('done')]);
  await newer.session.turn('Go');
  expect(toolTexts(newer.model.requests[1]?.body.messages)?.[0]).toMatch(
    /^Tool 'report_intent' does not exist\./,
  );
});

test('private addresses are not fetched, and the result does not say what is there', async () => {
  const directory = workIn('fetch');
  const url = `${runtime.api.script().baseUrl}/models`;
  const { session, model } = await sessionWith(directory, {
    id: 'c1',
    name: 'web_fetch',
    arguments: { url },
  });
  const { data } = await session.next('permission.requested');
  expect(data.permissionRequest).toEqual({
    kind: 'url',
    intention: 'Fetch content from this URL.',
    url,
    toolCallId: 'c1',
  });
  await session.decide(data.requestId, { kind: 'approve-once' });
  await session.next('session.idle');
  expect(toolTexts(model.requests[1]?.body.messages)).toEqual([
    `Failed to fetch ${url}: WebFetchBlockedUrlError: web_fetch URL "${url}" resolves to blocked address 127.0.0.1. URLs must not target loopback, private, or link-local addresses.`,
  ]);
});

test('a host that the operator allowed is fetched, and its page becomes markdown', async () => {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<h1>Wrens</h1><p>They are <em>small</em>.</p>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const environment = { GROUNDCREW_FETCH_HOSTS: 'example.invalid, 127.0.0.1' };
  const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'], environment }));
  const model = runtime.script(callTools({ id: 'c1', name: 'web_fetch', arguments: { url } }), say('done'));
  const session = await client.create(providerOf(model));
  await session.send('Go');
  const { data } = await session.next('permission.requested');
  await session.decide(data.requestId, { kind: 'approve-once' });
  await session.next('session.idle');
  server.close();
  expect(toolTexts(model.requests[1]?.body.messages)).toEqual([
    `Contents of ${url}:\n# Wrens\n\nThey are _small_.`,
  ]);
});
