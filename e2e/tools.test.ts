import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CompletionMessage, callTools, liveRuntime, say, story } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const add = { name: 'add', description: 'Adds', parameters: { type: 'object' }, skipPermission: true };
const call = (id: string, name = 'add', args: unknown = { a: 1 }) => ({ id, name, arguments: args });
const toolMessages = (messages: readonly CompletionMessage[] = []) =>
  messages.flatMap(({ role, tool_call_id, content }) => (role === 'tool' ? [[tool_call_id, content]] : []));

test('a tool round is published in the order of the protocol', async () => {
  const { session, model } = await runtime.session([callTools(call('c1')), say('2')], { tools: [add] });
  await session.send('Add');
  const asked = await session.next('external_tool.requested');
  expect(asked.data).toEqual({
    requestId: expect.any(String),
    sessionId: session.sessionId,
    toolCallId: 'c1',
    toolName: 'add',
    arguments: { a: 1 },
    workingDirectory: runtime.workingDirectory,
  });
  const before = runtime.client.frames.length;
  expect(await session.answerTool(asked.data.requestId, { result: 'two' })).toEqual({ success: true });
  expect(runtime.client.order(before).filter((line) => /^(reply|external)/.test(line))).toEqual([
    'external_tool.completed',
    'reply session.tools.handlePendingToolCall',
  ]);
  await session.next('session.idle');
  expect(story(session.events)).toEqual([
    'session.start',
    'user.message "Add" idle 0',
    'assistant.turn_start 0',
    'assistant.message "" add#c1',
    'tool.execution_start add#c1',
    'external_tool.requested add#c1',
    'external_tool.completed',
    'tool.execution_complete c1 ok "two"',
    'assistant.turn_end 0',
    'assistant.turn_start 1',
    'assistant.message "2"',
    'assistant.turn_end 1',
    'session.idle~',
  ]);
  expect(model.requests[1]?.body.messages.slice(-2)).toMatchObject([
    { role: 'assistant', content: null, tool_calls: [{ id: 'c1', function: { name: 'add' } }] },
    { role: 'tool', tool_call_id: 'c1', content: 'two' },
  ]);
  expect(await session.answerTool(asked.data.requestId, { result: 'late' })).toEqual({ success: false });
});

test('calls of one message run side by side and may be answered in any order', async () => {
  const calls = callTools(call('c1'), call('c2'), call('c3'));
  const { session, model } = await runtime.session([calls, say('done')], { tools: [add] });
  await session.send('Add thrice');
  const asked = [];
  for (let i = 0; i < 3; i++) asked.push((await session.next('external_tool.requested')).data);
  const starts = story(session.events).filter((line) => /^(tool\.execution_start|external)/.test(line));
  expect(starts.map((line) => line.split(' ')[0])).toEqual([
    ...Array(3).fill('tool.execution_start'),
    ...Array(3).fill('external_tool.requested'),
  ]);
  for (const { requestId, toolCallId } of asked.reverse())
    await session.answerTool(requestId, { result: `result of ${toolCallId}` });
  await session.next('session.idle');
  const done = story(session.events).filter((line) => line.startsWith('tool.execution_complete'));
  expect(done.map((line) => line.split(' ')[1])).toEqual(['c3', 'c2', 'c1']);
  expect(toolMessages(model.requests[1]?.body.messages)).toEqual([
    ['c1', 'result of c1'],
    ['c2', 'result of c2'],
    ['c3', 'result of c3'],
  ]);
});

const failed =
  'Failed to execute `add` tool with arguments: {"a":1} due to error: Error: Tool execution failed';
const shapes: readonly [string, object, string, string][] = [
  ['a plain text', { result: 'plain' }, 'ok "plain"', 'plain'],
  ['an empty text', { result: '' }, 'ok ""', ''],
  ['nothing', {}, 'ok ""', ''],
  ['null for both', { result: null, error: null }, 'ok ""', ''],
  ['a success', { result: { textResultForLlm: 'T', resultType: 'success' } }, 'ok "T"', 'T'],
  ['a failure', { result: { textResultForLlm: 'T', resultType: 'failure', error: 'E' } }, 'failure "E"', 'T'],
  ['a denial', { result: { textResultForLlm: 'T', resultType: 'denied' } }, 'denied "T"', 'T'],
  ['a timeout', { result: { textResultForLlm: 'T', resultType: 'timeout' } }, 'timeout "T"', 'T'],
  ['an error', { error: 'boom' }, 'failure "Tool execution failed"', failed],
];

describe('what a client answers reaches other clients and the model', () => {
  test.each(shapes)('%s', async (_name, given, receipt, text) => {
    const { session, model } = await runtime.session([callTools(call('c1')), say('ok')], { tools: [add] });
    await session.send('Add');
    const { data } = await session.next('external_tool.requested');
    expect(await session.answerTool(data.requestId, given)).toEqual({ success: true });
    await session.next('session.idle');
    expect(story(session.events)).toContain(`tool.execution_complete c1 ${receipt}`);
    expect(toolMessages(model.requests[1]?.body.messages)).toEqual([['c1', text]]);
    expect(JSON.stringify(session.events)).not.toContain('boom');
  });
});

test('a rejected result ends the turn without another model call', async () => {
  const { session, model } = await runtime.session([callTools(call('c1')), say('later')], { tools: [add] });
  await session.send('Add');
  const { data } = await session.next('external_tool.requested');
  await session.answerTool(data.requestId, { result: { textResultForLlm: 'No', resultType: 'rejected' } });
  await session.next('session.idle');
  expect(story(session.events).slice(-3)).toEqual([
    'tool.execution_complete c1 rejected "No"',
    'assistant.turn_end 0',
    'session.idle~',
  ]);
  expect(model.requests).toHaveLength(1);
  await session.turn('Go on');
  expect(toolMessages(model.requests[1]?.body.messages)).toEqual([['c1', 'No']]);
});

test('images of a result reach the model after it, logs and telemetry reach clients', async () => {
  const { session, model } = await runtime.session([callTools(call('c1')), say('nice')], { tools: [add] });
  await session.send('Draw');
  const { data } = await session.next('external_tool.requested');
  const binaryResultsForLlm = [{ type: 'image', data: 'aGk=', mimeType: 'image/png', description: 'a dot' }];
  const result = {
    textResultForLlm: 'drawn',
    resultType: 'success',
    sessionLog: 'drew a dot',
    toolTelemetry: { properties: { ink: 'black' } },
    binaryResultsForLlm,
  };
  await session.answerTool(data.requestId, { result });
  const { data: done } = await session.next('tool.execution_complete');
  expect(done).toMatchObject({
    success: true,
    result: { content: 'drawn', detailedContent: 'drew a dot' },
    toolTelemetry: { properties: { ink: 'black' } },
  });
  await session.next('session.idle');
  expect(model.requests[1]?.body.messages.slice(-2)).toMatchObject([
    { role: 'tool', tool_call_id: 'c1', content: 'drawn' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a dot' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
      ],
    },
  ]);
});

test('an unknown tool, and arguments that are no JSON, are reported to the model without a question', async () => {
  const calls = callTools(call('c1', 'nope'), call('c2', 'add', '{bad json'));
  const { session, model } = await runtime.session([calls, say('sorry')], { tools: [add] });
  const events = await session.turn('Try');
  expect(story(events).filter((line) => /^(tool\.execution_c|external|permission)/.test(line))).toEqual([
    'tool.execution_complete c1 failure "Tool \'nope\' does not exist."',
    expect.stringContaining("The arguments for the tool call 'add' were not valid JSON."),
  ]);
  expect(toolMessages(model.requests[1]?.body.messages)).toEqual([
    [
      'c1',
      expect.stringMatching(
        /^Tool 'nope' does not exist\. Available tools that can be called are .*\badd\.$/,
      ),
    ],
    [
      'c2',
      expect.stringContaining('The arguments have been cleared. Arguments: {bad json. JSON parse error: '),
    ],
  ]);
});

test('of a call that could not even be tried, the model reads the beginning of what it wrote', async () => {
  const pattern = 'x'.repeat(900_000);
  const { session, model } = await runtime.session([callTools(call('c1', 'grep', { pattern })), say('done')]);
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.send('Go');
  await session.next('session.idle');
  expect(toolMessages(model.requests[1]?.body.messages)).toEqual([
    [
      'c1',
      `Failed to execute \`grep\` tool with arguments: {"pattern":"${'x'.repeat(1988)}… due to error: Error: spawn E2BIG`,
    ],
  ]);
});

test('a model that uses one call id in two rounds still gets a valid history', async () => {
  const replies = [callTools(call('c1')), callTools(call('c1')), say('done')];
  const { session, model } = await runtime.session(replies, { tools: [add] });
  await session.send('Add twice');
  for (const result of ['one', 'two']) {
    const { data } = await session.next('external_tool.requested');
    await session.answerTool(data.requestId, { result });
  }
  await session.next('session.idle');
  expect(toolMessages(model.requests[2]?.body.messages).map(([, content]) => content)).toEqual([
    'one',
    'two',
  ]);
});

test('odd texts in arguments and results arrive unharmed', async () => {
  const odd = 'line\u2028 sep \ud83d\ude80 "q" \\ \n \u0000 end';
  const { session, model } = await runtime.session([callTools(call('c1', 'add', { odd })), say('k')], {
    tools: [add],
  });
  await session.send('Odd');
  const { data } = await session.next('external_tool.requested');
  expect(data.arguments).toEqual({ odd });
  await session.answerTool(data.requestId, { result: odd });
  await session.next('session.idle');
  expect(toolMessages(model.requests[1]?.body.messages)).toEqual([['c1', odd]]);
});

describe('the tools there are', () => {
  test('are listed without a session, each with its parameters', async () => {
    const { tools } = await runtime.client.call<{
      tools: { name: string; description: string; parameters: { type: string } }[];
    }>('tools.list', { model: 'any' });
    expect(tools.map(({ name }) => name)).toEqual([
      'bash',
      'read_bash',
      'stop_bash',
      'list_bash',
      'view',
      'create',
      'edit',
      'web_fetch',
      'ask_user',
      'sql',
      'grep',
      'glob',
      'recall',
    ]);
    expect(
      tools.every(({ description, parameters }) => description !== '' && parameters.type === 'object'),
    ).toBe(true);
  });

  test('are put together on demand, and a clash of names is reported before a turn', async () => {
    const { session } = await runtime.session([], { tools: [add] });
    expect(await session.call('session.tools.getCurrentMetadata')).toEqual({ tools: null });
    expect(await session.call('session.tools.initializeAndValidate')).toEqual({});
    const { tools } = (await session.call('session.tools.getCurrentMetadata')) as {
      tools: { name: string }[];
    };
    expect(tools.at(-1)).toEqual({ name: 'add', description: add.description, input_schema: add.parameters });
    const { session: clashing } = await runtime.session([], { tools: [{ ...add, name: 'grep' }] });
    expect(await clashing.failure('session.tools.initializeAndValidate')).toEqual({
      code: -32603,
      message:
        'Request session.tools.initializeAndValidate failed with message: External tool "grep" conflicts with a built-in tool of the same name. Set overridesBuiltInTool: true to explicitly override it.',
    });
  });

  test('of an app take the place of built-in ones when it says so', async () => {
    const grep = { ...add, name: 'grep', overridesBuiltInTool: true };
    const { session, model } = await runtime.session([callTools(call('c1', 'grep')), say('done')], {
      tools: [grep],
    });
    await session.send('Go');
    const { data } = await session.next('external_tool.requested');
    await session.answerTool(data.requestId, { result: 'mine' });
    await session.next('session.idle');
    const names = model.requests[0]?.body.tools?.map((tool) => tool.function.name);
    expect(names?.filter((name) => name === 'grep')).toHaveLength(1);
    expect(names?.at(-1)).toBe('grep');
    expect(toolMessages(model.requests[1]?.body.messages)).toEqual([['c1', 'mine']]);
  });

  test('do not ask where the app has switched that off', async () => {
    const { session, model } = await runtime.session([say('one'), say('two')], { requestUserInput: true });
    await session.turn('Go');
    await session.call('session.options.update', { askUserDisabled: true });
    await session.turn('Go on');
    const has = model.requests.map(({ body }) =>
      body.tools?.some((tool) => tool.function.name === 'ask_user'),
    );
    expect(has).toEqual([true, false]);
  });
});

test('pictures reach only a model that the app, or its service, says can see them', async () => {
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  writeFileSync(join(runtime.workingDirectory, 'pixel.png'), Buffer.from(pixel, 'base64'));
  const look = callTools(call('c1', 'view', { path: 'pixel.png' }));
  const { session, model } = await runtime.session([look, say('blind'), say('seen'), say('blind again')], {
    modelCapabilities: { supports: { vision: false } },
  });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  const see = (vision: boolean) =>
    session.call('session.model.switchTo', {
      modelId: 'scripted',
      modelCapabilities: { supports: { vision } },
    });
  await session.turn('Look');
  await see(true);
  await session.turn('And now?');
  await see(false);
  await session.turn('Still?');
  const shown = model.requests.map(({ body }) => JSON.stringify(body.messages).includes('image_url'));
  expect(shown).toEqual([false, false, true, false]);
});
