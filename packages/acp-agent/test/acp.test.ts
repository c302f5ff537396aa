import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import { answer, callTools, hold, say, streamChunks } from '@groundcrew/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EditorContext, type TestEditor } from './editor.js';

let world: EditorContext;
/** The editor that tests share; each has sessions of its own. */
let editor: TestEditor;
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

beforeAll(async () => {
  world = await EditorContext.open();
  editor = await world.start();
});
afterAll(() => world.close());

async function newSession(on = editor): Promise<string> {
  const { sessionId } = await on.agent.request('session/new', { cwd: world.directory, mcpServers: [] });
  on.shown.length = 0;
  on.asked.length = 0;
  return sessionId;
}

test('an editor learns what the agent can do, and nothing is served before that', async () => {
  expect(
    await editor.agent.request('initialize', { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} }),
  ).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: 'groundcrew' },
    authMethods: [{ id: 'environment' }],
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, additionalDirectories: {} },
    },
  });
  expect(await editor.agent.request('authenticate', { methodId: 'environment' })).toEqual({});
  await expect(editor.agent.request('authenticate', { methodId: 'magic' })).rejects.toThrow(/magic/);
  await expect(editor.agent.request('session/new', { cwd: 'relative', mcpServers: [] })).rejects.toThrow(
    /absolute/,
  );
  await expect(editor.prompt('no-such-session', 'Hello')).rejects.toMatchObject({ code: -32_002 });
});

test('a prompt streams its answer, asks with the diff and the place, and ends its turn', async () => {
  const path = join(world.directory, 'greeting.txt');
  writeFileSync(path, 'one\ntwo\nthree\n');
  world.model.play(
    answer({
      reasoning: ['Hm.'],
      chunks: ['I will '],
      calls: [{ id: 'e1', name: 'edit', arguments: { path: 'greeting.txt', old_str: 'two', new_str: '2' } }],
    }),
    callTools({ id: 'b1', name: 'bash', arguments: { command: 'touch made', description: 'Makes it' } }),
    streamChunks('Done ', 'now.'),
  );
  const sessionId = await newSession();
  editor.choose = async ({ toolCall }) => (toolCall.kind === 'execute' ? 'deny' : 'once');
  expect(await editor.prompt(sessionId, 'Change it')).toBe('end_turn');
  expect(readFileSync(path, 'utf8')).toBe('one\n2\nthree\n');
  expect(existsSync(join(world.directory, 'made'))).toBe(false);
  expect(editor.story()).toEqual([
    'thought: Hm.',
    'agent: I will ',
    'call Edit greeting.txt (edit)',
    'result completed',
    'call touch made (execute)',
    'result failed',
    'agent: Done now.',
  ]);
  const [edit, command] = editor.asked;
  expect(edit).toEqual({
    sessionId,
    toolCall: {
      toolCallId: 'e1',
      status: 'pending',
      kind: 'edit',
      title: expect.stringContaining('greeting.txt'),
      content: [{ type: 'diff', path, oldText: 'one\ntwo\nthree\n', newText: 'one\n2\nthree\n' }],
      locations: [{ path, line: 1 }],
    },
    options: [
      { optionId: 'once', kind: 'allow_once', name: 'Yes, once' },
      { optionId: 'session', kind: 'allow_always', name: 'Yes, in this session (writing files)' },
      { optionId: 'always', kind: 'allow_always', name: 'Yes, always in this project (writing files)' },
      { optionId: 'deny', kind: 'reject_once', name: 'No' },
    ],
  });
  expect(command?.toolCall).toMatchObject({ toolCallId: 'b1', kind: 'execute', title: 'touch made' });
  editor.choose = 'once';
});

test('modes and options are shown, set, and refused when there are none', async () => {
  const made = await editor.agent.request('session/new', { cwd: world.directory, mcpServers: [] });
  const { sessionId } = made;
  expect(made.modes).toMatchObject({
    currentModeId: 'interactive',
    availableModes: [{ id: 'interactive' }, { id: 'plan' }, { id: 'autopilot' }],
  });
  expect(made.configOptions?.map(({ id, category }) => [id, category])).toEqual([
    ['mode', 'mode'],
    ['model', 'model'],
    ['permissions', undefined],
  ]);
  editor.shown.length = 0;
  await editor.agent.request('session/set_mode', { sessionId, modeId: 'plan' });
  await editor.until(() =>
    editor.shown.some(({ sessionUpdate }) => sessionUpdate === 'config_option_update'),
  );
  expect(editor.shown).toContainEqual({ sessionUpdate: 'current_mode_update', currentModeId: 'plan' });
  const { configOptions } = await editor.agent.request('session/set_config_option', {
    sessionId,
    configId: 'permissions',
    value: 'allow-all',
  });
  expect(configOptions.map(({ id, currentValue }) => [id, currentValue])).toEqual([
    ['mode', 'plan'],
    ['model', 'scripted'],
    ['permissions', 'allow-all'],
  ]);
  await expect(editor.agent.request('session/set_mode', { sessionId, modeId: 'wild' })).rejects.toThrow(
    /wild/,
  );
  await expect(
    editor.agent.request('session/set_config_option', { sessionId, configId: 'model', value: 'none' }),
  ).rejects.toThrow(/none/);
  await expect(
    editor.agent.request('session/set_config_option', { sessionId, configId: 'hue', value: 'red' }),
  ).rejects.toThrow(/hue/);
});

test('pictures, links and embedded files reach the model; sound is refused', async () => {
  const sessionId = await newSession();
  const path = join(world.directory, 'linked.txt');
  writeFileSync(path, 'linked words');
  const before = world.model.requests.length;
  world.model.play(say('Seen.'));
  const { stopReason } = await editor.agent.request('session/prompt', {
    sessionId,
    prompt: [
      { type: 'text', text: 'Look at ' },
      { type: 'image', mimeType: 'image/png', data: pixel },
      { type: 'resource_link', uri: `file://${path}`, name: 'linked.txt' },
      { type: 'resource', resource: { uri: 'file:///unsaved.ts', text: 'const unsaved = 1;' } },
    ],
  });
  expect(stopReason).toBe('end_turn');
  const sent = JSON.stringify(world.model.requests[before]?.body.messages);
  expect(sent).toContain(pixel);
  expect(sent).toContain('const unsaved = 1;');
  expect(sent).toContain(path);
  await expect(
    editor.agent.request('session/prompt', {
      sessionId,
      prompt: [{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }],
    }),
  ).rejects.toMatchObject({ code: -32_602 });
  await expect(editor.agent.request('session/prompt', { sessionId, prompt: [] })).rejects.toThrow(/empty/);
});

test('a cancelled prompt ends as cancelled, a failed one as an error, and the session goes on', async () => {
  const sessionId = await newSession();
  const held = hold();
  const before = world.model.requests.length;
  world.model.play(held.reply);
  const first = editor.prompt(sessionId, 'Wait');
  const second = editor.prompt(sessionId, 'Wait behind it');
  await world.model.asked(before + 1);
  await editor.agent.notify('session/cancel', { sessionId });
  expect(await Promise.all([first, second])).toEqual(['cancelled', 'cancelled']);
  held.release();
  world.model.play({ type: 'status', status: 401, body: '{"error":{"message":"no such key"}}', headers: {} });
  await expect(editor.prompt(sessionId, 'Fail')).rejects.toMatchObject({ code: -32_000 });
  world.model.play(say('Here again.'));
  expect(await editor.prompt(sessionId, 'And now?')).toBe('end_turn');
  expect(editor.story().at(-1)).toBe('agent: Here again.');
});

test('whatever is open when a prompt is cancelled ends with it: a question, a terminal that is being made', async () => {
  const bash = (id: string) =>
    callTools({ id, name: 'bash', arguments: { command: 'sleep 1000', description: 'Waits' } });
  let made: (terminal: { terminalId: string }) => void = () => undefined;
  const killed: string[] = [];
  const asked: string[] = [];
  const rich = await world.start([], {
    abilities: { terminal: true },
    handlers: (app) =>
      app
        .onRequest('terminal/create', ({ params }) => {
          asked.push(params.command);
          return new Promise((resolve) => {
            made = resolve;
          });
        })
        .onRequest('terminal/kill', ({ params }) => void killed.push(params.terminalId))
        .onRequest('terminal/wait_for_exit', () => new Promise(() => undefined)),
  });
  const sessionId = await newSession(rich);
  // An editor that never answers a question.
  rich.choose = () => new Promise(() => undefined);
  world.model.play(bash('w1'));
  const first = rich.prompt(sessionId, 'Ask me');
  await rich.until(() => rich.asked.length === 1);
  await rich.agent.notify('session/cancel', { sessionId });
  expect(await first).toBe('cancelled');
  rich.choose = 'once';
  world.model.play(bash('w2'));
  const second = rich.prompt(sessionId, 'Ask me again');
  await rich.until(() => rich.shown.some((each) => JSON.stringify(each).includes('w2')));
  while (asked.length === 0) await nextTurn();
  await rich.agent.notify('session/cancel', { sessionId });
  expect(await second).toBe('cancelled');
  made({ terminalId: 'late' });
  while (killed.length === 0) await nextTurn();
  expect(killed).toEqual(['late']);
  // What is wrong with a request closes nothing; what is asked of what is not open is refused.
  const load = (cwd: string) => rich.agent.request('session/load', { sessionId, cwd, mcpServers: [] });
  await expect(load('/no/such/place')).rejects.toThrow(/no directory/);
  world.model.play(say('Still open.'));
  expect(await rich.prompt(sessionId, 'Still there?')).toBe('end_turn');
  await rich.agent.request('session/close', { sessionId });
  await expect(rich.agent.request('session/set_mode', { sessionId, modeId: 'plan' })).rejects.toMatchObject({
    code: -32_002,
  });
  // Asked for twice at once, it is open once.
  await Promise.all([load(world.directory), load(world.directory)]);
  rich.shown.length = 0;
  world.model.play(say('Open again.'));
  expect(await rich.prompt(sessionId, 'And now?')).toBe('end_turn');
  expect(rich.story()).toEqual(['agent: Open again.']);
  await rich.close();
});

test('todos are shown as a plan, and a plan is approved by a choice', async () => {
  const sessionId = await newSession();
  const query = "INSERT INTO todos (id, title, status) VALUES ('a', 'Dig', 'done'), ('b', 'Fill', 'pending')";
  world.model.play(
    callTools({ id: 's1', name: 'sql', arguments: { description: 'Notes todos', query } }),
    say('Noted.'),
  );
  expect(await editor.prompt(sessionId, 'Note it')).toBe('end_turn');
  await editor.until(() => editor.shown.some(({ sessionUpdate }) => sessionUpdate === 'plan'));
  expect(editor.story()).toContain('plan Dig completed, Fill pending');
  await editor.agent.request('session/set_mode', { sessionId, modeId: 'plan' });
  world.model.play(
    callTools({ id: 'p1', name: 'exit_plan_mode', arguments: { summary: 'Dig it', plan: '1. Dig' } }),
    say('Digging.'),
  );
  editor.choose = 'interactive';
  expect(await editor.prompt(sessionId, 'Plan it')).toBe('end_turn');
  expect(editor.asked.at(-1)?.toolCall).toMatchObject({ kind: 'switch_mode', title: 'Dig it' });
  expect(editor.shown).toContainEqual({ sessionUpdate: 'current_mode_update', currentModeId: 'interactive' });
  editor.choose = 'once';
});

test('killed in the middle of a question, the next editor is shown all of it and answers it', async () => {
  const first = await world.start([
    say('First answer.'),
    callTools({
      id: 'k1',
      name: 'bash',
      arguments: { command: 'echo kept > kept.txt', description: 'Keeps' },
    }),
  ]);
  const sessionId = await newSession(first);
  first.choose = () => new Promise(() => undefined);
  expect(await first.prompt(sessionId, 'One')).toBe('end_turn');
  void first.prompt(sessionId, 'Two').catch(() => undefined);
  await first.until(() => first.asked.length === 1);
  first.child.kill('SIGKILL');
  await first.ended;
  const second = await world.start([say('Kept it.')]);
  const { sessions } = await second.agent.request('session/list', { cwd: world.directory });
  expect(sessions.find((each) => each.sessionId === sessionId)).toMatchObject({ cwd: world.directory });
  const loaded = await second.agent.request('session/load', {
    sessionId,
    cwd: world.directory,
    mcpServers: [],
  });
  expect(loaded.modes?.currentModeId).toBe('interactive');
  expect(second.story()).toEqual([
    'user: One',
    'agent: First answer.',
    'user: Two',
    'call echo kept > kept.txt (execute)',
  ]);
  await second.until(() => second.story().includes('agent: Kept it.'));
  expect(second.asked).toMatchObject([{ sessionId, toolCall: { toolCallId: 'k1' } }]);
  expect(readFileSync(join(world.directory, 'kept.txt'), 'utf8')).toBe('kept\n');

  // Resumed, it is silent; closed and deleted, it is gone.
  await second.agent.request('session/close', { sessionId });
  await expect(second.prompt(sessionId, 'Anyone?')).rejects.toMatchObject({ code: -32_002 });
  second.shown.length = 0;
  await second.agent.request('session/resume', { sessionId, cwd: world.directory });
  expect(second.story()).toEqual([]);
  world.model.play(say('Third answer.'));
  expect(await second.prompt(sessionId, 'Three')).toBe('end_turn');
  expect(second.story()).toEqual(['agent: Third answer.']);
  await second.agent.request('session/delete', { sessionId });
  await second.agent.request('session/delete', { sessionId });
  await expect(
    second.agent.request('session/load', { sessionId, cwd: world.directory, mcpServers: [] }),
  ).rejects.toMatchObject({ code: -32_002 });
  for (const line of [...second.written, ...editor.written]) expect(JSON.parse(line).jsonrpc).toBe('2.0');
  await second.close();
  expect(await second.ended).toBe(0);
});

test('a runtime that is killed under the agent comes back, and the turn goes on', async () => {
  const sessionId = await newSession();
  const children = `/proc/${editor.child.pid}/task/${editor.child.pid}/children`;
  if (!existsSync(children)) return;
  const held = hold();
  const before = world.model.requests.length;
  world.model.play(held.reply);
  const turn = editor.prompt(sessionId, 'Survive');
  await world.model.asked(before + 1);
  world.model.play(say('Survived.'));
  process.kill(Number(readFileSync(children, 'utf8').trim().split(' ')[0]), 'SIGKILL');
  expect(await turn).toBe('end_turn');
  held.release();
  expect(editor.story()).toEqual(['agent: Survived.']);
});

test('the files and terminals of an editor are used, unsaved text too, and rules hold as ever', async () => {
  const path = join(world.directory, 'buffer.txt');
  writeFileSync(path, 'on disk\n');
  const buffers = new Map([[path, 'unsaved one\nunsaved two\n']]);
  const ran: unknown[] = [];
  const rich = await world.start(
    [
      callTools({ id: 'f1', name: 'view', arguments: { path: 'buffer.txt' } }),
      callTools({ id: 'f2', name: 'edit', arguments: { path: 'buffer.txt', old_str: 'two', new_str: '2' } }),
      callTools({ id: 'f3', name: 'create', arguments: { path: 'fresh.txt', file_text: 'fresh' } }),
      callTools({ id: 't1', name: 'bash', arguments: { command: 'make it', description: 'Makes it' } }),
      say('All done.'),
    ],
    {
      abilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
      handlers: (app) =>
        app
          .onRequest('fs/read_text_file', ({ params }) => ({ content: buffers.get(params.path) ?? '' }))
          .onRequest('fs/write_text_file', ({ params }) => void buffers.set(params.path, params.content))
          .onRequest('terminal/create', ({ params }) => {
            ran.push({ command: params.command, args: params.args, cwd: params.cwd });
            return { terminalId: 'term-1' };
          })
          .onRequest('terminal/wait_for_exit', () => ({ exitCode: 3 }))
          .onRequest('terminal/output', () => ({ output: 'made\n', truncated: false }))
          .onRequest('terminal/release', () => ({})),
    },
  );
  const sessionId = await newSession(rich);
  const before = world.model.requests.length;
  expect(await rich.prompt(sessionId, 'Use them')).toBe('end_turn');
  expect([...buffers]).toEqual([
    [path, 'unsaved one\nunsaved 2\n'],
    [join(world.directory, 'fresh.txt'), 'fresh'],
  ]);
  expect(readFileSync(path, 'utf8')).toBe('on disk\n');
  expect(existsSync(join(world.directory, 'fresh.txt'))).toBe(false);
  expect(ran).toEqual([{ command: 'bash', args: ['-c', 'make it'], cwd: world.directory }]);
  expect(rich.asked.map(({ toolCall }) => [toolCall.toolCallId, toolCall.kind])).toEqual([
    ['f1', 'read'],
    ['f2', 'edit'],
    ['f3', 'edit'],
    ['t1', 'execute'],
  ]);
  const results = world.model.requests.at(-1)?.body.messages.filter(({ role }) => role === 'tool');
  expect(results?.map(({ content }) => content)).toEqual([
    '1. unsaved one\n2. unsaved two',
    `File ${path} updated with changes.`,
    expect.stringContaining('Created file'),
    'made\n<exited with exit code 3>',
  ]);
  expect(world.model.requests.length).toBe(before + 5);
  expect(rich.shown).toContainEqual(
    expect.objectContaining({
      toolCallId: 't1',
      status: 'completed',
      content: [{ type: 'terminal', terminalId: 'term-1' }],
    }),
  );
  await rich.close();
});
