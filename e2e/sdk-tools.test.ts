import { once } from 'node:events';
import {
  approveAll,
  defineTool,
  PermissionHandler,
  type SessionEvent,
  type Tool,
  type ToolInvocation,
} from '@groundcrew/sdk';
import { type CompletionMessage, callTools, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { deferred, sdkWorld } from './sdk-world.js';

const world = sdkWorld();

/** Lets the model call one tool with these arguments, and returns what the model got. */
async function resultOf(tool: Tool, given: unknown = {}): Promise<CompletionMessage['content']> {
  const replies = [callTools({ id: 'call-1', name: tool.name, arguments: given }), say('done')];
  const { session, model } = await world.session(replies, { tools: [{ ...tool, skipPermission: true }] });
  await session.sendAndWait('go');
  return (await model.asked(2)).body.messages.at(-1)?.content;
}

test('a tool from a zod schema gets checked arguments, and its schema reaches the model', async () => {
  const calls: unknown[] = [];
  const add = defineTool('add', {
    description: 'Adds',
    parameters: z.object({ a: z.number(), b: z.number().default(1) }),
    handler: ({ a, b }, invocation) => {
      calls.push(invocation);
      return a + b;
    },
    skipPermission: true,
  });
  const replies = [callTools({ id: 'call-1', name: 'add', arguments: { a: 2 } }), say('3')];
  const { session, model } = await world.session(replies, { tools: [add] });
  await session.sendAndWait('2+1?');
  const [first, second] = model.requests.map(({ body }) => body);
  const declared = first?.tools?.map((tool) => tool.function).find(({ name }) => name === 'add');
  expect(declared).toEqual({
    name: 'add',
    description: 'Adds',
    parameters: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number', default: 1 } },
      required: ['a'],
    },
  });
  expect(second?.messages.at(-1)).toMatchObject({ role: 'tool', content: '3' });
  expect(calls).toEqual([
    {
      sessionId: session.sessionId,
      toolCallId: 'call-1',
      toolName: 'add',
      arguments: { a: 2 },
      workingDirectory: world.workingDirectory,
    } satisfies ToolInvocation,
  ]);
});

test('arguments that do not fit are reported to the model, and the handler does not run', async () => {
  const tool = defineTool('strict', {
    parameters: z.object({ city: z.string() }),
    handler: () => {
      throw new Error('must not run');
    },
  });
  expect(await resultOf(tool, { city: 3 })).toBe(
    'Invalid arguments for tool strict: city: Invalid input: expected string, received number',
  );
});

test('a tool from a JSON Schema knows the types of its arguments', async () => {
  const tool = defineTool('weather', {
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'array', items: { type: 'integer' } } },
      required: ['city'],
    },
    handler: ({ city, days }) => `${city.toUpperCase()} ${days?.map((day) => day + 1).join()}`,
  });
  expect(await resultOf(tool, { city: 'Ulm', days: [1, 2] })).toBe('ULM 2,3');
});

test.each<[string, unknown, string]>([
  ['a text', 'plain', 'plain'],
  ['an object', { answer: 42 }, '{"answer":42}'],
  ['null', null, 'null'],
  ['a full result', { textResultForLlm: 'full', resultType: 'success' }, 'full'],
  ['a deliberate failure', { textResultForLlm: 'no luck', resultType: 'failure', error: 'E' }, 'no luck'],
  ['nothing', undefined, 'Tool returned no result.'],
])('a handler may return %s', async (_what, returned, seen) => {
  expect(await resultOf(defineTool('any', { parameters: {}, handler: async () => returned }))).toBe(seen);
});

test('what a handler throws is kept from the model and reported to the app', async () => {
  const tool = defineTool('broken', {
    parameters: {},
    handler: () => {
      throw new Error('secret reason');
    },
  });
  const seen = await resultOf(tool);
  expect(seen).toContain('Tool execution failed');
  expect(seen).not.toContain('secret reason');
  expect(world.failures.splice(0).map(({ handler, name, error }) => [handler, name, error.message])).toEqual([
    ['tool', 'broken', 'secret reason'],
  ]);
});

test('what JSON cannot hold is a failure, not a crash', async () => {
  const loop: { self?: unknown } = {};
  loop.self = loop;
  expect(await resultOf({ name: 'circular', handler: () => loop })).toContain('Tool execution failed');
  expect(world.failures.splice(0)).toMatchObject([{ handler: 'tool', name: 'circular' }]);
});

test('a tool without a handler is declared, and left to others', async () => {
  const replies = [callTools({ id: 'c', name: 'elsewhere', arguments: {} }), say('done')];
  const { session, model } = await world.session(replies, {
    tools: [defineTool('elsewhere', { parameters: {}, skipPermission: true })],
  });
  session.on('external_tool.requested', ({ data }) =>
    session.call('session.tools.handlePendingToolCall', { requestId: data.requestId, result: 'by hand' }),
  );
  await session.sendAndWait('go');
  expect((await model.asked(2)).body.messages.at(-1)?.content).toBe('by hand');
});

test('the signal of a tool fires when the turn is aborted, and its late answer is dropped', async () => {
  const started = deferred<AbortSignal>();
  const finished = deferred<string>();
  const slow: Tool = {
    name: 'slow',
    skipPermission: true,
    handler: (_args, _invocation, signal) => {
      started.resolve(signal);
      return finished.promise;
    },
  };
  const replies = [callTools({ id: 'c', name: 'slow', arguments: {} }), say('next')];
  const { session } = await world.session(replies, { tools: [slow] });
  const wait = session.sendAndWait('go');
  const signal = await started.promise;
  const fired = once(signal, 'abort');
  await session.abort();
  await fired;
  await wait;
  finished.resolve('too late');
  expect((signal.reason as Error).name).toBe('AbortError');
  expect((await session.sendAndWait('on'))?.data.content).toBe('next');
});

test('questions are answered before handlers of the app hear of them', async () => {
  const order: string[] = [];
  const replies = [callTools({ id: 'c', name: 'ordered', arguments: {} }), say('done')];
  const { session } = await world.session(replies, {
    tools: [{ name: 'ordered', handler: () => order.push('tool') }],
    onPermissionRequest: (request) => {
      order.push(`permission ${request.kind}`);
      return { kind: 'approve-once' };
    },
    onEvent: ({ type }: SessionEvent) => {
      if (/^(permission|external_tool)\.requested$/.test(type)) order.push(type);
    },
  });
  await session.sendAndWait('go');
  expect(order).toEqual([
    'permission custom-tool',
    'permission.requested',
    'tool',
    'external_tool.requested',
  ]);
});

/** How the call of a tool that needs permission ended. */
async function outcomeWith(onPermissionRequest?: PermissionHandler): Promise<unknown> {
  const replies = [callTools({ id: 'c', name: 'guarded', arguments: {} }), say('done')];
  const { session } = await world.session(replies, {
    tools: [{ name: 'guarded', handler: () => 'ran' }],
    ...(onPermissionRequest && { onPermissionRequest }),
  });
  await session.sendAndWait('go');
  const events = await session.getEvents();
  const [complete] = events.flatMap((event) =>
    event.type === 'tool.execution_complete' ? [event.data] : [],
  );
  return complete?.success ? complete.result?.content : complete?.error;
}

test('approveAll lets a tool run', async () => {
  expect(await outcomeWith(approveAll)).toBe('ran');
  expect(await outcomeWith(PermissionHandler.approveKinds('custom-tool'))).toBe('ran');
});

test('a rejection keeps it from running', async () => {
  expect(await outcomeWith(PermissionHandler.rejectAll())).toEqual({
    code: 'rejected',
    message: 'The user rejected this tool call.',
  });
  expect(await outcomeWith(PermissionHandler.approveKinds('read'))).toEqual({
    code: 'denied',
    message: 'The user rejected this tool call. User feedback: custom-tool is not permitted here',
  });
});

const couldNotAsk = {
  code: 'denied',
  message: 'Permission denied and could not request permission from user',
};

test('with no client to ask, the answer is no', async () => {
  expect(await outcomeWith()).toEqual(couldNotAsk);
});

test('a permission handler that throws denies', async () => {
  const handler: PermissionHandler = () => {
    throw new Error('no dialogue');
  };
  expect(await outcomeWith(handler)).toEqual(couldNotAsk);
  expect(await outcomeWith(async (...question) => handler(...question))).toEqual(couldNotAsk);
  expect(world.failures.splice(0).map(({ handler, error }) => [handler, error.message])).toEqual([
    ['permission', 'no dialogue'],
    ['permission', 'no dialogue'],
  ]);
});

test('a decision that cannot be read denies', async () => {
  expect(await outcomeWith((() => ({ kind: 'perhaps' })) as unknown as PermissionHandler)).toEqual(
    couldNotAsk,
  );
  expect(await outcomeWith((() => undefined) as unknown as PermissionHandler)).toEqual(couldNotAsk);
  expect(world.failures.splice(0).map(({ handler, name }) => [handler, name])).toEqual([
    ['permission', 'perhaps'],
    ['permission', 'custom-tool'],
  ]);
});

test('the trace of the app is sent to the runtime, and by it to tools', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const client = world.newClient({ getTraceContext: async () => ({ traceparent, tracestate: 'a=b' }) });
  const seen: ToolInvocation[] = [];
  const replies = [callTools({ id: 'c', name: 'traced', arguments: {} }), say('done')];
  const tools = [
    { name: 'traced', skipPermission: true, handler: (_: unknown, i: ToolInvocation) => seen.push(i) },
  ];
  const { session } = await world.session(replies, { tools }, client);
  await session.sendAndWait('go');
  expect(seen).toMatchObject([{ traceparent, tracestate: 'a=b' }]);
});

test('a trace that cannot be sent stops nothing', async () => {
  const client = world.newClient({
    getTraceContext: () => {
      throw new Error('no tracer');
    },
  });
  const { session } = await world.session([say('fine')], {}, client);
  expect((await session.sendAndWait('hi'))?.data.content).toBe('fine');
  expect(world.failures.splice(0).map(({ handler, error }) => [handler, error.message])).toEqual([
    ['trace', 'no tracer'],
    ['trace', 'no tracer'],
  ]);
});

test('arguments that break the schema of a zod tool fail before anyone is asked', async () => {
  const asked: string[] = [];
  const runs: unknown[] = [];
  const pay = defineTool('pay', {
    parameters: z.object({
      amount: z.coerce.number(),
      to: z.string().refine((to) => to !== 'nobody', 'is nobody'),
    }),
    handler: (given) => {
      runs.push(given);
      return 'paid';
    },
  });
  const given = [
    { amount: 'much', to: 'Ada' },
    { amount: 5 },
    { amount: 5, to: 'nobody' },
    { amount: '5', to: 'Ada' },
  ];
  const calls = given.map((each, index) => ({ id: `c${index}`, name: 'pay', arguments: each }));
  const { session, model } = await world.session([callTools(...calls), say('done')], {
    tools: [pay],
    onPermissionRequest: ({ toolCallId = '' }) => {
      asked.push(toolCallId);
      return { kind: 'approve-once' };
    },
  });
  await session.sendAndWait('Pay');
  expect([asked, runs]).toEqual([['c3'], [{ amount: 5, to: 'Ada' }]]);
  const events = await session.getEvents();
  expect(events.filter(({ type }) => type === 'permission.requested')).toHaveLength(1);
  expect((await model.asked(2)).body.messages.slice(-4)).toMatchObject([
    { content: expect.stringMatching(/^Invalid arguments for tool pay: amount: /) },
    { content: expect.stringMatching(/^Invalid arguments for tool pay: to: /) },
    { content: 'Invalid arguments for tool pay: to: is nobody' },
    { content: 'paid' },
  ]);
});

test('a schema that cannot check leaves the question as it was', async () => {
  const parameters = z.object({
    a: z.string().refine(() => {
      throw new Error('no check');
    }),
  });
  const tool = defineTool('odd', { parameters, handler: () => 'never' });
  const asked: string[] = [];
  const { session } = await world.session(
    [callTools({ id: 'c', name: 'odd', arguments: { a: 'x' } }), say('done')],
    {
      tools: [tool],
      onPermissionRequest: ({ kind }) => {
        asked.push(kind);
        return { kind: 'reject', feedback: 'no' };
      },
    },
  );
  await session.sendAndWait('go');
  expect(asked).toEqual(['custom-tool']);
  expect(world.failures.splice(0)).toMatchObject([{ handler: 'callback', name: 'toolArguments.check' }]);
});

test.each(['createSession', 'resumeSession'] as const)(
  '%s refuses two tools of one name, and a tool named like a built-in one',
  async (method) => {
    const { session } = await world.session([]);
    const open = (...tools: readonly Tool[]) =>
      method === 'createSession'
        ? world.client.createSession({ tools })
        : world.client.resumeSession(session.sessionId, { tools });
    await expect(open({ name: 'same' }, { name: 'other' }, { name: 'same' })).rejects.toMatchObject({
      kind: 'invalid_option',
      message: 'Two tools are named same: each tool needs a name of its own',
    });
    await expect(open({ name: 'grep' })).rejects.toMatchObject({
      kind: 'invalid_option',
      message:
        'The tool grep has the name of a built-in tool: choose another, or set overridesBuiltInTool: true to take its place',
    });
    expect((await open({ name: 'grep', overridesBuiltInTool: true })).sessionId).toBeTruthy();
  },
);
