import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, say, story } from '@groundcrew/testkit';
import { expect, test, vi } from 'vitest';

const runtime = liveRuntime();

/** A directory of its own for each test. */
function workIn(name: string): string {
  const directory = join(runtime.workingDirectory, name);
  mkdirSync(directory);
  return directory;
}

const bash = (id: string, command: string) =>
  callTools({ id, name: 'bash', arguments: { command, description: 'Look' } });

test('a command is asked for, runs, and is not asked for again once it was approved for the session', async () => {
  const workingDirectory = workIn('approved');
  const { session } = await runtime.session(
    [bash('c1', 'echo one'), bash('c2', 'echo two | wc -c'), bash('c3', 'wc -c /etc/hostname'), say('done')],
    { workingDirectory },
  );
  await session.send('Go');
  const first = await session.next('permission.requested');
  expect(first.data.promptRequest).toEqual({
    kind: 'commands',
    fullCommandText: 'echo one',
    intention: 'Look',
    commandIdentifiers: ['echo'],
    canOfferSessionApproval: true,
    toolCallId: 'c1',
  });
  const approval = { kind: 'commands', commandIdentifiers: ['echo', 'wc'] };
  await session.decide(first.data.requestId, { kind: 'approve-for-session', approval });
  const outside = await session.next('permission.requested');
  expect(outside.data.permissionRequest).toMatchObject({
    toolCallId: 'c3',
    possiblePaths: ['/etc/hostname'],
  });
  await session.decide(outside.data.requestId, { kind: 'user-not-available' });
  await session.next('session.idle');
  expect(story(session.events).filter((line) => line.startsWith('tool.execution_complete'))).toEqual([
    'tool.execution_complete c1 ok "one\\n<exited with exit code 0>"',
    'tool.execution_complete c2 ok "4\\n<exited with exit code 0>"',
    'tool.execution_complete c3 denied "Permission denied and could not request permission from user"',
  ]);
});

test('an abort ends a running command', async () => {
  const workingDirectory = workIn('aborted');
  const { session } = await runtime.session([bash('c1', 'touch up; sleep 1000'), say('done')], {
    workingDirectory,
  });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.send('Go');
  await vi.waitFor(() => expect(existsSync(join(workingDirectory, 'up'))).toBe(true), 5000);
  expect(await session.call('session.abort')).toEqual({ success: true });
  expect((await session.next('session.idle')).data).toEqual({ aborted: true });
});

test('a person runs commands beside the model, and cancels them', async () => {
  const workingDirectory = workIn('person');
  const { session } = await runtime.session([], { workingDirectory });
  const execute = (requestId: string, command: string) =>
    session.call('session.shell.executeUserRequested', { requestId, command });
  expect(await execute('r1', 'echo out; exit 3')).toEqual({
    toolCallId: expect.any(String),
    success: false,
    output: 'out',
    exitCode: 3,
  });
  const running = execute('r2', 'touch up; sleep 1000');
  await vi.waitFor(() => expect(existsSync(join(workingDirectory, 'up'))).toBe(true), 5000);
  expect(await session.call('session.shell.cancelUserRequested', { requestId: 'r2' })).toEqual({
    cancelled: true,
  });
  expect(await running).toEqual({
    toolCallId: expect.any(String),
    success: false,
    output: '',
    exitCode: 143,
    error: 'The command was cancelled',
  });
  expect(await session.call('session.shell.cancelUserRequested', { requestId: 'r2' })).toEqual({
    cancelled: false,
  });
});

test('a client starts and kills processes, and is told when they end', async () => {
  const workingDirectory = workIn('processes');
  const { session } = await runtime.session([], { workingDirectory });
  const start = async (command: string) =>
    (await session.call<{ processId: string }>('session.shell.exec', { command })).processId;
  const quick = await start('exit 7');
  const slow = await start('sleep 1000');
  expect(await session.call('session.shell.kill', { processId: slow })).toEqual({ killed: true });
  await vi.waitFor(() => expect(exits()).toEqual({ [quick]: 7, [slow]: 1 }), 5000);
  expect(await session.call('session.shell.kill', { processId: slow })).toEqual({ killed: false });
});

/** What the client was told of processes that ended. */
function exits(): Record<string, number> {
  const told = runtime.client.frames.flatMap((frame) => {
    if (frame.type !== 'other' || !('method' in frame.message)) return [];
    const { method, params } = frame.message as { method: string; params?: unknown };
    return method === 'shell.exit' ? [params as { processId: string; exitCode: number }] : [];
  });
  return Object.fromEntries(told.map(({ processId, exitCode }) => [processId, exitCode]));
}
