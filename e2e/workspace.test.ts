import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, say, story, type WireSession } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const directoryOf = ({ sessionId }: WireSession) => join(runtime.home.path, 'session-state', sessionId);
const received = (session: WireSession) => story(session.events).slice(1);

test('the plan is written, read and removed, and every change is published', async () => {
  const { session } = await runtime.session([]);
  const path = join(directoryOf(session), 'plan.md');
  expect(await session.call('session.plan.read')).toEqual({ exists: false, content: null, path });
  for (const content of ['1. Think', '1. Think\n2. Act\u2028']) {
    expect(await session.call('session.plan.update', { content })).toBeNull();
    expect(await session.call('session.plan.read')).toEqual({ exists: true, content, path });
  }
  expect(await session.call('session.plan.delete')).toBeNull();
  expect(await session.call('session.plan.delete')).toBeNull();
  expect(await session.call('session.plan.read')).toEqual({ exists: false, content: null, path });
  expect(received(session)).toEqual(
    ['create', 'update', 'delete'].map((operation) => `session.plan_changed ${operation}`),
  );
});

test("the agent's todo list is read by clients, and is empty before it has one", async () => {
  const query = `INSERT INTO todos(id, title, status, created_at) VALUES ('a', 'First', 'done', 'then'), ('b', 'Second', 'pending', 'now');
    INSERT INTO todo_deps VALUES ('b', 'a')`;
  const { session } = await runtime.session([
    callTools({ id: 'c1', name: 'sql', arguments: { description: 'Plan', query } }),
    say('done'),
    callTools({ id: 'c2', name: 'sql', arguments: { description: 'Drop', query: 'DROP TABLE todo_deps' } }),
    say('done'),
  ]);
  const all = 'session.plan.readSqlTodosWithDependencies';
  expect(await session.call('session.plan.readSqlTodos')).toEqual({ rows: [] });
  expect(await session.call(all)).toEqual({ rows: [], dependencies: [] });
  const rows = [
    { id: 'a', title: 'First', status: 'done', createdAt: 'then' },
    { id: 'b', title: 'Second', status: 'pending', createdAt: 'now' },
  ];
  await session.send('Go');
  await session.next('session.todos_changed');
  await session.next('session.idle');
  expect(await session.call('session.plan.readSqlTodos')).toEqual({ rows });
  expect(await session.call(all)).toEqual({ rows, dependencies: [{ todoId: 'b', dependsOn: 'a' }] });
  await session.turn('Go on');
  expect(await session.call(all)).toEqual({ rows, dependencies: [] });
});

test('files are written, listed and read, for their owner only', async () => {
  const { session } = await runtime.session([]);
  expect(await session.call('session.workspaces.listFiles')).toEqual({ files: [] });
  for (const [path, content] of [
    ['b.txt', 'b'],
    ['a/deep/c.txt', 'ü'],
    ['b.txt', 'b2'],
    ['.hidden', ''],
  ])
    expect(await session.call('session.workspaces.createFile', { path, content })).toBeNull();
  expect(await session.call('session.workspaces.listFiles')).toEqual({
    files: ['.hidden', 'a/deep/c.txt', 'b.txt'],
  });
  expect(await session.call('session.workspaces.readFile', { path: 'b.txt' })).toEqual({ content: 'b2' });
  expect(await session.call('session.workspaces.readFile', { path: 'a/deep/c.txt' })).toEqual({
    content: 'ü',
  });
  expect(received(session)).toEqual([
    'session.workspace_file_changed create b.txt',
    'session.workspace_file_changed create a/deep/c.txt',
    'session.workspace_file_changed update b.txt',
    'session.workspace_file_changed create .hidden',
  ]);
  expect(statSync(join(directoryOf(session), 'files/b.txt')).mode & 0o777).toBe(0o600);
  expect(await session.call('session.workspaces.getWorkspace')).toMatchObject({
    workspace: { id: session.sessionId, cwd: runtime.workingDirectory },
    path: directoryOf(session),
  });
});

describe('a path that leads elsewhere is refused and nothing is written', () => {
  const paths = [
    '../out.txt',
    'a/../../out.txt',
    '/etc/hostname',
    '',
    '.',
    '..',
    'nul\u0000byte',
    'link/out.txt',
    'file-link',
    'dangling',
  ];
  test.each(paths)('%j', async (path) => {
    const { session } = await runtime.session([]);
    const outside = join(runtime.home.path, 'outside');
    mkdirSync(outside, { recursive: true });
    writeFileSync(join(outside, 'secret.txt'), 'secret');
    const files = join(directoryOf(session), 'files');
    symlinkSync(outside, join(files, 'link'));
    symlinkSync(join(outside, 'secret.txt'), join(files, 'file-link'));
    symlinkSync(join(outside, 'new.txt'), join(files, 'dangling'));
    for (const method of ['session.workspaces.createFile', 'session.workspaces.readFile']) {
      const failure = await session.failure(method, { path, content: 'x' });
      expect(failure).toEqual({
        code: -32603,
        message: `Request ${method} failed with message: Path must stay inside the workspace files directory: ${path}`,
      });
    }
    expect(received(session)).toEqual([]);
    expect(readdirSync(outside)).toEqual(['secret.txt']);
    expect(existsSync(join(directoryOf(session), 'out.txt'))).toBe(false);
  });
});

test('a file that is not there is an error that names it', async () => {
  const { session } = await runtime.session([]);
  const failure = await session.failure('session.workspaces.readFile', { path: 'missing.txt' });
  expect(failure).toEqual({ code: -32603, message: expect.stringContaining('missing.txt') });
});

test('a directory is no file to write', async () => {
  const { session } = await runtime.session([]);
  await session.call('session.workspaces.createFile', { path: 'a/b.txt', content: 'b' });
  expect(await session.failure('session.workspaces.createFile', { path: 'a', content: 'x' })).toMatchObject({
    code: -32603,
  });
  expect(
    await session.failure('session.workspaces.createFile', { path: 'a/b.txt/c', content: 'x' }),
  ).toMatchObject({ code: -32603 });
  expect(readdirSync(join(directoryOf(session), 'files'), { recursive: true }).sort()).toEqual([
    'a',
    'a/b.txt',
  ]);
});

test('a session that wants no workspace has none', async () => {
  const { session } = await runtime.session([say('hi')], { infiniteSessions: { enabled: false } });
  await session.turn('Hello');
  expect(existsSync(directoryOf(session))).toBe(false);
  expect(await session.call('session.workspaces.getWorkspace')).toEqual({ workspace: null });
  expect(await session.call('session.workspaces.listFiles')).toEqual({ files: [] });
  expect(await session.call('session.plan.read')).toEqual({ exists: false, content: null, path: null });
});
