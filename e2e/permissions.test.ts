import { type CompletionMessage, callTools, liveRuntime, say, story } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const tools = [{ name: 'pay', description: 'Pays', parameters: { type: 'object' } }];
const pay = (id = 'c1') => callTools({ id, name: 'pay', arguments: { euros: 5 } });
const lastTool = (messages: readonly CompletionMessage[] = []) =>
  messages.findLast(({ role }) => role === 'tool')?.content;

test('a tool of a client is asked for, and runs once it is approved', async () => {
  const { session } = await runtime.session([pay(), say('paid')], { tools });
  await session.send('Pay');
  const { data } = await session.next('permission.requested');
  const request = {
    kind: 'custom-tool',
    toolName: 'pay',
    toolDescription: 'Pays',
    args: { euros: 5 },
    toolCallId: 'c1',
  };
  expect(data).toEqual({
    requestId: expect.any(String),
    permissionRequest: request,
    promptRequest: request,
  });
  expect(await session.call('session.permissions.pendingRequests')).toEqual({
    items: [{ requestId: data.requestId, request }],
  });
  expect(await session.decide(data.requestId, { kind: 'approve-once' })).toEqual({ success: true });
  const asked = await session.next('external_tool.requested');
  await session.answerTool(asked.data.requestId, { result: 'ok' });
  await session.next('session.idle');
  expect(story(session.events).slice(3, 10)).toEqual([
    'assistant.message "" pay#c1',
    'tool.execution_start pay#c1',
    'permission.requested custom-tool',
    'permission.completed approved',
    'external_tool.requested pay#c1',
    'external_tool.completed',
    'tool.execution_complete c1 ok "ok"',
  ]);
  expect(await session.call('session.permissions.pendingRequests')).toEqual({ items: [] });
  expect(await session.decide(data.requestId, { kind: 'reject' })).toEqual({ success: false });
});

const approval = { kind: 'custom-tool', toolName: 'pay' };
const approvals: readonly [object, object][] = [
  [
    { kind: 'approve-for-session', approval },
    { kind: 'approved-for-session', approval },
  ],
  [{ kind: 'approve-for-session' }, { kind: 'approved' }],
  [{ kind: 'approve-for-session', approval: null }, { kind: 'approved' }],
  [
    { kind: 'approve-for-location', approval, locationKey: '/w' },
    { kind: 'approved-for-location', approval, locationKey: '/w' },
  ],
  [{ kind: 'approved' }, { kind: 'approved' }],
];

describe('what lets a call run', () => {
  test.each(approvals)('%j', async (decision, outcome) => {
    const { session } = await runtime.session([pay(), say('paid')], { tools });
    await session.send('Pay');
    const { data } = await session.next('permission.requested');
    await session.decide(data.requestId, decision);
    expect((await session.next('permission.completed')).data).toEqual({
      requestId: data.requestId,
      toolCallId: 'c1',
      result: outcome,
    });
    const asked = await session.next('external_tool.requested');
    await session.answerTool(asked.data.requestId, { result: 'ok' });
    await session.next('session.idle');
  });
});

const rejected = 'The user rejected this tool call.';
const couldNotAsk = 'Permission denied and could not request permission from user';
const noUser = 'denied-no-approval-rule-and-could-not-request-from-user';
const byUser = 'denied-interactively-by-user';
const refusals: readonly [object, object, string][] = [
  [
    { kind: 'reject', feedback: 'Less' },
    { kind: byUser, feedback: 'Less' },
    `${rejected} User feedback: Less`,
  ],
  [{ kind: 'user-not-available' }, { kind: noUser }, couldNotAsk],
  [{ kind: noUser }, { kind: noUser }, couldNotAsk],
  [{ kind: byUser, feedback: 'Less' }, { kind: byUser, feedback: 'Less' }, `${rejected} User feedback: Less`],
  [
    { kind: 'denied-by-rules', rules: [{ kind: 'custom-tool', argument: null }] },
    { kind: 'denied-by-rules', rules: [{ kind: 'custom-tool', argument: null }] },
    'Permission denied by rules',
  ],
  [
    { kind: 'denied-by-content-exclusion-policy', path: '/p', message: 'secret' },
    { kind: 'denied-by-content-exclusion-policy', path: '/p', message: 'secret' },
    'Access to /p is denied by a content exclusion policy: secret',
  ],
];

describe('what denies a call and lets the turn go on', () => {
  test.each(refusals)('%j', async (decision, outcome, text) => {
    const { session, model } = await runtime.session([pay(), say('understood')], { tools });
    await session.send('Pay');
    const { data } = await session.next('permission.requested');
    await session.decide(data.requestId, decision);
    expect((await session.next('permission.completed')).data.result).toEqual(outcome);
    await session.next('session.idle');
    expect(story(session.events)).toContain(`tool.execution_complete c1 denied ${JSON.stringify(text)}`);
    expect(lastTool(model.requests[1]?.body.messages)).toBe(text);
  });
});

describe('what ends the turn at once', () => {
  test.each([{ kind: 'reject' }, { kind: byUser }])('%j', async (decision) => {
    const { session, model } = await runtime.session([pay(), say('never')], { tools });
    await session.send('Pay');
    const { data } = await session.next('permission.requested');
    await session.decide(data.requestId, decision);
    await session.next('session.idle');
    expect(story(session.events).slice(-4)).toEqual([
      `permission.completed ${byUser}`,
      `tool.execution_complete c1 rejected "${rejected}"`,
      'assistant.turn_end 0',
      'session.idle~',
    ]);
    expect(model.requests).toHaveLength(1);
  });
});

test('an approval for the session is not asked for again, by the same tool only', async () => {
  const both = [...tools, { name: 'sell', description: 'Sells' }];
  const sell = callTools({ id: 'c3', name: 'sell', arguments: {} });
  const { session } = await runtime.session([pay(), pay('c2'), sell, say('done')], { tools: both });
  await session.send('Pay twice, then sell');
  const first = await session.next('permission.requested');
  await session.decide(first.data.requestId, { kind: 'approve-for-session', approval });
  for (let i = 0; i < 2; i++) {
    const { data } = await session.next('external_tool.requested');
    await session.answerTool(data.requestId, { result: 'ok' });
  }
  const { data } = await session.next('permission.requested');
  expect(data.permissionRequest).toMatchObject({ toolName: 'sell' });
  await session.decide(data.requestId, { kind: 'reject' });
  await session.next('session.idle');
});

test('a decision of no known kind is an error and leaves the question open', async () => {
  const { session } = await runtime.session([pay(), say('paid')], { tools });
  await session.send('Pay');
  const { data } = await session.next('permission.requested');
  const method = 'session.permissions.handlePendingPermissionRequest';
  for (const kind of ['maybe', 'toString', '__proto__']) {
    const failure = await session.failure(method, { requestId: data.requestId, result: { kind } });
    expect(failure).toMatchObject({
      code: -32603,
      message: expect.stringContaining(`Request ${method} failed with message: Unknown permission decision`),
      data: { code: 'unknown_decision', retryable: false },
    });
  }
  expect(await session.decide(data.requestId, { kind: 'reject' })).toEqual({ success: true });
  await session.next('session.idle');
});

test('when no client answers such questions, the call is denied without a question', async () => {
  const { session, model } = await runtime.session([pay(), say('no')], { tools, requestPermission: false });
  const events = await session.turn('Pay');
  expect(story(events).filter((line) => /permission|external|complete/.test(line))).toEqual([
    `tool.execution_complete c1 denied "${couldNotAsk}"`,
  ]);
  expect(lastTool(model.requests[1]?.body.messages)).toBe(couldNotAsk);
});

test('when everything is approved beforehand, nothing is asked', async () => {
  const { session } = await runtime.session([pay(), say('paid')], { tools, requestPermission: false });
  expect(await session.call('session.permissions.setApproveAll', { enabled: true })).toEqual({
    success: true,
  });
  await session.send('Pay');
  const { data } = await session.next('external_tool.requested');
  await session.answerTool(data.requestId, { result: 'ok' });
  expect(story(await session.untilIdle())).not.toContain('permission.requested custom-tool');
});

test('an answer to an unknown question gets false', async () => {
  const { session } = await runtime.session([]);
  expect(await session.decide('no-such-request', { kind: 'approve-once' })).toEqual({ success: false });
  expect(await session.answerTool('no-such-request', { result: 'x' })).toEqual({ success: false });
});
