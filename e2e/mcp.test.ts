import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, providerOf, type ScriptedReply, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { closedPort, isAlive, type ServerScript, testServer, until } from './mcp-world.js';

const runtime = liveRuntime();

interface Listed {
  readonly servers: readonly { readonly name: string; readonly status: string; readonly error?: string }[];
}

/** A session with servers, in which everything is approved. */
async function sessionWith(
  mcpServers: Readonly<Record<string, object>>,
  replies: readonly ScriptedReply[],
  params: object = {},
) {
  const { session, model } = await runtime.session(replies, { mcpServers, ...params });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  return { session, model };
}

/** What the model read of the only call of a turn. */
async function resultOf(name: string, args: object, script: ServerScript = {}, config: object = {}) {
  const { session, model } = await sessionWith({ srv: testServer(script, config) }, [
    callTools({ id: 'c1', name: `srv-${name}`, arguments: args }),
    say('done'),
  ]);
  const events = await session.turn('Go');
  const complete = events.find(({ type }) => type === 'tool.execution_complete');
  const { messages } = (await model.asked(2)).body;
  return {
    text: messages.at(-1)?.content,
    complete: complete?.data as Record<string, unknown>,
    events,
    session,
  };
}

test('servers start at the first turn, say so, and their tools are offered and called', async () => {
  const { session, model } = await sessionWith({ srv: testServer({ tools: ['echo', 'pid'] }) }, [
    callTools({ id: 'c1', name: 'srv-echo', arguments: { a: 1 } }),
    say('done'),
  ]);
  const events = await session.turn('Go');
  const published = events.filter(({ type }) => type.startsWith('session.mcp') || type === 'user.message');
  expect(published.map(({ type, data }) => [type, (data as { status?: string }).status])).toEqual([
    ['session.mcp_server_status_changed', 'connected'],
    ['session.mcp_servers_loaded', undefined],
    ['user.message', undefined],
  ]);
  expect(published[1]?.data).toEqual({
    servers: [{ name: 'srv', status: 'connected', source: 'user', transport: 'stdio' }],
  });
  const names = model.requests[0]?.body.tools?.map((tool) => tool.function.name) ?? [];
  expect(names.filter((name) => name.startsWith('srv-'))).toEqual(['srv-echo', 'srv-pid']);
  const start = events.find(({ type }) => type === 'tool.execution_start');
  expect(start?.data).toMatchObject({ toolName: 'srv-echo', mcpServerName: 'srv', mcpToolName: 'echo' });
  const { messages } = (await model.asked(2)).body;
  expect(messages.at(-1)).toMatchObject({ role: 'tool', content: '{"a":1}' });
});

test('filters that name no tool are warned about: at once, or when the servers are ready', async () => {
  const { session } = await sessionWith(
    {
      srv: testServer({ tools: ['echo'] }),
      gone: { type: 'http', url: `http://127.0.0.1:${await closedPort()}/` },
    },
    [say('hello'), say('again')],
    {
      availableTools: ['view', 'vew', 'srv-echo', 'mcp:srv-ecko', 'gone-tool', 'builtin:srv-x', 'mcp:*'],
      excludedTools: ['srv-pit'],
    },
  );
  const warnings = () =>
    session.events.flatMap(({ type, data }) =>
      type === 'session.warning' ? [(data as { readonly message: string }).message] : [],
    );
  const about = (option: string, names: string) =>
    `The option '${option}' has no effect for ${names}: the session has no such tool.`;
  await session.turn('Hello');
  const expected = [
    about('availableTools', '"vew" (did you mean "view"?), "builtin:srv-x"'),
    about('availableTools', '"mcp:srv-ecko"'),
    about('excludedTools', '"srv-pit"'),
  ];
  expect(warnings().filter((text) => text.includes('no such tool'))).toEqual(expected);
  await session.turn('Again');
  expect(warnings().filter((text) => text.includes('no such tool'))).toEqual(expected);
});

test.each([
  ['two', 'AB\n\n{"x":1}'],
  ['link', '[resource: notes (file:///notes.md)]'],
  ['resource', 'inside'],
  ['audio', '[audio: audio/wav, 1 KB]'],
])('the result of %s reads as the protocol says', async (name, expected) => {
  expect((await resultOf(name, {})).text).toBe(expected);
});

test('an image is shown to the model, and clients get its bytes', async () => {
  const { complete } = await resultOf('image', {});
  expect(complete.result).toMatchObject({
    binaryResultsForLlm: [{ type: 'image', mimeType: 'image/png' }],
    contents: [{ type: 'image', mimeType: 'image/png' }],
  });
});

test('a tool that reports an error has failed', async () => {
  const { complete, text } = await resultOf('fail', {});
  expect(text).toBe("MCP server 'srv': it broke");
  expect(complete).toMatchObject({ success: false, error: { message: "MCP server 'srv': it broke" } });
});

test('a long result goes to a file, as that of every tool', async () => {
  const { text } = await resultOf('big', {});
  expect(text).toMatch(/^Output too large to read at once \(97\.7 KB\)\. Saved to: /);
});

test('progress is sent to clients while the call runs', async () => {
  const { events } = await resultOf('progress', {});
  const partial = events.filter(({ type }) => type === 'tool.execution_partial_result');
  expect(partial.map(({ data }) => data)).toEqual([
    { toolCallId: 'c1', partialOutput: '1/2\n' },
    { toolCallId: 'c1', partialOutput: '1/2\n2/2\n' },
  ]);
});

test('variables are passed as they stand, and the runtime keeps its own secrets', async () => {
  expect((await resultOf('env', { name: 'OWN' }, {}, { env: { OWN: `\${HOME} $PATH` } })).text).toBe(
    `\${HOME} $PATH`,
  );
  expect((await resultOf('env', { name: 'COPILOT_CONNECTION_TOKEN' })).text).toBe('(unset)');
});

test('with indirect values a variable may name another, and never a secret', async () => {
  const { session, model } = await sessionWith(
    { srv: testServer({}, { env: { OWN: `in \${HOME}`, KEY: `<\${GITHUB_TOKEN}>` } }) },
    [
      callTools(
        { id: 'c1', name: 'srv-env', arguments: { name: 'OWN' } },
        { id: 'c2', name: 'srv-env', arguments: { name: 'KEY' } },
      ),
      say('done'),
    ],
    { envValueMode: 'indirect' },
  );
  await session.turn('Go');
  const texts = (await model.asked(2)).body.messages.slice(-2).map(({ content }) => content);
  expect(texts).toEqual([expect.stringMatching(/^in \/.+/), '<>']);
});

test('a server runs in its `cwd`, else where the session works', async () => {
  expect((await resultOf('cwd', {}, {}, { cwd: '/usr' })).text).toBe('/usr');
  expect((await resultOf('cwd', {})).text).toBe(runtime.workingDirectory);
});

test('the roots of a server are the directories of the session', async () => {
  const { text } = await resultOf('roots', {});
  expect(JSON.parse(String(text)).roots).toContainEqual({
    uri: `file://${runtime.workingDirectory}`,
    name: runtime.workingDirectory,
  });
});

test('a server hears once that the session works in another directory, and then lists it', async () => {
  const elsewhere = join(runtime.workingDirectory, 'elsewhere');
  mkdirSync(elsewhere, { recursive: true });
  const log = join(runtime.workingDirectory, 'roots.log');
  const { session, model } = await sessionWith({ srv: testServer({ log }) }, [
    say('hi'),
    callTools({ id: 'c1', name: 'srv-roots', arguments: {} }),
    say('done'),
  ]);
  await session.turn('Go');
  const heard = () =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"notifications/roots/list_changed"')).length;
  expect(heard()).toBe(0);
  await session.call('session.metadata.setWorkingDirectory', { workingDirectory: elsewhere });
  await until(() => heard() === 1);
  await session.turn('Go on');
  const { messages } = (await model.asked(3)).body;
  expect(JSON.parse(String(messages.at(-1)?.content)).roots).toContainEqual({
    uri: `file://${elsewhere}`,
    name: elsewhere,
  });
  expect(heard()).toBe(1);
});

test.each([
  [[], []],
  [['*'], ['srv-echo', 'srv-pid']],
  [['pid', 'unheard-of'], ['srv-pid']],
])('of the tools %j of a configuration %j are offered', async (tools, offered) => {
  const { session, model } = await sessionWith({ srv: testServer({ tools: ['echo', 'pid'] }, { tools }) }, [
    say('hi'),
  ]);
  await session.turn('Go');
  const names = model.requests[0]?.body.tools?.map((tool) => tool.function.name) ?? [];
  expect(names.filter((name) => name.startsWith('srv-'))).toEqual(offered);
});

test('a call without approval does not reach the server', async () => {
  const log = join(runtime.workingDirectory, 'unapproved.log');
  const { session, model } = await runtime.session(
    [callTools({ id: 'c1', name: 'srv-echo', arguments: { a: 1 } }), say('done')],
    { mcpServers: { srv: testServer({ log }) }, requestPermission: true },
  );
  await session.send('Go');
  const asked = await session.next('permission.requested');
  expect(asked.data.permissionRequest).toEqual({
    kind: 'mcp',
    serverName: 'srv',
    toolName: 'srv-echo',
    toolTitle: 'echo',
    args: { a: 1 },
    readOnly: false,
    toolCallId: 'c1',
  });
  await session.decide(asked.data.requestId, { kind: 'reject' });
  await session.next('session.idle');
  expect(model.requests.length).toBeGreaterThan(0);
  expect(readFileSync(log, 'utf8')).not.toContain('tools/call');
});

test('a hint that a tool only reads counts for servers that the user trusts', async () => {
  const annotations = { readOnlyHint: true };
  const replies = () => [callTools({ id: 'c1', name: 'srv-echo', arguments: {} }), say('done')];
  const trusted = await runtime.session(replies(), {
    mcpServers: { srv: testServer({ annotations }, { trusted: true }) },
    requestPermission: true,
  });
  const events = await trusted.session.turn('Go');
  expect(events.filter(({ type }) => type === 'permission.requested')).toEqual([]);
  const liar = await runtime.session(replies(), {
    mcpServers: { srv: testServer({ annotations }) },
    requestPermission: true,
  });
  await liar.session.send('Go');
  const { data } = await liar.session.next('permission.requested');
  expect(data.permissionRequest).toMatchObject({ kind: 'mcp', readOnly: false });
  await liar.session.decide(data.requestId, { kind: 'approve-once' });
  await liar.session.next('session.idle');
});

test('an approval for the session does not cover a tool whose description has changed since', async () => {
  const { session } = await runtime.session(
    [
      callTools({ id: 'c1', name: 'srv-echo', arguments: {} }),
      callTools({ id: 'c2', name: 'srv-echo', arguments: {} }),
      callTools({ id: 'c3', name: 'srv-change', arguments: {} }),
      callTools({ id: 'c4', name: 'srv-echo', arguments: {} }),
      callTools({ id: 'c5', name: 'srv-echo', arguments: {} }),
      say('done'),
    ],
    { mcpServers: { srv: testServer() }, requestPermission: true },
  );
  await session.send('Go');
  const forSession = {
    kind: 'approve-for-session',
    approval: { kind: 'mcp', serverName: 'srv', toolName: null },
  };
  const asked: unknown[] = [];
  for (const expected of ['c1', 'c4']) {
    const { data } = await session.next('permission.requested');
    asked.push(data.permissionRequest.toolCallId);
    expect(data.permissionRequest.toolCallId).toBe(expected);
    await session.decide(data.requestId, forSession);
  }
  await session.next('session.idle');
  const questions = session.events.filter(({ type }) => type === 'permission.requested');
  expect(questions).toHaveLength(asked.length);
});

test('aborting a turn cancels the call at its server', async () => {
  const log = join(runtime.workingDirectory, 'aborted.log');
  const { session } = await sessionWith({ srv: testServer({ log }) }, [
    callTools({ id: 'c1', name: 'srv-slow', arguments: {} }),
    say('done'),
  ]);
  await session.send('Go');
  await until(() => existsSync(log) && readFileSync(log, 'utf8').includes('tools/call'));
  await session.call('session.abort');
  await session.next('session.idle');
  await until(() => readFileSync(log, 'utf8').includes('cancelled\n'));
});

test('a call that takes longer than its time-out ends as one', async () => {
  const { complete } = await resultOf('slow', {}, {}, { timeout: 2000 });
  expect(complete).toMatchObject({
    success: false,
    error: { code: 'timeout', message: expect.stringMatching(/^MCP server 'srv': time-out/) },
  });
});

test('tools that come while a prompt is answered are there for the next call, and the model gets a notice', async () => {
  const { session, model } = await sessionWith({ srv: testServer() }, [
    callTools({ id: 'c1', name: 'srv-change', arguments: {} }),
    callTools({ id: 'c2', name: 'srv-fresh', arguments: {} }),
    say('done'),
  ]);
  const events = await session.turn('Go');
  expect(events.filter(({ type }) => type === 'mcp.tools.list_changed')).toHaveLength(1);
  const second = model.requests[1]?.body;
  expect(second?.tools?.map((tool) => tool.function.name)).toContain('srv-fresh');
  expect(JSON.stringify(second?.messages.at(-1)?.content)).toContain('New tools available: srv-fresh');
  expect((await model.asked(3)).body.messages.at(-1)?.content).toBe('fresh');
});

test('a server that crashes is started again, and the call that it took along has failed', async () => {
  const { session, model } = await sessionWith({ srv: testServer() }, [
    callTools({ id: 'c1', name: 'srv-crash', arguments: {} }),
    callTools({ id: 'c2', name: 'srv-echo', arguments: { again: true } }),
    say('done'),
  ]);
  const events = await session.turn('Go');
  const statuses = events
    .filter(({ type }) => type === 'session.mcp_server_status_changed')
    .map(({ data }) => data as Listed['servers'][number])
    .map(({ status, error }) => [status, error]);
  expect(statuses).toEqual([
    ['connected', undefined],
    ['pending', 'it exited with code 3'],
    ['connected', undefined],
  ]);
  const texts = model.requests.slice(1).map(({ body }) => body.messages.at(-1)?.content);
  expect(texts).toEqual(["MCP server 'srv': it exited with code 3", '{"again":true}']);
});

test.each<[string, object, RegExp]>([
  ['a missing command', { command: 'no-such-program' }, /^command not found: no-such-program$/],
  [
    'a missing directory',
    testServer({}, { cwd: '/no/such/place' }),
    /^its working directory does not exist: /,
  ],
  [
    'an early exit',
    testServer({ dieAt: 'start', exitCode: 4, stderr: 'no licence' }),
    /^it exited with code 4/,
  ],
  [
    'an exit in the handshake, with its last words and without its secrets',
    testServer({ dieAt: 'initialize', stderr: 'bad key hunter22' }, { env: { KEY: 'hunter22' } }),
    /^it exited with code 7; it wrote: bad key \*\*\*$/,
  ],
  [
    'a secret within last words that are cut',
    testServer(
      { dieAt: 'initialize', stderr: `a key hunter22-of-many-words${'y'.repeat(590)}` },
      { env: { KEY: 'hunter22-of-many-words' } },
    ),
    /; it wrote: a key \*\*\*y{590}$/,
  ],
  [
    'a secret within a first line that is cut',
    testServer(
      { dieAt: 'initialize', first: `${'x'.repeat(190)}hunter22-of-many-words\n` },
      { env: { KEY: 'hunter22-of-many-words' } },
    ),
    /; it wrote what is no message: "x{190}\*\*\*"$/,
  ],
  ['no command', { args: ['x'] }, /^it names neither a command nor a url$/],
  ['an unknown type', { type: 'carrier-pigeon', coop: 3 }, /^its type is "carrier-pigeon"/],
  [
    'nothing that listens',
    { type: 'http', url: `http://127.0.0.1:${await closedPort()}/mcp` },
    /^nothing listens at its address/,
  ],
])('%s is said in words, and the turn goes on', async (_, config, reason) => {
  const { session } = await sessionWith({ good: testServer({ tools: ['echo'] }), srv: config }, [say('hi')]);
  const events = await session.turn('Go');
  const loaded = events.find(({ type }) => type === 'session.mcp_servers_loaded');
  expect((loaded?.data as Listed | undefined)?.servers).toMatchObject([
    { name: 'good', status: 'connected' },
    { name: 'srv', status: 'failed', error: expect.stringMatching(reason) },
  ]);
});

test('a server that is slow holds the turn up to its limit, is named meanwhile, and joins when it is ready', async () => {
  const config = testServer({ delay: 1500, tools: ['echo'] }, { timeout: 500 });
  const { session, model } = await sessionWith({ srv: config }, [say('one'), say('two')]);
  await session.send('One');
  const { waitingOn } = await session.call<{ waitingOn: unknown }>('session.metadata.activity');
  expect(waitingOn).toEqual([{ kind: 'mcp_server', serverName: 'srv', since: expect.any(String) }]);
  await session.next('session.idle');
  expect(model.requests[0]?.body.tools?.map((tool) => tool.function.name)).not.toContain('srv-echo');
  await session.next('session.mcp_server_status_changed', ({ data }) => data.status === 'connected');
  await session.turn('Two');
  expect(model.requests[1]?.body.tools?.map((tool) => tool.function.name)).toContain('srv-echo');
  expect(JSON.stringify(model.requests[1]?.body.messages.at(-1))).toContain('New tools available: srv-echo');
});

test('servers that are given on resume are honoured beside those of before', async () => {
  const { session, model } = await sessionWith({ one: testServer({ tools: ['echo'] }) }, [
    say('a'),
    say('b'),
  ]);
  await session.turn('One');
  const again = await runtime.client.resume(session.sessionId, {
    ...providerOf(model),
    mcpServers: { two: testServer({ tools: ['pid'] }) },
  });
  await again.turn('Two');
  const names = model.requests[1]?.body.tools?.map((tool) => tool.function.name) ?? [];
  expect(names.filter((name) => /^(one|two)-/.test(name))).toEqual(['one-echo', 'two-pid']);
});

test('servers that a process before had are named in a warning, until a client names them again', async () => {
  const flags = ['--no-auto-update', '--port', '0'];
  const model = runtime.script(say('a'), say('b'), say('c'), say('d'));
  const mcpServers = { one: testServer({ tools: ['echo'] }), two: testServer({ tools: ['pid'] }) };
  const warnings = (events: readonly { readonly type: string; readonly data: unknown }[]) =>
    events.flatMap(({ type, data }) =>
      type === 'session.warning' ? [(data as { readonly message: string }).message] : [],
    );
  let sessionId = '';
  const offered: (readonly string[])[] = [];
  const warned: (readonly string[])[] = [];
  for (const given of [mcpServers, undefined, { two: mcpServers.two }, mcpServers]) {
    const other = runtime.spawn({ flags });
    const client = await runtime.connect(other, { hasGaps: true });
    const settings = { ...providerOf(model), ...(given && { mcpServers: given }) };
    const session =
      sessionId === '' ? await client.create(settings) : await client.resume(sessionId, settings);
    sessionId = session.sessionId;
    await session.turn('Go');
    warned.push(warnings(session.events));
    const tools = model.requests.at(-1)?.body.tools?.map((tool) => tool.function.name) ?? [];
    offered.push(tools.filter((name) => /^(one|two)-/.test(name)));
    await other.signal('SIGKILL');
  }
  expect(offered).toEqual([['one-echo', 'two-pid'], [], ['two-pid'], ['one-echo', 'two-pid']]);
  expect(warned).toEqual([[], [expect.stringContaining('without the MCP servers "one", "two"')], [], []]);
});

test('what of a server’s description has no effect is warned about', async () => {
  const url = `http://127.0.0.1:${await closedPort()}/`;
  const { session } = await sessionWith(
    {
      child: { ...testServer({ tools: ['echo'] }), headers: { A: 'secret' }, url: '', timeout: 0 },
      far: { url, env: { KEY: 'secret' }, args: [], cwd: null, timeout: 2000 },
    },
    [say('hi')],
  );
  await session.turn('Go');
  const warnings = session.events.flatMap(({ type, data }) =>
    type === 'session.warning' ? [(data as { readonly message: string }).message] : [],
  );
  expect(warnings).toEqual([
    "'timeout' of the MCP server 'child' has no effect: it must be more than 0 milliseconds.",
    "The option 'mcpServers.headers' has no effect: the server is started by its command.",
    "The option 'mcpServers.env' has no effect: the server is reached by its url.",
  ]);
});

test('a disabled server is not started, until it is enabled', async () => {
  const log = join(runtime.workingDirectory, 'disabled.log');
  const { session } = await sessionWith({ srv: testServer({ log }) }, [say('hi')], {
    disabledMcpServers: ['srv'],
  });
  await session.turn('Go');
  expect(await session.call<Listed>('session.mcp.list')).toMatchObject({
    servers: [{ name: 'srv', status: 'disabled' }],
    host: { disabledServers: ['srv'] },
  });
  expect(existsSync(log)).toBe(false);
  await session.call('session.mcp.enable', { serverName: 'srv' });
  await session.next('session.mcp_server_status_changed', ({ data }) => data.status === 'connected');
  await session.call('session.mcp.disable', { serverName: 'srv' });
  expect(await session.call('session.mcp.isServerRunning', { serverName: 'srv' })).toEqual({
    running: false,
  });
});

test('servers are listed, stopped, started and restarted by methods', async () => {
  const { session } = await sessionWith({ srv: testServer({ tools: ['pid', 'echo'] }) }, []);
  const status = async () => (await session.call<Listed>('session.mcp.list')).servers[0]?.status;
  expect(await status()).toBe('pending');
  await until(async () => (await status()) === 'connected');
  expect(await session.call('session.mcp.listTools', { serverName: 'srv' })).toEqual({
    tools: [
      { name: 'pid', description: 'Does pid' },
      { name: 'echo', description: 'Does echo' },
    ],
  });
  await session.call('session.mcp.stopServer', { serverName: 'srv' });
  expect(await status()).toBe('stopped');
  const failure = await session.failure('session.mcp.listTools', { serverName: 'srv' });
  expect(failure.message).toContain("MCP server 'srv' is not connected");
  await session.call('session.mcp.startServer', { serverName: 'srv' });
  await until(async () => (await status()) === 'connected');
  await session.call('session.mcp.restartServer', { serverName: 'srv' });
  await until(async () => (await status()) === 'connected');
  await session.call('session.mcp.reload');
  await until(async () => (await status()) === 'connected');
  expect((await session.failure('session.mcp.stopServer', { serverName: 'other' })).message).toContain(
    "MCP server 'other' is not configured; there are srv",
  );
});

test('names that are too long or taken are made distinct, and a warning says so', async () => {
  const long = 'a'.repeat(70);
  const { session, model } = await sessionWith(
    {
      'my srv': testServer({ tools: ['echo'] }),
      'my.srv': testServer({ tools: ['echo'] }),
      [long]: testServer({ tools: ['echo'] }),
    },
    [say('hi')],
  );
  const events = await session.turn('Go');
  const names = model.requests[0]?.body.tools?.map((tool) => tool.function.name) ?? [];
  expect(names.filter((name) => /^(my|aaa)/.test(name))).toEqual([
    `${'a'.repeat(55)}-dbcfdaa7`,
    'my-srv-echo-47c45f6a',
    'my-srv-echo-91aeea35',
  ]);
  expect(events.filter(({ type }) => type === 'session.warning')).toHaveLength(3);
});

test('no process of a server outlives its session, not even one that left its group', async () => {
  const { session, model } = await sessionWith({ srv: testServer() }, [
    callTools({ id: 'c1', name: 'srv-pid', arguments: {} }, { id: 'c2', name: 'srv-child', arguments: {} }),
    say('done'),
  ]);
  await session.turn('Go');
  const pids = (await model.asked(2)).body.messages.slice(-2).map(({ content }) => Number(content));
  expect(pids.map(isAlive)).toEqual([true, true]);
  await session.call('session.destroy');
  expect(pids.map(isAlive)).toEqual([false, false]);
});

test('no process of a server outlives a runtime that was killed', async () => {
  const other = runtime.spawn({ flags: ['--stdio'] });
  const client = await runtime.connect(other, { hasGaps: true });
  const model = runtime.script(
    callTools({ id: 'c1', name: 'srv-pid', arguments: {} }, { id: 'c2', name: 'srv-child', arguments: {} }),
    say('done'),
  );
  const session = await client.create({ ...providerOf(model), mcpServers: { srv: testServer() } });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.turn('Go');
  const pids = (await model.asked(2)).body.messages.slice(-2).map(({ content }) => Number(content));
  expect(pids.map(isAlive)).toEqual([true, true]);
  await other.signal('SIGKILL');
  await until(() => !pids.some(isAlive));
});
