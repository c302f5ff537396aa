import { callTools, liveRuntime, providerOf, say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';
import { testServer } from './mcp-world.js';

const runtime = liveRuntime();

test('a form of a server is shown to a client, and its answer goes back to the server', async () => {
  const { session, model } = await runtime.session(
    [callTools({ id: 'c1', name: 'srv-elicit', arguments: {} }), say('done')],
    { mcpServers: { srv: testServer() }, requestElicitation: true },
  );
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.send('Go');
  const { data } = await session.next('elicitation.requested');
  expect(data).toMatchObject({
    message: 'Which colour?',
    mode: 'form',
    elicitationSource: 'srv',
    requestedSchema: { type: 'object', properties: { colour: { type: 'string' } } },
  });
  await session.call('session.ui.handlePendingElicitation', {
    requestId: data.requestId,
    result: { action: 'accept', content: { colour: 'red' } },
  });
  await session.next('session.idle');
  expect(JSON.parse(String((await model.asked(2)).body.messages.at(-1)?.content))).toEqual({
    action: 'accept',
    content: { colour: 'red' },
  });
});

test('a server may ask for no form where no client shows any', async () => {
  const { session, model } = await runtime.session(
    [callTools({ id: 'c1', name: 'srv-elicit', arguments: {} }), say('done')],
    { mcpServers: { srv: testServer() } },
  );
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.turn('Go');
  expect((await model.asked(2)).body.messages.at(-1)?.content).toContain('-32601');
});

test('a server asks the model with permission, and what that took is in the budget', async () => {
  const { session, model } = await runtime.session(
    [callTools({ id: 'c1', name: 'srv-sample', arguments: {} }), say('two'), say('done')],
    { mcpServers: { srv: testServer() }, requestPermission: true },
  );
  await session.send('Go');
  const call = await session.next('permission.requested');
  await session.decide(call.data.requestId, { kind: 'approve-once' });
  const asked = await session.next('permission.requested');
  expect(asked.data.permissionRequest).toMatchObject({
    kind: 'mcp',
    serverName: 'srv',
    toolName: 'sampling/createMessage',
  });
  await session.decide(asked.data.requestId, { kind: 'approve-once' });
  await session.next('session.idle');
  const [, sampled, last] = model.requests;
  expect(sampled?.body.messages.at(-1)).toMatchObject({ role: 'user', content: 'What is 1+1?' });
  expect(sampled?.body.tools ?? []).toEqual([]);
  expect(JSON.parse(String(last?.body.messages.at(-1)?.content))).toMatchObject({
    role: 'assistant',
    content: { type: 'text', text: 'two' },
  });
  const { usage } = await session
    .call<{ usage: { modelMetrics: Record<string, { requests: { count: number } }> } }>(
      'session.usage.getMetrics',
    )
    .then((metrics) => ({ usage: metrics as never }));
  expect(JSON.stringify(usage)).toContain('"count":3');
});

test('a refusal of the user is the answer to a server that asks the model', async () => {
  const { session, model } = await runtime.session(
    [callTools({ id: 'c1', name: 'srv-sample', arguments: {} }), say('done')],
    { mcpServers: { srv: testServer() }, requestPermission: true },
  );
  await session.send('Go');
  const call = await session.next('permission.requested');
  await session.decide(call.data.requestId, { kind: 'approve-once' });
  const asked = await session.next('permission.requested');
  await session.decide(asked.data.requestId, { kind: 'reject', feedback: 'no' });
  await session.next('session.idle');
  expect(model.requests).toHaveLength(2);
  expect(model.requests[1]?.body.messages.at(-1)?.content).toContain('error');
});

describe('a server that asks the model, where a client waits for that', () => {
  const sampling = callTools({ id: 'c1', name: 'srv-sample', arguments: {} });
  const settings = { mcpServers: { srv: testServer() } };
  const text = (words: string) => ({
    role: 'assistant',
    model: 'mine',
    content: { type: 'text', text: words },
  });

  /** A session of this client whose server waits for an answer. */
  async function asked(...replies: Parameters<typeof runtime.session>[0]) {
    const { session, model } = await runtime.session([sampling, ...replies], settings);
    await session.call('session.permissions.setApproveAll', { enabled: true });
    await session.call('session.eventLog.registerInterest', { eventType: 'sampling.requested' });
    await session.send('Go');
    const { data } = await session.next('sampling.requested');
    const answer = (more: object) =>
      session.failure('session.ui.handlePendingSampling', { requestId: data.requestId, ...more });
    return { session, model, data, answer };
  }

  test('reads the answer of the client, the first one, and nothing that is no answer', async () => {
    const { session, model, data, answer } = await asked(say('done'));
    expect(data).toEqual({
      requestId: expect.any(String),
      mcpRequestId: expect.anything(),
      serverName: 'srv',
      request: {
        messages: [{ role: 'user', content: { type: 'text', text: 'What is 1+1?' } }],
        maxTokens: expect.any(Number),
      },
    });
    expect(await session.call('session.questions.pending')).toEqual({
      items: [{ kind: 'sampling', requestId: data.requestId, toolCallId: '', data }],
    });
    for (const response of [
      {},
      { content: 'two' },
      { ...text('two'), role: 'tool' },
      { ...text('x'), model: 1 },
    ])
      expect((await answer({ response })).message).toContain('response.');
    expect(await answer({ response: text('two') })).toEqual({ result: { success: true } });
    expect(await answer({ response: text('three') })).toEqual({ result: { success: false } });
    await session.next('sampling.completed');
    await session.next('session.idle');
    expect(JSON.parse(String(model.requests[1]?.body.messages.at(-1)?.content))).toMatchObject(text('two'));
    expect(model.requests).toHaveLength(2);
  });

  test('reads a refusal', async () => {
    const { session, model, answer } = await asked(say('done'));
    expect(await answer({})).toEqual({ result: { success: true } });
    await session.next('session.idle');
    expect(model.requests[1]?.body.messages.at(-1)?.content).toContain('refused');
  });

  test("the client may have the session's model answer, and pass that on", async () => {
    const { session, model, data, answer } = await asked(say('two'), say('done'));
    const { serverName, mcpRequestId, request, requestId } = data;
    const executed = await session.call<{ action: string; result: object }>('session.mcp.executeSampling', {
      requestId,
      serverName,
      mcpRequestId,
      request,
    });
    expect(executed).toMatchObject({ action: 'success', result: { content: { type: 'text', text: 'two' } } });
    await answer({ response: executed.result });
    await session.next('session.idle');
    expect(JSON.parse(String(model.requests[2]?.body.messages.at(-1)?.content))).toMatchObject({
      content: { type: 'text', text: 'two' },
    });
  });

  test('is asked about again after kill -9, under the same id', async () => {
    const model = runtime.script(sampling, say('done'));
    const process = runtime.spawn({ flags: ['--stdio'] });
    const before = await (await runtime.connect(process)).create({ ...providerOf(model), ...settings });
    await before.call('session.permissions.setApproveAll', { enabled: true });
    await before.call('session.eventLog.registerInterest', { eventType: 'sampling.requested' });
    await before.send('Go');
    const { data } = await before.next('sampling.requested');
    await process.signal('SIGKILL');
    const after = await runtime.client.resume(before.sessionId, {
      ...providerOf(model),
      ...settings,
      continuePendingWork: true,
    });
    expect((await after.next('sampling.requested')).data).toEqual(data);
    const { requestId } = data;
    const answer = () => after.call('session.ui.handlePendingSampling', { requestId, response: text('two') });
    expect([await answer(), await answer()]).toEqual([{ success: true }, { success: false }]);
    await after.next('session.idle');
  });
});

test('resources are listed and read by methods', async () => {
  const { session } = await runtime.session([say('hi')], { mcpServers: { srv: testServer() } });
  await session.turn('Go');
  const serverName = 'srv';
  expect(await session.call('session.mcp.resources.list', { serverName })).toEqual({
    resources: [{ uri: 'file:///a.txt', name: 'a' }],
  });
  expect(await session.call('session.mcp.resources.listTemplates', { serverName })).toEqual({
    resourceTemplates: [{ uriTemplate: 'file:///{x}', name: 'any' }],
  });
  expect(await session.call('session.mcp.resources.read', { serverName, uri: 'file:///a.txt' })).toEqual({
    contents: [{ uri: 'file:///a.txt', text: 'inside' }],
  });
});

test('apps of a server call its tools where the session has them', async () => {
  const mcpServers = { srv: testServer() };
  const params = { serverName: 'srv', originServerName: 'srv', toolName: 'echo', arguments: { a: 1 } };
  const without = await runtime.session([say('hi')], { mcpServers });
  await without.session.turn('Go');
  expect((await without.session.failure('session.mcp.apps.callTool', params)).message).toContain('mcp-apps');
  const { session } = await runtime.session([say('hi')], { mcpServers, requestMcpApps: true });
  await session.turn('Go');
  expect(await session.call('session.mcp.apps.callTool', params)).toEqual({
    content: [{ type: 'text', text: '{"a":1}' }],
  });
  await session.next('mcp_app.tool_call_complete', ({ data }) => data.success && data.toolName === 'echo');
  const other = { ...params, originServerName: 'other' };
  expect((await session.failure('session.mcp.apps.callTool', other)).message).toContain(
    'may not call tools of',
  );
});
