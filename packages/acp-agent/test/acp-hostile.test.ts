import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientApp } from '@agentclientprotocol/sdk';
import { callTools, say } from '@groundcrew/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EditorContext, type TestEditor } from './editor.js';

let world: EditorContext;

// Each test has a script of its own: what a turn did not come to is not played in the next one.
beforeEach(async () => {
  world = await EditorContext.open();
});
afterEach(() => world.close());

const never = () => new Promise<never>(() => undefined);

async function newSession(editor: TestEditor): Promise<string> {
  const { sessionId } = await editor.agent.request('session/new', { cwd: world.directory, mcpServers: [] });
  return sessionId;
}

/** The results that the model has read last. */
function results(): readonly string[] {
  const messages = world.model.requests.at(-1)?.body.messages ?? [];
  return messages.flatMap(({ role, content }) => (role === 'tool' ? [JSON.stringify(content)] : []));
}

const edit = (id: string, from: string, to: string) =>
  callTools({ id, name: 'edit', arguments: { path: 'note.txt', old_str: from, new_str: to } });
const bash = (id: string) =>
  callTools({ id, name: 'bash', arguments: { command: 'touch made-by-it', description: 'x' } });

test('an editor that never answers is waited for no longer than the turn, and the next turn works', {
  timeout: 60_000,
}, async () => {
  const path = join(world.directory, 'note.txt');
  writeFileSync(path, 'one\n');
  let isSilent = true;
  const waiting: string[] = [];
  const silent = async (what: string) => {
    waiting.push(what);
    if (isSilent) await never();
  };
  const handlers = (app: ClientApp) => {
    app
      .onRequest('fs/read_text_file', async ({ params }) => {
        await silent('read');
        return { content: readFileSync(params.path, 'utf8') };
      })
      .onRequest('fs/write_text_file', async ({ params }) => {
        await silent('write');
        writeFileSync(params.path, params.content);
        return {};
      })
      .onRequest('terminal/create', async () => {
        await silent('create');
        return { terminalId: 't1' };
      })
      .onRequest('terminal/wait_for_exit', async () => {
        await silent('wait');
        return { exitCode: 0 };
      })
      .onRequest('terminal/output', async () => ({ output: 'from the editor\n', truncated: false }))
      .onRequest('terminal/kill', never)
      .onRequest('terminal/release', never);
  };
  const abilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
  const editor = await world.start([], { abilities, handlers });
  const sessionId = await newSession(editor);
  const cancelled = async (call: ReturnType<typeof callTools>, what: string) => {
    world.model.play(call);
    const turn = editor.prompt(sessionId, 'Do it');
    while (!waiting.includes(what)) await new Promise((resolve) => setImmediate(resolve));
    await editor.agent.notify('session/cancel', { sessionId });
    expect([what, await turn]).toEqual([what, 'cancelled']);
    waiting.length = 0;
  };
  await cancelled(edit('e1', 'one', 'two'), 'read');
  await cancelled(bash('b1'), 'create');
  isSilent = false;
  world.model.play(edit('e2', 'one', 'two'), say('Changed.'));
  expect(await editor.prompt(sessionId, 'Now do it')).toBe('end_turn');
  expect(readFileSync(path, 'utf8')).toBe('two\n');
  world.model.play(bash('b2'), say('Ran.'));
  expect(await editor.prompt(sessionId, 'Run it')).toBe('end_turn');
  expect(results().at(-1)).toContain('from the editor');
  await editor.close();
  expect(await editor.ended).toBe(0);
});

test('what an editor says that is no answer is a failed call, and a question it cannot ask is a no', {
  timeout: 60_000,
}, async () => {
  const path = join(world.directory, 'note.txt');
  writeFileSync(path, 'one\n');
  const lies: unknown[] = [{}, null, { content: 7 }, { content: ['one'] }];
  const answers: unknown[] = [];
  const handlers = (app: ClientApp) => {
    app
      .onRequest('fs/read_text_file', async () => lies[0] as never)
      .onRequest('fs/write_text_file', async () => null as never)
      .onRequest('terminal/create', async () => ({}) as never)
      .onRequest('terminal/wait_for_exit', async () => null as never)
      .onRequest('terminal/output', async () => null as never);
  };
  const abilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
  const editor = await world.start([], { abilities, handlers });
  const sessionId = await newSession(editor);
  for (const _ of [...lies]) {
    world.model.play(edit(`l${lies.length}`, 'one', 'two'), bash(`m${lies.length}`), say('Tried.'));
    expect(await editor.prompt(sessionId, 'Try')).toBe('end_turn');
    answers.push(results().slice(-2));
    lies.shift();
  }
  for (const line of editor.written) expect(JSON.parse(line).jsonrpc).toBe('2.0');
  expect(JSON.stringify(answers)).not.toMatch(/TypeError|undefined|not a function|Cannot read/);
  expect(editor.errors).not.toMatch(/\n {4}at /);
  await editor.close();
});

test('an editor that cannot ask, or answers a question with nonsense, has denied it', {
  timeout: 60_000,
}, async () => {
  let answer: () => unknown = () => ({});
  const editor = await world.start([]);
  const sessionId = await newSession(editor);
  const replies: readonly (() => unknown)[] = [
    () => {
      throw new Error('no dialogue here');
    },
    () => 'no such option',
    () => undefined,
    () => 7,
  ];
  for (const [at, reply] of replies.entries()) {
    answer = reply;
    editor.choose = async () => answer() as string;
    world.model.play(
      callTools({ id: `p${at}`, name: 'bash', arguments: { command: `touch made-${at}`, description: 'x' } }),
      say('Denied.'),
    );
    expect([at, await editor.prompt(sessionId, 'Make it')]).toEqual([at, 'end_turn']);
    expect(existsSync(join(world.directory, `made-${at}`))).toBe(false);
  }
  await editor.close();
});

test('requests of any shape and order are each answered, and stdout has nothing but the protocol', {
  timeout: 120_000,
}, async () => {
  const child = world.spawn();
  let written = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ids: (number | string)[] = [];
  const ask = (method: string, params: unknown, id: number | string = ids.length + 1) => {
    ids.push(id);
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) })}\n`,
    );
    return id;
  };
  const answers = () =>
    new Map(
      written
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line))
        .filter(({ method }) => method === undefined)
        .map((each) => [each.id, each]),
    );
  const answerTo = async (id: number | string) => {
    while (!answers().has(id)) await new Promise((resolve) => setTimeout(resolve, 5));
    return answers().get(id);
  };
  ask('session/cancel', {});
  ask('session/prompt', { sessionId: 'none', prompt: [] });
  await answerTo(ask('initialize', { protocolVersion: 1, clientCapabilities: {} }));
  const made = await answerTo(ask('session/new', { cwd: world.directory, mcpServers: [] }));
  const { sessionId } = made.result;
  const odd: readonly unknown[] = [
    undefined,
    null,
    7,
    'x',
    [],
    {},
    { sessionId },
    { sessionId: 7 },
    { sessionId: '../../etc' },
    { sessionId: 'x'.repeat(100_000) },
    { sessionId, cwd: world.directory, mcpServers: 'none' },
    { sessionId, cwd: '\u0000', mcpServers: [] },
    { sessionId, modeId: 'none' },
    { sessionId, modeId: {} },
    { sessionId, configId: 'model', value: { a: 1 } },
    { sessionId, configId: '__proto__', value: 'x' },
    { methodId: 'environment' },
    { cursor: 'none' },
    { cwd: '/no/such/place', mcpServers: [] },
    { __proto__: null, sessionId: '__proto__' },
  ];
  const methods = [
    'initialize',
    'authenticate',
    'session/list',
    'session/set_mode',
    'session/set_config_option',
    'session/load',
    'session/resume',
    'session/prompt',
    'session/fork',
    'logout',
    '',
    '__proto__',
    'constructor',
    '$/cancel_request',
  ];
  for (const method of methods) for (const params of odd) ask(method, params);
  for (const block of [
    { type: 'resource_link', uri: `file:///${'long'.repeat(2_000)}`, name: 'long' },
    { type: 'resource_link', uri: 'file:///a%00b', name: 'nul' },
    { type: 'resource_link', uri: 'file://elsewhere/x', name: 'elsewhere' },
    { type: 'image', data: 'not base64 %%%', mimeType: 'image/png' },
    { type: 'image', data: '', mimeType: '' },
    { type: 'audio', data: '', mimeType: 'audio/wav' },
    { type: 'resource', resource: { uri: '', text: 'x' } },
    { type: 'resource', resource: { uri: 'x', blob: 'AAAA' } },
    { type: 'nothing' },
  ]) {
    world.model.play(say('Read.'));
    const before = world.model.requests.length;
    const { result, error } = await answerTo(
      ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Read this ' }, block] }),
    );
    expect([
      block.type,
      block.uri?.slice(0, 12),
      result?.stopReason ?? (error.code === -32_602 ? 'refused' : error),
    ]).toEqual([block.type, block.uri?.slice(0, 12), expect.stringMatching(/end_turn|refused/)]);
    // What was refused has asked no model.
    if (result === undefined) {
      expect(world.model.requests.length).toBe(before);
      await answerTo(ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Go on' }] }));
    }
  }
  // Two at once on one session, and the same id twice.
  world.model.play(say('One.'), say('Two.'));
  const both = [
    ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'One' }] }, 'p1'),
    ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Two' }] }, 'p2'),
  ];
  for (const id of both) expect((await answerTo(id)).result).toEqual({ stopReason: 'end_turn' });
  for (const id of ids) await answerTo(id);
  for (const [, each] of answers()) expect('result' in each !== 'error' in each).toBe(true);
  for (const [, { error }] of answers())
    expect(error?.message ?? '').not.toMatch(/TypeError|Cannot read|is not a function|\n {4}at /);
  expect(errors).not.toMatch(/\n {4}at /);
  child.stdin.end();
  await new Promise((resolve) => child.once('close', resolve));
  expect(child.exitCode).toBe(0);
});

test('a message that is too long to be read ends the program with the reason, and not in silence', {
  timeout: 60_000,
}, async () => {
  const child = world.spawn();
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  child.stdout.resume();
  child.stdin.on('error', () => undefined);
  const data = 'A'.repeat(40 * 1024 * 1024);
  child.stdin.write(
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session/prompt', params: { sessionId: 'x', prompt: [{ type: 'image', mimeType: 'image/png', data }] } })}\n`,
  );
  await new Promise((resolve) => child.once('close', resolve));
  expect([child.exitCode, errors]).toEqual([1, expect.stringMatching(/limit|too long|MiB/)]);
});

test('an editor that leaves in the middle of a question or of a command leaves nothing behind', {
  timeout: 60_000,
}, async () => {
  const editor = await world.start([bash('g1'), bash('g2')]);
  editor.choose = never;
  const sessions = [await newSession(editor), await newSession(editor)];
  const turns = sessions.map((sessionId) => editor.prompt(sessionId, 'Run').catch(() => 'gone'));
  await editor.until(() => editor.asked.length === 2);
  editor.child.stdin.end();
  expect(await editor.ended).toBe(0);
  expect(await Promise.all(turns)).toEqual(['gone', 'gone']);
  expect(editor.errors).not.toMatch(/\n {4}at |could not/);
});

test('an editor that leaves in the middle of a turn has stopped nothing: the next one goes on with it, and with prompts that wait', async () => {
  const first = await world.start([bash('g1')]);
  first.choose = never;
  const sessionId = await newSession(first);
  const turns = ['One', 'Two'].map((text) => first.prompt(sessionId, text).catch(() => 'gone'));
  await first.until(() => first.asked.length === 1);
  first.child.stdin.end();
  expect(await first.ended).toBe(0);
  expect(await Promise.all(turns)).toEqual(['gone', 'gone']);
  expect(first.errors).not.toMatch(/\n {4}at |could not/);

  const second = await world.start([say('Made it.'), say('The second answer.')]);
  await second.agent.request('session/load', { sessionId, cwd: world.directory, mcpServers: [] });
  await second.until(() => second.story().some((line) => line.includes('The second answer.')));
  expect(second.asked).toMatchObject([{ sessionId, toolCall: { toolCallId: 'g1' } }]);
  expect(existsSync(join(world.directory, 'made-by-it'))).toBe(true);
  expect(second.story()).toEqual([
    'user: One',
    'call touch made-by-it (execute)',
    'result completed',
    'agent: Made it.',
    'user: Two',
    'agent: The second answer.',
  ]);
});
