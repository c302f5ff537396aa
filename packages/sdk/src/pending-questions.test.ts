import { expect, test, vi } from 'vitest';
import { StandIn } from '../test/stand-in.js';
import type { ResumeSessionOptions } from './session-options.js';

const sessionId = 's';
const opened = { 'session.resume': () => ({ sessionId, workspacePath: '' }) };

const call = (requestId: string, toolName = 'look') => ({
  kind: 'external_tool',
  requestId,
  toolCallId: `call-${requestId}`,
  data: { requestId, sessionId, toolCallId: `call-${requestId}`, toolName, arguments: {} },
});
const permission = (requestId: string) => ({
  kind: 'permission',
  requestId,
  toolCallId: `call-${requestId}`,
  data: {
    requestId,
    permissionRequest: { kind: 'read', toolCallId: `call-${requestId}`, intention: 'Read', path: '/a' },
  },
});

/** A runtime with these open questions; it lists them on request. */
function asking(items: readonly object[]) {
  let list: () => void = () => undefined;
  const listed = new Promise<void>((resolve) => {
    list = resolve;
  });
  const pending = () => listed.then(() => ({ items }));
  return { runtime: new StandIn({ ...opened, 'session.questions.pending': pending }), list };
}

/** Handlers that answer at once, and which questions they were asked. */
function handlers() {
  const asked: string[] = [];
  const options = {
    continuePendingWork: true,
    tools: [
      {
        name: 'look',
        handler: (_arguments: unknown, { toolCallId }: { readonly toolCallId: string }) => {
          asked.push(toolCallId);
          return 'seen';
        },
      },
    ],
    onPermissionRequest: (_request: unknown, { requestId }: { readonly requestId: string }) => {
      asked.push(requestId);
      return { kind: 'no-result' };
    },
  } satisfies ResumeSessionOptions;
  return { asked, options };
}

test('pending returns the open questions as the runtime lists them', async () => {
  const { runtime, list } = asking([permission('1'), call('2')]);
  list();
  const session = await runtime.client.createSession({ sessionId });
  expect(await session.pending()).toEqual([permission('1'), call('2')]);
});

test('a runtime without a list is asked for its log, which shows what is open', async () => {
  const event = (type: string, data: object, more = {}) => ({ type, data, ...more });
  const asked = (question: { readonly kind: string; readonly data: object }) =>
    event(`${question.kind}.requested`, question.data);
  const events = [
    asked(call('old')),
    event('user.message', { content: 'A new turn' }),
    asked(call('interrupted')),
    event('session.resume', { sessionWasActive: false }),
    asked(call('answered')),
    event('external_tool.completed', { requestId: 'answered' }),
    asked(permission('decided')),
    event('permission.completed', { requestId: 'decided', result: { kind: 'approved' } }),
    asked(call('closed')),
    event('tool.execution_complete', { toolCallId: 'call-closed', success: false }),
    event('permission.requested', { ...permission('by a hook').data, resolvedByHook: true }),
    asked(permission('1')),
    asked(call('2')),
    event('abort', { reason: 'user_initiated' }, { agentId: 'sub' }),
    event('user.message', { content: 'A word', delivery: 'steering' }),
    event('session.resume', { sessionWasActive: false, continuePendingWork: true }),
    event('session.resume', { sessionWasActive: true }),
  ];
  const runtime = new StandIn({ 'session.getMessages': () => ({ events }) });
  const session = await runtime.client.createSession({ sessionId });
  expect(await session.pending()).toEqual([permission('1'), call('2')]);
});

test('a client that continues the work gets each open question once, even if it hears of it as well', async () => {
  const { runtime, list } = asking([call('1'), permission('2'), permission('3'), call('4')]);
  const { asked, options } = handlers();
  await runtime.client.resumeSession(sessionId, options);
  await runtime.send(sessionId, 'external_tool.requested', call('1').data);
  await runtime.send(sessionId, 'permission.requested', permission('2').data);
  expect(asked).toEqual(['call-1', '2']);
  list();
  await runtime.send(sessionId, 'permission.requested', permission('3').data);
  await runtime.send(sessionId, 'external_tool.requested', call('4').data);
  expect(asked).toEqual(['call-1', '2', '3', 'call-4']);
  expect(runtime.requests.slice(2)).toEqual(
    ['1', '4'].map((requestId) => ({
      method: 'session.tools.handlePendingToolCall',
      params: { sessionId, requestId, result: 'seen' },
    })),
  );
});

test('a question that ended while the list was on its way reaches no handler', async () => {
  const { runtime, list } = asking([call('1'), permission('2'), call('3'), call('4')]);
  const { asked, options } = handlers();
  await runtime.client.resumeSession(sessionId, options);
  await runtime.send(sessionId, 'external_tool.completed', { requestId: '1' });
  await runtime.send(sessionId, 'permission.completed', { requestId: '2', result: { kind: 'approved' } });
  await runtime.send(sessionId, 'tool.execution_complete', { toolCallId: 'call-3', success: true });
  list();
  await runtime.send(sessionId, 'session.info', {});
  await vi.waitFor(() => expect(asked).toEqual(['call-4']));
});

test('a client that does not continue the work asks for no list', async () => {
  const { runtime, list } = asking([call('1')]);
  list();
  const { asked, options } = handlers();
  await runtime.client.resumeSession(sessionId, { ...options, continuePendingWork: false });
  await runtime.send(sessionId, 'session.info', {});
  expect(asked).toEqual([]);
  expect(runtime.requests.map(({ method }) => method)).toEqual(['session.resume']);
});

test('what this client cannot answer is left to others', async () => {
  const { runtime, list } = asking([permission('1'), call('2'), call('3', 'declared')]);
  list();
  const tools = [{ name: 'declared' }];
  await runtime.client.resumeSession(sessionId, { continuePendingWork: true, tools });
  await runtime.send(sessionId, 'session.info', {});
  expect(runtime.requests.map(({ method }) => method)).toEqual([
    'session.resume',
    'session.questions.pending',
  ]);
});

test('a question that the app is answering already is not put to its newer handlers', async () => {
  const { runtime, list } = asking([call('1'), permission('2')]);
  const old = await runtime.client.createSession({
    sessionId,
    tools: [{ name: 'look', handler: () => new Promise(() => undefined) }],
  });
  await runtime.send(sessionId, 'external_tool.requested', call('1').data);
  const { asked, options } = handlers();
  await runtime.client.resumeSession(sessionId, options);
  list();
  await runtime.send(sessionId, 'session.info', {});
  await vi.waitFor(() => expect(asked).toEqual(['2']));
  await old.disconnect();
});

test('a list that is refused is reported, and the session works', async () => {
  const refused = () => {
    throw new Error('not now');
  };
  const runtime = new StandIn({ ...opened, 'session.questions.pending': refused });
  const { asked, options } = handlers();
  await runtime.client.resumeSession(sessionId, options);
  await runtime.send(sessionId, 'permission.requested', permission('1').data);
  expect(asked).toEqual(['1']);
  await vi.waitFor(() =>
    expect(runtime.failures).toMatchObject([
      { handler: 'callback', name: 'session.questions.pending', sessionId, error: { message: 'not now' } },
    ]),
  );
});
