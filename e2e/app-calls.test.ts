import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime, providerOf, say } from '@groundcrew/testkit';
import { describe, expect, test, vi } from 'vitest';
import { hooked, inputsOf } from './hooked.js';

/** A shell may start late on a busy machine: longer than `waitFor` waits by itself. */
const slowly = { timeout: 20_000 };
const runtime = liveRuntime({ flags: ['--port', '0'] });
const interrupted = 'The execution of this tool, or a previous tool was interrupted.';
const touch = { name: 'bash', arguments: { command: 'touch made.txt', description: 'makes a file' } };
const look = [{ name: 'look', description: 'Looks', skipPermission: true }];

interface Executed {
  readonly resultType: string;
  readonly textResultForLlm: string;
  readonly error?: string;
}

const typesOf = (events: readonly { readonly type: string; readonly agentId?: string | undefined }[]) =>
  events.filter(({ agentId }) => agentId === 'app').map(({ type }) => type);

describe('session.tools.execute', () => {
  test('asks as a call of the model would, runs after the answer, and no model reads of it', async () => {
    const { session, model } = await runtime.session([say('hello')], { requestPermission: true });
    const running = session.call<Executed>('session.tools.execute', { ...touch, toolCallId: 'mine' });
    const { data } = await session.next('permission.requested');
    expect(data.permissionRequest).toMatchObject({ kind: 'shell', toolCallId: 'mine' });
    expect(existsSync(join(runtime.workingDirectory, 'made.txt'))).toBe(false);
    await session.decide(data.requestId, { kind: 'approve-once' });
    expect(await running).toMatchObject({
      resultType: 'success',
      textResultForLlm: '\n<exited with exit code 0>',
      contents: [{ type: 'shell_exit', exitCode: 0 }],
    });
    expect(existsSync(join(runtime.workingDirectory, 'made.txt'))).toBe(true);
    expect(typesOf(await session.stored())).toEqual([
      'tool.execution_start',
      'permission.requested',
      'permission.completed',
      'tool.execution_complete',
    ]);
    await session.turn('Hi');
    const body = model.requests[0]?.body as { messages: { role: string }[] } | undefined;
    expect(body?.messages.map(({ role }) => role)).toEqual(['system', 'user']);
  });

  test('what users, rules and hooks deny does not run, and the answer says so', async () => {
    const target = join(runtime.workingDirectory, 'denied.txt');
    const order = { name: 'bash', arguments: { command: `touch ${target}`, description: 'd' } };
    const { session } = await runtime.session([], { requestPermission: true, hooks: true });
    const invoked = hooked(runtime.client, {
      preToolUse: ({ toolName }) => (toolName === 'view' ? { permissionDecision: 'deny' } : undefined),
    });
    const running = session.call<Executed>('session.tools.execute', order);
    const { data } = await session.next('permission.requested');
    await session.decide(data.requestId, { kind: 'reject' });
    expect(await running).toMatchObject({ resultType: 'rejected', error: expect.any(String) });
    const viewed = await session.call<Executed>('session.tools.execute', {
      name: 'view',
      arguments: { path: '/etc/passwd' },
    });
    expect(viewed.resultType).toBe('denied');
    expect(inputsOf(invoked, 'preToolUse').map(({ sessionId }) => sessionId)).toEqual([
      session.sessionId,
      session.sessionId,
    ]);
    expect(existsSync(target)).toBe(false);
  });

  test('of a tool of a client is answered by that client, while a turn runs', async () => {
    const { session } = await runtime.session([say('done')], { tools: look });
    const other = await (await runtime.connect()).resume(session.sessionId);
    const running = other.call<Executed>('session.tools.execute', { name: 'look', arguments: { far: true } });
    const { data } = await session.next('external_tool.requested');
    expect(data).toMatchObject({ toolName: 'look', arguments: { far: true } });
    await session.turn('Hi');
    await session.answerTool(data.requestId, { result: 'a fork' });
    expect(await running).toMatchObject({ resultType: 'success', textResultForLlm: 'a fork' });
    await other.call('session.destroy');
  });

  test('wrong wishes are refused or fail in words', async () => {
    const { session } = await runtime.session([], { tools: look });
    const execute = (params: object) => session.call<Executed>('session.tools.execute', params);
    expect(await execute({ name: 'nope', arguments: {} })).toMatchObject({
      resultType: 'failure',
      error: "Tool 'nope' does not exist.",
    });
    expect(await execute({ name: 'view', arguments: { path: 7 } })).toMatchObject({ resultType: 'failure' });
    await expect(execute({ name: 'task', arguments: {} })).rejects.toThrow('session.tasks');
    await expect(execute({ arguments: {} })).rejects.toThrow();
    await expect(execute({ name: 'look', toolCallId: 'a b' })).rejects.toThrow('toolCallId');
    const first = execute({ name: 'look', arguments: {}, toolCallId: 'same' });
    const { data } = await session.next('external_tool.requested');
    await expect(execute({ name: 'look', arguments: {}, toolCallId: 'same' })).rejects.toThrow('under way');
    await session.answerTool(data.requestId, { result: 'ok' });
    expect((await first).textResultForLlm).toBe('ok');
  });

  test('is ended by session.abort, and by a process that dies: the next one closes it, and it is not run again', async () => {
    const { session } = await runtime.session([], { tools: look });
    const running = session.call<Executed>('session.tools.execute', { name: 'look', arguments: {} });
    await session.next('external_tool.requested');
    await session.call('session.abort');
    expect(await running).toMatchObject({ resultType: 'failure', textResultForLlm: interrupted });
    const process = runtime.spawn({ flags: ['--stdio'] });
    const before = await (await runtime.connect(process)).create({
      ...providerOf(runtime.script()),
      tools: look,
    });
    const lost = before.call('session.tools.execute', { name: 'look', arguments: {}, toolCallId: 'lost' });
    const failure = expect(lost).rejects.toThrow();
    const { data } = await before.next('external_tool.requested');
    await process.signal('SIGKILL');
    await failure;
    const after = await runtime.client.resume(before.sessionId, {
      ...providerOf(runtime.script(say('well'))),
      tools: look,
      continuePendingWork: true,
    });
    expect(await after.answerTool(data.requestId, { result: 'late' })).toEqual({ success: false });
    const stored = await after.stored();
    expect(typesOf(stored)).toEqual([
      'tool.execution_start',
      'external_tool.requested',
      'external_tool.completed',
      'tool.execution_complete',
    ]);
    expect(stored.findLast(({ type }) => type === 'tool.execution_complete')?.data).toMatchObject({
      toolCallId: 'lost',
      success: false,
      error: { message: interrupted },
    });
    await after.turn('Go on');
  });
});

describe('commands in the background', () => {
  test('are tasks whose output clients read by a cursor, to its end', async () => {
    const { session } = await runtime.session([], { requestPermission: true });
    const go = join(runtime.workingDirectory, 'go');
    const started = session.call('session.tools.execute', {
      name: 'bash',
      arguments: {
        command: `echo first; while [ ! -e ${go} ]; do sleep 0.05; done; printf 'sec\\303\\251nd'; exit 3`,
        description: 'writes twice',
        mode: 'async',
        detach: true,
      },
    });
    await session.decide((await session.next('permission.requested')).data.requestId, {
      kind: 'approve-once',
    });
    await started;
    type Task = { id: string; type: string; status: string };
    const tasks = async () => (await session.call<{ tasks: Task[] }>('session.tasks.list')).tasks;
    const [task] = await tasks();
    expect(task).toMatchObject({
      type: 'shell',
      description: 'writes twice',
      status: 'running',
      attachmentMode: 'detached',
      executionMode: 'background',
    });
    const read = (params: object) =>
      session.call<{ text: string; cursor: string; exit?: object }>('session.tasks.readOutput', {
        id: task?.id,
        ...params,
      });
    const one = await vi.waitFor(async () => {
      const found = await read({ waitMs: 5000 });
      expect(found.text).toBe('first\n');
      return found;
    }, slowly);
    expect(await read({ cursor: one.cursor })).toEqual({ text: '', cursor: one.cursor });
    const waiting = read({ cursor: one.cursor, waitMs: 30_000 });
    writeFileSync(go, '');
    let last = await waiting;
    let text = last.text;
    while (!last.exit) {
      last = await read({ cursor: last.cursor, waitMs: 5000 });
      text += last.text;
    }
    expect(text).toBe('secénd');
    expect(last.exit).toEqual({ status: 'completed', exitCode: 3 });
    expect(await read({ cursor: last.cursor })).toEqual({ text: '', cursor: last.cursor, exit: last.exit });
    expect((await tasks())[0]?.status).toBe('completed');
    await expect(read({ cursor: 'bogus' })).rejects.toThrow('cursor');
    await expect(read({ cursor: 'output:99999' })).rejects.toThrow('without one');
    await expect(read({ waitMs: 30_001 })).rejects.toThrow('30000');
    await expect(read({ id: 'nope' })).rejects.toThrow("No detached shell task with id 'nope'");
  });
});

describe('the other methods of the newest clients', () => {
  test('a prompt is set in the place of an agent’s own, until the process ends', async () => {
    const customAgents = [{ name: 'mine', prompt: 'Old words', description: 'd' }];
    const { session, model } = await runtime.session([say('ok')], { customAgents });
    const set = (params: object) => session.call('session.agent.setPrompt', params);
    expect(await set({ id: 'mine', prompt: 'New words' })).toEqual({});
    expect(await set({ id: 'explore', prompt: '' })).toEqual({});
    await expect(set({ id: 'nope', prompt: 'x' })).rejects.toThrow("Agent 'nope' is not available");
    await expect(set({ id: 'general-purpose', prompt: 'x' })).rejects.toThrow(
      'does not have an authored prompt',
    );
    const { agents } = await session.call<{ agents: { name: string; prompt: string }[] }>(
      'session.agent.list',
      { includePrompt: true, includeBuiltInAgents: true },
    );
    expect(agents.flatMap(({ name, prompt }) => (/mine|explore/.test(name) ? [[name, prompt]] : []))).toEqual(
      [
        ['mine', 'New words'],
        ['explore', ''],
      ],
    );
    await session.call('session.agent.select', { name: 'mine' });
    await session.turn('Hi');
    const body = JSON.stringify(model.requests[0]?.body);
    expect(body).toContain('New words');
    expect(body).not.toContain('Old words');
  });

  test('summaries are cut to the oldest, as after a rewind', async () => {
    const { session } = await runtime.session([]);
    for (const title of ['one', 'two', 'three'])
      await session.call('session.workspaces.addSummary', { title, content: title });
    const keep = (keepCount: number) => session.call('session.workspaces.truncateSummaries', { keepCount });
    const titles = async () =>
      (
        await session.call<{ checkpoints: { title: string }[] }>('session.workspaces.listCheckpoints')
      ).checkpoints.map(({ title }) => title);
    expect(await keep(2)).toMatchObject({ workspace: { summary_count: 2 } });
    expect(await titles()).toEqual(['one', 'two']);
    await keep(5);
    expect(await titles()).toEqual(['one', 'two']);
    await keep(-1);
    expect(await titles()).toEqual([]);
  });
});
