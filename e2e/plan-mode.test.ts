import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  callTools,
  liveRuntime,
  providerOf,
  type ScriptedReply,
  say,
  type WireSession,
} from '@groundcrew/testkit';
import { beforeEach, describe, expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--port', '0'] });
const held = 'Plan mode allows no changes but to the plan.';
const file = () => join(runtime.workingDirectory, 'file.txt');
const target = () => join(runtime.workingDirectory, 'made.txt');

beforeEach(() => {
  rmSync(runtime.workingDirectory, { recursive: true, force: true });
  mkdirSync(runtime.workingDirectory, { recursive: true });
  writeFileSync(file(), 'before\n');
});

const call = (name: string, args: object, id = 'c1') => callTools({ id, name, arguments: args });

/** A session in plan mode in which everything is approved. */
async function planning(replies: readonly ScriptedReply[], params: Readonly<Record<string, unknown>> = {}) {
  const { session, model } = await runtime.session([...replies, say('done')], params);
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.call('session.mode.set', { mode: 'plan' });
  const { path } = await session.call<{ path: string }>('session.plan.read');
  return { session, model, planPath: path };
}

/** How the calls of a turn ended. */
async function ends(session: WireSession, prompt = 'Go', more: object = {}) {
  const events = await session.turn(prompt, more);
  return events.flatMap(({ type, data }) => {
    if (type !== 'tool.execution_complete') return [];
    const { success, error } = data as { success: boolean; error?: { message: string } };
    return [success ? 'ran' : error?.message];
  });
}

describe('plan mode', () => {
  test.each([
    ['a new file', 'create', () => ({ path: target(), file_text: 'x' })],
    ['an edit', 'edit', () => ({ path: file(), old_str: 'before', new_str: 'after' })],
    ['a command', 'bash', () => ({ command: `echo x > ${target()}`, description: 'writes' })],
    [
      'a command behind one that reads',
      'bash',
      () => ({ command: `ls && touch ${target()}`, description: 'x' }),
    ],
    [
      'a command that hides what it runs',
      'bash',
      () => ({ command: `eval "$(echo touch) ${target()}"`, description: 'x' }),
    ],
    [
      'a reader with a writing option',
      'bash',
      () => ({ command: `sed -i s/before/after/ ${file()}`, description: 'x' }),
    ],
    [
      'a reader whose output is a file',
      'bash',
      () => ({ command: `sort -o ${target()} ${file()}`, description: 'x' }),
    ],
    ['a client’s tool', 'write_it', () => ({})],
    ['a client’s tool that asks for nothing', 'free', () => ({})],
    ['a client’s tool in the place of a reader', 'view', () => ({ path: file() })],
  ])('holds %s back, although everything is approved', async (_what, name, args) => {
    const tools = [
      { name: 'write_it' },
      { name: 'free', skipPermission: true },
      ...(name === 'view' ? [{ name: 'view', overridesBuiltInTool: true, skipPermission: true }] : []),
    ];
    const { session } = await planning([call(name, args())], { tools });
    expect(await ends(session)).toEqual([held]);
    expect(session.events.filter(({ type }) => /^(permission|external_tool)/.test(type))).toEqual([]);
    expect([existsSync(target()), readFileSync(file(), 'utf8')]).toEqual([false, 'before\n']);
  });

  test.each([
    ['looking at a file', 'view', () => ({ path: file() })],
    ['a search', 'grep', () => ({ pattern: 'before' })],
    ['a command that only reads', 'bash', () => ({ command: 'cat file.txt', description: 'reads' })],
    ['todos', 'sql', () => ({ description: 'x', query: "INSERT INTO todos (id, title) VALUES ('a', 'A')" })],
  ])('lets %s run', async (_what, name, args) => {
    const { session } = await planning([call(name, args())]);
    expect(await ends(session)).toEqual(['ran']);
  });

  test('lets a client’s tool run that says it only reads', async () => {
    const { session } = await planning([call('look', {})], {
      tools: [{ name: 'look', readOnly: true, skipPermission: true }],
    });
    await session.send('Go');
    const { requestId } = (await session.next('external_tool.requested')).data;
    await session.answerTool(requestId, { result: 'a tree' });
    await session.next('session.idle');
  });

  test('lets the plan be written and changed, and publishes each change', async () => {
    const { session, planPath } = await planning([]);
    const model = runtime.script(
      call('create', { path: planPath, file_text: '# Plan\n' }),
      say('written'),
      call('edit', { path: planPath, old_str: 'Plan', new_str: 'Better plan' }),
      say('changed'),
    );
    await session.call('session.options.update', providerOf(model));
    expect(await ends(session)).toEqual(['ran']);
    expect(await ends(session)).toEqual(['ran']);
    expect(await session.call('session.plan.read')).toEqual({
      exists: true,
      content: '# Better plan\n',
      path: planPath,
    });
    const changes = session.events.filter(({ type }) => type === 'session.plan_changed');
    expect(changes.map(({ data }) => data)).toEqual([{ operation: 'create' }, { operation: 'update' }]);
  });

  test('holds back a plan that is a link, and does not write through a second name', async () => {
    const { session, planPath } = await planning([]);
    const model = runtime.script(
      call('edit', { path: planPath, old_str: 'before', new_str: 'after' }),
      say('tried'),
      call('edit', { path: planPath, old_str: 'before', new_str: 'after' }),
      say('tried'),
    );
    await session.call('session.options.update', providerOf(model));
    rmSync(planPath, { force: true });
    symlinkSync(file(), planPath);
    expect(await ends(session)).toEqual([held]);
    rmSync(planPath);
    linkSync(file(), planPath);
    expect(await ends(session)).toEqual(['ran']);
    expect(readFileSync(file(), 'utf8')).toBe('before\n');
  });

  test('holds back what a link inside leads to', async () => {
    const { session, planPath } = await planning([]);
    symlinkSync(join(planPath, '..'), join(runtime.workingDirectory, 'link'));
    const model = runtime.script(
      call('create', { path: join(planPath, '..', 'files', 'plan.md'), file_text: 'x' }),
      say('tried'),
      call('create', { path: 'link/other.md', file_text: 'x' }),
      say('tried'),
    );
    await session.call('session.options.update', providerOf(model));
    expect(await ends(session)).toEqual([held]);
    expect(await ends(session)).toEqual([held]);
  });

  test('counts for one prompt that names it, and for a hook’s word after it', async () => {
    const create = call('create', { path: target(), file_text: 'x' });
    const { session } = await runtime.session([create, say('tried'), create, say('made')]);
    await session.call('session.permissions.setApproveAll', { enabled: true });
    expect(await ends(session, 'Plan', { agentMode: 'plan' })).toEqual([held]);
    expect(await session.call('session.mode.get')).toBe('interactive');
    expect(await ends(session, 'Do it')).toEqual(['ran']);
  });

  test('holds back a call that was approved before the mode was changed', async () => {
    const { session } = await runtime.session(
      [call('create', { path: target(), file_text: 'x' }), say('tried')],
      { requestPermission: true },
    );
    await session.send('Go');
    const { requestId } = (await session.next('permission.requested')).data;
    await session.call('session.mode.set', { mode: 'plan' });
    await session.decide(requestId, { kind: 'approve-once' });
    const { error } = (await session.next('tool.execution_complete')).data;
    expect([error?.message, existsSync(target())]).toEqual([held, false]);
    await session.next('session.idle');
  });

  test('holds on after kill -9', async () => {
    const process = runtime.spawn({ flags: ['--stdio'] });
    const client = await runtime.connect(process);
    const model = runtime.script(
      call('ask_user', { question: 'Sure?' }),
      call('create', { path: target(), file_text: 'x' }, 'c2'),
      say('tried'),
    );
    client.answer = () => new Promise(() => undefined);
    const options = { ...providerOf(model), requestUserInput: true };
    const before = await client.create(options);
    await before.send('Go', { agentMode: 'plan' });
    await before.next('user_input.requested');
    await process.signal('SIGKILL');
    const next = await runtime.connect();
    next.answer = () => new Promise(() => undefined);
    const after = await next.resume(before.sessionId, { ...options, continuePendingWork: true });
    await after.call('session.permissions.setApproveAll', { enabled: true });
    const { requestId } = (await after.next('user_input.requested')).data;
    const response = { answer: 'yes', wasFreeform: true };
    await after.call('session.ui.handlePendingUserInput', { requestId, response });
    await after.next('session.idle');
    const stored = await after.stored();
    const messages = stored.flatMap(({ type, data }) =>
      type === 'tool.execution_complete' ? [(data as { error?: { message: string } }).error?.message] : [],
    );
    expect([messages, existsSync(target())]).toEqual([[undefined, held], false]);
  });
});
