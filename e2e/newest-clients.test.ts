import { existsSync, readFileSync } from 'node:fs';
import { callTools, liveRuntime, providerOf, say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const tools = [{ name: 'look', skipPermission: true }];
const image =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const look = callTools({ id: 'c1', name: 'look', arguments: {} });

describe('more in a word for the running turn', () => {
  test('is one message with what was said before, also after a kill', async () => {
    const model = runtime.script(look, say('turned'));
    const process = runtime.spawn({ flags: ['--stdio'] });
    const session = await (await runtime.connect(process)).create({ ...providerOf(model), tools });
    await session.send('Go');
    const { data } = await session.next('external_tool.requested');
    const { messageId } = await session.send('Left', { mode: 'immediate' });
    const more = {
      messageId,
      expectedPrompt: 'Left',
      agentMode: 'interactive',
      prompt: 'and slowly',
      displayPrompt: 'slowly!',
      attachments: [{ type: 'blob', data: image, mimeType: 'image/png' }],
    };
    const append = (change: object) => session.call('session.queue.appendSteering', { ...more, ...change });
    expect(await append({ expectedPrompt: 'Right' })).toEqual({ updated: false });
    expect(await append({ messageId: 'other' })).toEqual({ updated: false });
    await expect(append({ prompt: 'x'.repeat(3 * 1024 * 1024) })).rejects.toThrow('at most');
    expect(await append({})).toEqual({ updated: true });
    expect(await append({})).toEqual({ updated: false });
    await process.signal('SIGKILL');
    const resumed = await runtime.client.resume(session.sessionId, {
      ...providerOf(model),
      tools,
      continuePendingWork: true,
    });
    expect(await resumed.call('session.queue.pendingItems')).toMatchObject({
      steeringMessages: ['Left\n\nand slowly'],
    });
    await resumed.answerTool(data.requestId, { result: 'a fork' });
    const events = await resumed.untilIdle();
    expect(events.find(({ type }) => type === 'user.message')?.data).toMatchObject({
      content: 'Left\n\nslowly!',
      delivery: 'steering',
    });
    const said = JSON.stringify(model.requests.at(-1)?.body.messages);
    expect(said).toContain(`data:image/png;base64,${image}`);
    expect(said).toContain(JSON.stringify('Left\n\nand slowly').slice(1, -1));
  });

  test('is not said in a prompt that waits for a turn of its own', async () => {
    const { session } = await runtime.session([look, say('a'), say('b')], { tools });
    await session.send('Go');
    const { data } = await session.next('external_tool.requested');
    const { messageId } = await session.send('Later');
    const more = { messageId, expectedPrompt: 'Later', agentMode: 'interactive', attachments: [] };
    expect(
      await session.call('session.queue.appendSteering', { ...more, prompt: 'x', displayPrompt: 'x' }),
    ).toEqual({ updated: false });
    await session.answerTool(data.requestId, { result: 'ok' });
    await session.untilIdle();
  });
});

test('a session calls only the models that it may, and keeps to that after a kill', async () => {
  const model = runtime.script(...Array.from({ length: 4 }, () => say('ok')));
  const process = runtime.spawn({ flags: ['--stdio'] });
  const session = await (await runtime.connect(process)).create({ ...providerOf(model), model: 'first' });
  const allow = (allowedModels: readonly string[] | null) =>
    session.call('session.model.setAllowedModels', { allowedModels });
  await expect(allow([])).rejects.toThrow('one at least');
  await expect(allow([' '])).rejects.toThrow('one at least');
  const asked = () => model.requests.map(({ body }) => body.model);
  await session.turn('One');
  expect(await allow([' second ', 'third', 'second'])).toEqual({
    allowedModels: ['second', 'third'],
    effectiveAllowedModels: ['second', 'third'],
    fallbackModel: 'second',
    modelId: 'second',
  });
  expect(session.events.findLast(({ type }) => type === 'session.model_change')?.data).toMatchObject({
    newModel: 'second',
    previousModel: 'first',
    cause: 'allowed_models',
  });
  await session.turn('Two');
  await expect(session.call('session.model.switchTo', { modelId: 'first' })).rejects.toThrow(
    'The session may not call the model first, only: second, third.',
  );
  await expect(session.call('session.options.update', { model: 'first' })).rejects.toThrow('may not call');
  const agent = { agentType: 'explore', prompt: 'Look', name: 'a', model: 'first' };
  await expect(session.call('session.tasks.startAgent', agent)).rejects.toThrow('may not call');
  await process.signal('SIGKILL');
  const resumed = await runtime.client.resume(session.sessionId, { ...providerOf(model), model: 'first' });
  await resumed.turn('Three');
  expect(resumed.events.filter(({ type }) => type === 'session.warning').map(({ data }) => data)).toEqual([
    {
      warningType: 'configuration',
      message: 'The session may not call the model first, only: second, third.',
    },
  ]);
  expect(await resumed.call('session.model.setAllowedModels', { allowedModels: null })).toEqual({
    modelId: 'second',
  });
  await resumed.call('session.model.switchTo', { modelId: 'first' });
  await resumed.turn('Four');
  expect(asked()).toEqual(['first', 'second', 'second', 'first']);
});

describe('what a client works on itself', () => {
  const wish = { type: 'client', clientTaskId: 'build', description: 'A build', cancellable: true };
  const progress = (message: string) => ({ kind: 'progress', message, phase: 'compile', percentage: 40 });

  test('is registered once, published in order, stopped by request, and removed', async () => {
    const { client } = runtime;
    const { session } = await runtime.session([]);
    const call = (name: string, params: object = {}) =>
      session.call(`session.tasks.${name}`, params) as Promise<Record<string, never>>;
    const { task, ...made } = await call('register', { ...wish, displayName: 'Build' });
    expect(made).toEqual({ created: true, reclaimed: false });
    const { id } = task as unknown as { id: string };
    expect(task).toMatchObject({
      type: 'client',
      clientTaskId: 'build',
      status: 'running',
      owner: { kind: 'sdk', presence: 'connected' },
      sequence: 0,
      executionMode: 'background',
      canCancel: true,
    });
    expect(await call('register', wish)).toMatchObject({ task: { id }, created: false, reclaimed: false });
    await expect(call('register', { ...wish, expectedSequence: 3 })).rejects.toThrow('sequence 0, not 3');
    const update = (sequence: number, change: object) => call('update', { id, sequence, update: change });
    expect(await update(1, progress('half'))).toMatchObject({ applied: true, duplicate: false });
    expect(await update(1, progress('half'))).toMatchObject({ applied: false, duplicate: true });
    await expect(update(1, progress('other'))).rejects.toThrow('higher one than 1');
    await expect(update(2, { kind: 'progress', percentage: 101 })).rejects.toThrow('update');
    expect(await update(3, { kind: 'progress', status: 'idle', phase: null })).toMatchObject({
      task: { status: 'idle', idleSince: expect.any(String) },
    });
    expect(await call('getProgress', { id })).toEqual({
      progress: {
        type: 'client',
        status: 'idle',
        sequence: 3,
        updatedAt: expect.any(String),
        percentage: 40,
        lastMessage: 'half',
        recentActivity: [{ message: 'half', timestamp: expect.any(String) }],
      },
    });
    expect(await call('remove', { id })).toEqual({ removed: false });
    const asked: unknown[] = [];
    client.answer = async (method, params) => ({ cancelled: asked.push([method, params]) > 0 });
    expect(await call('cancel', { id })).toEqual({ cancelled: true });
    const { sessionId } = session;
    const request = { sessionId, id, clientTaskId: 'build', reason: 'cancel_requested' };
    expect(asked).toEqual([['tasks.cancel', { ...request, cancellationId: expect.any(String) }]]);
    expect(await call('list')).toMatchObject({
      tasks: [{ id, status: 'cancelled', cancellationReason: 'cancel_requested', canCancel: false }],
    });
    await expect(update(4, { kind: 'completed' })).rejects.toThrow('has ended: it is cancelled');
    expect(await call('remove', { id })).toEqual({ removed: true });
    expect(await call('list')).toEqual({ tasks: [] });
    expect(await call('getProgress', { id })).toEqual({ progress: null });
  });

  test('has no owner after a kill, and is its own again once registered anew', async () => {
    const process = runtime.spawn({ flags: ['--stdio'] });
    const first = await (await runtime.connect(process)).create({ clientName: 'builder' });
    const { task } = (await first.call('session.tasks.register', wish)) as { task: { id: string } };
    const done = { id: task.id, sequence: 2, update: { kind: 'completed', result: { files: 3 } } };
    await first.call('session.tasks.update', { ...done, sequence: 1, update: progress('begun') });
    await process.signal('SIGKILL');
    const again = await runtime.client.resume(first.sessionId, { clientName: 'builder' });
    expect(await again.call('session.tasks.list')).toMatchObject({
      tasks: [{ id: task.id, status: 'orphaned', owner: { presence: 'disconnected' }, canCancel: false }],
    });
    expect(await again.call('session.tasks.cancel', { id: task.id })).toEqual({ cancelled: false });
    await expect(again.call('session.tasks.update', done)).rejects.toThrow('belongs to another connection');
    expect(await again.call('session.tasks.register', { ...wish, expectedSequence: 1 })).toMatchObject({
      task: { id: task.id, status: 'running', reclaimedAt: expect.any(String) },
      created: false,
      reclaimed: true,
    });
    expect(await again.call('session.tasks.update', done)).toMatchObject({
      task: { status: 'completed', result: { files: 3 }, completedAt: expect.any(String) },
      applied: true,
    });
  });
});

test('the events of a session are written to a file that clients can read, open or not', async () => {
  const { client } = runtime;
  const { session } = await runtime.session([say('hi')]);
  await session.turn('Hello');
  const ref = { sessionId: session.sessionId };
  await client.call('sessions.close', ref);
  const { filePath } = (await client.call('sessions.getEventFilePath', ref)) as { filePath: string };
  const types = readFileSync(filePath, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).type);
  expect([types[0], types.at(-1)]).toEqual(['session.start', 'session.shutdown']);
  expect(types).toContain('assistant.message');
  expect(await client.call('sessions.getPersistedRemoteSteerable', ref)).toEqual({});
  await expect(client.call('sessions.getEventFilePath', { sessionId: 'none' })).rejects.toThrow('not found');
  await client.call('sessions.delete', ref);
  expect(existsSync(filePath)).toBe(false);
});

test('a command shows what fills the window, and an empty plan reads as empty', async () => {
  const { client } = runtime;
  const { session } = await runtime.session([]);
  expect(await session.call('session.commands.invoke', { name: 'context' })).toMatchObject({
    kind: 'text',
    text: expect.stringMatching(/tokens \(.+ %\)\nsystem prompt {2}\d+\ntools {2}\d+\nconversation {2}0/),
  });
  await session.call('session.plan.update', { content: '' });
  expect(await session.call('session.plan.read')).toMatchObject({ content: '' });
  expect(await client.call('sessions.open', {})).toEqual({ status: 'not_found' });
});
