import { callTools, liveRuntime, say, story } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const look = callTools({ id: 'c1', name: 'look', arguments: {} });
const names = (tools: readonly { readonly function: { readonly name: string } }[] = []) =>
  tools.map((tool) => tool.function.name).filter((name) => ['look', 'hear', 'smell'].includes(name));

describe('null is the same as nothing', () => {
  test('in a provider, tools, the system message and limits of create', async () => {
    const model = runtime.script(look, say('seen'));
    const session = await runtime.client.create({
      sessionId: null,
      model: 'scripted',
      provider: {
        type: null,
        wireApi: null,
        baseUrl: model.baseUrl,
        apiKey: null,
        bearerToken: 'b',
        headers: null,
        azure: null,
      },
      tools: [
        {
          name: 'look',
          description: null,
          parameters: null,
          skipPermission: true,
          overridesBuiltInTool: null,
        },
      ],
      systemMessage: { mode: null, content: null, sections: null },
      infiniteSessions: { enabled: null, backgroundCompactionThreshold: null },
      defaultAgent: { excludedTools: null },
      traceparent: null,
      configDir: null,
    });
    await session.send('Look');
    const { data } = await session.next('external_tool.requested');
    const nothing = {
      error: null,
      binaryResultsForLlm: null,
      sessionLog: null,
      toolTelemetry: null,
      contents: null,
    };
    await session.answerTool(data.requestId, {
      error: null,
      result: { textResultForLlm: 'T', resultType: null, ...nothing },
    });
    await session.next('session.idle');
    expect(story(session.events)).toContain('tool.execution_complete c1 ok "T"');
    expect(model.requests[0]?.headers.authorization).toBe('Bearer b');
  });

  test('in headers of send and in names of attachments', async () => {
    const { session } = await runtime.session([say('ok')]);
    const file = { type: 'file', path: 'x.txt', displayName: null };
    const blob = { type: 'blob', mimeType: 'text/plain', data: '', displayName: null };
    const nothing = { requestHeaders: null, displayPrompt: null, source: null };
    await session.turn('Look', { attachments: [file, blob], ...nothing });
    const message = session.events.find(({ type }) => type === 'user.message');
    expect(message?.data).toMatchObject({ attachments: [{ displayName: 'x.txt' }, { type: 'blob' }] });
  });

  test('in every other field of an attachment', async () => {
    const { session } = await runtime.session([say('ok')]);
    const file = { type: 'file', path: 'x.txt', lineRange: null, mimeType: null };
    await session.turn('Look', { attachments: [file] });
  });

  test('in decisions and filters', async () => {
    const { session } = await runtime.session([look, say('ok')], { tools: [{ name: 'look' }] });
    await session.send('Look');
    const { data } = await session.next('permission.requested');
    await session.call('session.permissions.handlePendingPermissionRequest', {
      requestId: data.requestId,
      result: { kind: 'reject', feedback: null },
      decisionContext: null,
    });
    expect((await session.next('permission.completed')).data.result).toEqual({
      kind: 'denied-interactively-by-user',
    });
    await session.next('session.idle');
    expect(await runtime.client.call('session.list', { filter: null })).toHaveProperty('sessions');
    expect(await runtime.client.call('session.list', { filter: { cwd: null, branch: null } })).toHaveProperty(
      'sessions',
    );
  });
});

describe('tool filters', () => {
  const tools = ['look', 'hear', 'smell'].map((name) => ({ name, skipPermission: true }));
  test.each([
    [
      'without a precedence, exclusion is ignored beside a choice',
      { toolFilterPrecedence: null, availableTools: ['look'], excludedTools: ['hear'] },
      ['look', 'hear', 'smell'],
    ],
    [
      'without a precedence, exclusion alone counts',
      { toolFilterPrecedence: null, excludedTools: ['hear'] },
      ['look', 'smell'],
    ],
    [
      'with it, exclusion wins',
      { availableTools: ['hear'], excludedTools: ['hear', 'custom:smell'] },
      ['look'],
    ],
    ['a whole source can be left out', { excludedTools: ['custom:*'] }, []],
    ['tools of clients stay for an empty choice', { availableTools: [] }, ['look', 'hear', 'smell']],
    ['some are hidden from the main agent', { defaultAgent: { excludedTools: ['look'] } }, ['hear', 'smell']],
  ])('%s', async (_name, params, expected) => {
    const { session, model } = await runtime.session([say('ok')], { tools, ...params });
    await session.turn('Hello');
    expect(names(model.requests[0]?.body.tools)).toEqual(expected);
  });
});

test('idle events say nothing but that a turn was aborted', async () => {
  const { session } = await runtime.session([say('ok'), look], {
    tools: [{ name: 'look', skipPermission: true }],
  });
  await session.turn('Hello');
  await session.send('Look');
  await session.next('external_tool.requested');
  await session.call('session.abort');
  await session.next('session.idle');
  const idles = session.events.filter(({ type }) => type === 'session.idle').map(({ data }) => data);
  expect(idles).toEqual([{}, { aborted: true }]);
});
