import { callTools, liveRuntime, providerOf, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();
const summary = say('<overview>We talked about it.</overview><checkpoint_title>It</checkpoint_title>');

/** Names that every object knows. */
const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];

test.each(names)('a message with the id %s is sent once, however often it is sent', async (messageId) => {
  const { session, model } = await runtime.session([say('one')]);
  expect(await session.send('Hello', { messageId })).toMatchObject({ messageId });
  await session.untilIdle();
  expect(await session.send('Hello', { messageId })).toMatchObject({ messageId });
  expect(model.requests).toHaveLength(1);
  expect(await session.failure('session.send', { prompt: 'Other', messageId })).toMatchObject({
    message: expect.stringContaining('was used with other content'),
  });
});

test.each(names)('a model with the name %s answers, and what it took is counted', async (name) => {
  const model = runtime.script(say('hi'), say('again'));
  const { provider } = providerOf(model);
  const session = await runtime.client.create({ provider, model: name });
  const events = [...(await session.turn('Hello')), ...(await session.turn('Again'))];
  expect(events.filter(({ type }) => type === 'session.error')).toEqual([]);
  const metrics = await session.call<{ modelMetrics: Record<string, unknown> }>('session.usage.getMetrics');
  expect(Object.keys(metrics.modelMetrics)).toEqual([name]);
});

// `__proto__` is no name that a tool may have.
test.each(names.filter((name) => name !== '__proto__'))(
  'a tool with the name %s is called, and a summary can be made of it',
  async (name) => {
    const tool = { name, description: 'Does it', parameters: { type: 'object' }, skipPermission: true };
    const call = callTools({ id: 'c1', name, arguments: { path: 'a.txt' } });
    const { session, model } = await runtime.session([call, say('done'), summary, say('after')], {
      tools: [tool],
      subagents: { agents: {} },
    });
    await session.send('Go');
    const { requestId } = (await session.next('external_tool.requested')).data;
    await session.answerTool(requestId, { result: 'it is done' });
    await session.untilIdle();
    expect(await session.call('session.history.compact')).toMatchObject({ success: true });
    await session.turn('And now');
    expect(JSON.stringify(model.requests[3]?.body.messages)).toContain('We talked about it.');
  },
);

test.each(names)('a canvas with the name %s is open only when it was opened', async (instanceId) => {
  const canvas = { id: 'board', displayName: 'Board', description: 'Shows', actions: [{ name: 'add' }] };
  runtime.client.answer = async () => ({ url: 'https://example.test' });
  const { session } = await runtime.session([], { canvases: [canvas], requestCanvasRenderer: true });
  const closed = `Canvas instance "${instanceId}" is not open`;
  for (const method of ['close', 'action.invoke'])
    expect(
      await session.failure(`session.canvas.${method}`, { instanceId, actionName: 'add' }),
    ).toMatchObject({ message: expect.stringContaining(closed) });
  await session.call('session.canvas.open', { canvasId: 'board', instanceId });
  expect(await session.call('session.canvas.listOpen')).toMatchObject({ openCanvases: [{ instanceId }] });
  await session.call('session.canvas.close', { instanceId });
  expect(await session.call('session.canvas.listOpen')).toEqual({ openCanvases: [] });
});

test.each(names)(
  'a session is not opened as %s, and a session of that id lives and is deleted',
  async (name) => {
    expect(await runtime.client.failure('sessions.open', { kind: name })).toMatchObject({
      message: expect.stringContaining(`cannot be opened as '${name}'`),
    });
    const { session } = await runtime.session([say('hi')], { sessionId: name });
    await session.turn('Hello');
    expect(await runtime.client.call('session.getMetadata', { sessionId: name })).toMatchObject({
      session: { sessionId: name },
    });
    expect(await runtime.client.call('session.delete', { sessionId: name })).toEqual({ success: true });
  },
);

test('variables that are called so are not set, unless they are', async () => {
  const given = names.map((name) => `\${${name}}`).join('');
  const server = { command: 'sh', args: ['-c', 'echo "[$GIVEN]" >&2; exit 1'], env: { GIVEN: given } };
  const { session } = await runtime.session([say('hi')], {
    mcpServers: { srv: server },
    envValueMode: 'indirect',
  });
  await session.turn('Hello');
  expect(await session.call('session.mcp.list')).toMatchObject({
    servers: [{ status: 'failed', error: expect.stringContaining('it wrote: []') }],
  });
});
