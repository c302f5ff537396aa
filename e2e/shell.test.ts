import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, say, story, type WireSession } from '@groundcrew/testkit';
import { describe, expect, test, vi } from 'vitest';

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

describe('a command that a person types', () => {
  const execute = (session: WireSession, requestId: string, command: string) =>
    session.call('session.shell.executeUserRequested', { requestId, command });

  test('is seen by all as it goes, and by the model with its next prompt', async () => {
    const workingDirectory = workIn('typed');
    const { session, model } = await runtime.session([say('one'), say('two')], { workingDirectory });
    await session.turn('Hello');
    expect(await execute(session, 'r1', 'echo out; exit 3')).toEqual({
      toolCallId: expect.any(String),
      success: false,
      output: 'out',
      exitCode: 3,
      error: 'out',
    });
    expect(await execute(session, 'r2', 'printf well')).toEqual({
      toolCallId: expect.any(String),
      success: true,
      output: 'well',
      exitCode: 0,
    });
    await session.turn('What was that?');
    const received = (await session.stored()).flatMap(({ type, data }) =>
      type === 'tool.user_requested' || type === 'tool.execution_complete' ? [{ type, data }] : [],
    );
    expect(received).toEqual([
      {
        type: 'tool.user_requested',
        data: {
          toolCallId: expect.any(String),
          toolName: 'local_shell',
          arguments: { command: 'echo out; exit 3', description: 'Execute shell command: echo out; exit 3' },
        },
      },
      {
        type: 'tool.execution_complete',
        data: {
          toolCallId: expect.any(String),
          isUserRequested: true,
          success: false,
          error: { message: 'out' },
        },
      },
      {
        type: 'tool.user_requested',
        data: {
          toolCallId: expect.any(String),
          toolName: 'local_shell',
          arguments: { command: 'printf well', description: 'Execute shell command: printf well' },
        },
      },
      {
        type: 'tool.execution_complete',
        data: {
          toolCallId: expect.any(String),
          isUserRequested: true,
          success: true,
          result: { content: 'well' },
        },
      },
    ]);
    expect(model.requests[1]?.body.messages.slice(3, 5)).toEqual([
      {
        role: 'user',
        content:
          '<user_shell_command_output>\nThe user ran a shell command by themselves. It ended with exit code 3.\n\nCommand:\necho out; exit 3\n\nOutput:\nout\n</user_shell_command_output>',
      },
      {
        role: 'user',
        content:
          '<user_shell_command_output>\nThe user ran a shell command by themselves. It ended with exit code 0.\n\nCommand:\nprintf well\n\nOutput:\nwell\n</user_shell_command_output>',
      },
    ]);
  });

  test('is cancelled by its request, with all that it has started', async () => {
    const workingDirectory = workIn('cancelled');
    const { session } = await runtime.session([], { workingDirectory });
    const cancel = () => session.call('session.shell.cancelUserRequested', { requestId: 'r2' });
    const running = execute(session, 'r2', 'echo begun; touch up; sleep 1000 & wait');
    await session.next('tool.execution_partial_result', ({ data }) => data.partialOutput === 'begun\n');
    expect(await cancel()).toEqual({ cancelled: true });
    expect(await running).toEqual({
      toolCallId: expect.any(String),
      success: false,
      output: 'begun',
      error: 'Shell command canceled.',
    });
    expect(await cancel()).toEqual({ cancelled: false });
  });

  test('comes between a call and its result without breaking the history', async () => {
    const workingDirectory = workIn('between');
    const { session, model } = await runtime.session([bash('c1', 'echo one'), say('done')], {
      workingDirectory,
    });
    await session.send('Go');
    const { data } = await session.next('permission.requested');
    await execute(session, 'r1', 'echo mine');
    await session.decide(data.requestId, { kind: 'approve-once' });
    await session.next('session.idle');
    expect(model.requests[1]?.body.messages.slice(2).map(({ role }) => role)).toEqual([
      'assistant',
      'tool',
      'user',
    ]);
  });

  test('is refused where a rule denies it, be it typed or started', async () => {
    const workingDirectory = workIn('denied');
    const { session, model } = await runtime.session([say('one')], { workingDirectory });
    await session.call('session.permissions.configure', {
      rules: { approved: [], denied: [{ kind: 'shell', argument: 'touch:*' }] },
    });
    const refusal = 'Permission denied by rules: shell(touch:*)';
    expect(await execute(session, 'r1', 'touch up')).toEqual({
      toolCallId: expect.any(String),
      success: false,
      output: '',
      error: refusal,
    });
    expect(await session.failure('session.shell.exec', { command: 'true && touch up' })).toEqual({
      code: -32603,
      message: `Request session.shell.exec failed with message: ${refusal}`,
    });
    expect(readdirSync(workingDirectory)).toEqual([]);
    await session.turn('What now?');
    expect(JSON.stringify(model.requests[0]?.body.messages)).toContain('It did not run: Permission denied');
  });
});

test('the question of a bash call names what it would touch', async () => {
  const workingDirectory = workIn('touches');
  const { session } = await runtime.session([bash('c1', 'cat a.txt > b.txt'), say('done')], {
    workingDirectory,
  });
  await session.send('Go');
  const { data } = await session.next('tool.execution_start');
  expect(data.shellToolInfo).toEqual({ possiblePaths: ['a.txt', 'b.txt'], hasWriteFileRedirection: true });
});

describe('a command in the background', () => {
  const inBackground = (id: string, command: string) =>
    callTools({ id, name: 'bash', arguments: { command, description: 'Build', mode: 'async', shellId: id } });
  const notice = (shellId: string, exitCode: number) =>
    `<system_notification>\nThe command "Build" (shellId: ${shellId}) has ended with exit code ${exitCode}. Use read_bash to read its output.\n</system_notification>`;

  test('that has ended is reported to clients, and to the model with its next prompt', async () => {
    const workingDirectory = workIn('background');
    const { session, model } = await runtime.session(
      [inBackground('b1', 'while [ ! -e go ]; do sleep 0.01; done; exit 3'), say('begun'), say('seen')],
      { workingDirectory },
    );
    await session.call('session.permissions.setApproveAll', { enabled: true });
    await session.turn('Build it');
    writeFileSync(join(workingDirectory, 'go'), '');
    expect((await session.next('system.notification')).data).toEqual({
      content: notice('b1', 3),
      kind: { type: 'shell_completed', shellId: 'b1', exitCode: 3, description: 'Build' },
    });
    await session.turn('And?');
    expect(model.requests.at(-1)?.body.messages.at(-2)).toEqual({ role: 'user', content: notice('b1', 3) });
  });

  test('that the model has read to its end, stopped, or left behind is not', async () => {
    const workingDirectory = workIn('quiet');
    const read = callTools({ id: 'r1', name: 'read_bash', arguments: { shellId: 'b1', delay: 10 } });
    const stop = callTools({ id: 's1', name: 'stop_bash', arguments: { shellId: 'b2' } });
    const { session } = await runtime.session(
      [
        inBackground('b1', 'sleep 0.1; echo read'),
        read,
        inBackground('b2', 'sleep 1000'),
        stop,
        inBackground('b3', 'sleep 1000'),
        say('done'),
      ],
      { workingDirectory },
    );
    await session.call('session.permissions.setApproveAll', { enabled: true });
    await session.turn('Go');
    await session.call('session.destroy');
    expect(session.events.filter(({ type }) => type === 'system.notification')).toEqual([]);
  });
});

test('a client starts and kills processes, and is notified when they end', async () => {
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

/** What the client received of processes that ended. */
function exits(): Record<string, number> {
  const received = runtime.client.frames.flatMap((frame) => {
    if (frame.type !== 'other' || !('method' in frame.message)) return [];
    const { method, params } = frame.message as { method: string; params?: unknown };
    return method === 'shell.exit' ? [params as { processId: string; exitCode: number }] : [];
  });
  return Object.fromEntries(received.map(({ processId, exitCode }) => [processId, exitCode]));
}
