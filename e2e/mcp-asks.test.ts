import { callTools, liveRuntime, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
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
