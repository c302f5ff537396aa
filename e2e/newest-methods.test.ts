import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, hold, liveRuntime, say, type WireSession } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';
import { testServer } from './mcp-world.js';

const runtime = liveRuntime({ flags: ['--port', '0'] });
const tools = [{ name: 'look', description: 'Looks', skipPermission: true }];
const look = callTools({ id: 'c1', name: 'look', arguments: { far: true } });
const offered = (body: unknown) =>
  (body as { tools?: { function: { name: string } }[] }).tools?.map((tool) => tool.function.name) ?? [];

describe('tools of clients', () => {
  test('that wait for an answer are listed until they have it', async () => {
    const { session } = await runtime.session([look, say('seen')], { tools });
    const pending = () => session.call('session.tools.listPendingRequests');
    expect(await pending()).toEqual({ items: [] });
    await session.send('Look');
    const { data } = await session.next('external_tool.requested');
    expect(await pending()).toEqual({
      items: [{ requestId: data.requestId, toolCallId: 'c1', toolName: 'look', arguments: { far: true } }],
    });
    await session.answerTool(data.requestId, { result: 'a fork' });
    await session.next('session.idle');
    expect(await pending()).toEqual({ items: [] });
  });

  test('are replaced as a whole, those of other clients stay, and names that clash are refused', async () => {
    const { session, model } = await runtime.session([say('one'), say('two')], { tools });
    const other = await (await runtime.connect()).resume(session.sessionId, {
      tools: [{ name: 'smell', description: 'Smells' }],
    });
    const set = (given: unknown) => session.call('session.tools.set', { tools: given });
    expect(await set([{ name: 'taste', description: 'Tastes' }])).toEqual({});
    await session.turn('Go');
    expect(offered(model.requests[0]?.body)).toEqual(expect.arrayContaining(['taste', 'smell']));
    expect(offered(model.requests[0]?.body)).not.toContain('look');
    await expect(set([{ name: 'smell', description: 'Too' }])).rejects.toThrow('already registered');
    await expect(set([{ name: 'no name', description: 'x' }])).rejects.toThrow('letters, digits');
    await expect(set([{ description: 'x' }])).rejects.toThrow();
    await expect(set('taste')).rejects.toThrow();
    expect(await set([])).toEqual({});
    await session.turn('On');
    expect(offered(model.requests[1]?.body)).not.toContain('taste');
    expect(offered(model.requests[1]?.body)).toContain('smell');
    await other.call('session.destroy');
  });

  test('what was said of sub-agents is read back', async () => {
    const { session } = await runtime.session([]);
    const read = () => session.call('session.tools.getSubagentSettings');
    expect(await read()).toEqual({ subagents: null });
    await session.call('session.tools.updateSubagentSettings', { subagents: { maxDepth: 1 } });
    expect(await read()).toEqual({ subagents: { maxDepth: 1 } });
  });
});

describe('MCP servers', () => {
  test('are listed as they are configured, and none is started for it', async () => {
    const { session } = await runtime.session([], {
      mcpServers: { srv: testServer(), off: testServer() },
      disabledMcpServers: ['off'],
    });
    const { servers } = await session.call<{ servers: { name: string; enabled: boolean }[] }>(
      'session.mcp.listConfigured',
    );
    expect(servers.map(({ name, enabled }) => [name, enabled])).toEqual(
      expect.arrayContaining([
        ['srv', true],
        ['off', false],
      ]),
    );
    expect(servers.every((server) => 'live' in server)).toBe(true);
    expect(await session.call('session.mcp.isServerRunning', { serverName: 'srv' })).toEqual({
      running: false,
    });
  });

  test('have prompts that clients read', async () => {
    const { session } = await runtime.session([], {
      mcpServers: {
        srv: testServer(),
      },
    });
    await session.call('session.mcp.list');
    await session.next('mcp.prompts.list_changed');
    const list = (more: object = {}) =>
      session.call('session.mcp.prompts.list', { serverName: 'srv', ...more });
    expect(await list()).toMatchObject({ prompts: [{ name: 'review' }] });
    await expect(list({ cursor: 'x' })).rejects.toThrow('no cursor');
    await expect(list({ serverName: 'none' })).rejects.toThrow('not connected');
    const get = (params: object) => session.call('session.mcp.prompts.get', { serverName: 'srv', ...params });
    expect(await get({ promptName: 'review', arguments: { file: 'a.txt' } })).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text' } }],
    });
    await expect(get({})).rejects.toThrow();
    await expect(get({ promptName: 'review', arguments: { file: 7 } })).rejects.toThrow();
  });

  test('that are slow to start let the turn go on when a client says so', async () => {
    const { session, model } = await runtime.session([say('without')], {
      mcpServers: { slow: testServer({ silentAt: 'initialize' }) },
    });
    const release = () => session.call('session.mcp.moveLoadingToBackground');
    expect(await release()).toEqual({ movedToBackground: false });
    await session.send('Go');
    let isMoved = false;
    while (!isMoved) isMoved = ((await release()) as { movedToBackground: boolean }).movedToBackground;
    await session.next('session.idle');
    expect(model.requests).toHaveLength(1);
  });
});

describe('the directory of a session', () => {
  test('is made again, and keeps the name and the summaries that clients give', async () => {
    const { session } = await runtime.session([]);
    const { path } = await session.call<{ path: string }>('session.workspaces.getWorkspace');
    rmSync(path, { recursive: true, force: true });
    expect(await session.call('session.workspaces.ensure')).toMatchObject({
      workspace: { id: session.sessionId },
      path,
    });
    expect(await session.call('session.workspaces.updateMetadata', { name: 'Ours' })).toMatchObject({
      workspace: { name: 'Ours', user_named: true },
    });
    await expect(session.call('session.workspaces.updateMetadata', { name: ' ' })).rejects.toThrow('empty');
    const add = (params: object) => session.call('session.workspaces.addSummary', params);
    expect(await add({ title: 'So far', content: 'We did things.' })).toMatchObject({
      summary: { number: 1, title: 'So far', filename: '001-so-far.md' },
    });
    expect(await add({ title: 'a | b\n| 9 | x | y.md |', content: 'More.' })).toMatchObject({
      summary: { number: 2 },
    });
    expect(await session.call('session.workspaces.readCheckpoint', { number: 1 })).toEqual({
      content: 'We did things.',
    });
    const { checkpoints } = await session.call<{ checkpoints: unknown[] }>(
      'session.workspaces.listCheckpoints',
    );
    expect(checkpoints).toHaveLength(2);
    await expect(add({ title: 'x', content: 'x'.repeat(2 ** 20 + 1) })).rejects.toThrow('at most');
    await expect(add({ title: 'x' })).rejects.toThrow();
  });

  test('has an objective whose state is read', async () => {
    const { session } = await runtime.session([]);
    const state = () => session.call('session.autopilotObjective.getState');
    expect(await state()).toEqual({ state: null });
    await session.call('session.workspaces.writeAutopilotObjective', { content: 'Ship it' });
    expect(await state()).toEqual({
      state: { id: 1, objective: 'Ship it', status: 'active', turnCount: 0, creditCountNanoAiu: '0' },
    });
  });
});

test('what comes from files is read anew, and what fails is named beside what did not', async () => {
  const workingDirectory = join(runtime.home.path, 'reload');
  mkdirSync(workingDirectory, { recursive: true });
  const { session } = await runtime.session([], { workingDirectory, enableSkills: true });
  const skill = join(workingDirectory, '.github', 'skills', 'adding');
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, 'SKILL.md'), '---\nname: adding\ndescription: Adds.\n---\nAdd.\n');
  const result = await session.call<{ outcomes: { subsystem: string; status: string }[] }>(
    'session.customizations.reload',
  );
  expect(result).toMatchObject({ warnings: [], errors: [] });
  expect(Object.fromEntries(result.outcomes.map(({ subsystem, status }) => [subsystem, status]))).toEqual({
    instructions: 'reloaded',
    plugins: 'reloaded',
    skills: 'reloaded',
    agents: 'reloaded',
    mcp: 'skipped',
    extensions: 'skipped',
    hooks: 'skipped',
  });
});

test('where no policy of content exclusion is evaluated, clients learn that they have to exclude', async () => {
  const { session } = await runtime.session([]);
  const check = (paths: unknown) => session.call('session.contentExclusion.checkPaths', { paths });
  expect(await check(['/etc/passwd'])).toEqual({ available: false, checks: [] });
  await expect(check('/etc/passwd')).rejects.toThrow();
});

test('the commands of every session are known without one', async () => {
  const { commands } = await runtime.client.call<{ commands: { name: string; kind: string }[] }>(
    'commands.list',
  );
  expect(commands.map(({ name }) => name)).toEqual(expect.arrayContaining(['compact', 'plan']));
  expect(commands.every(({ kind }) => kind === 'builtin')).toBe(true);
});

describe('named model services', () => {
  test('are what the last snapshot says, and are taken back one by one', async () => {
    const [first, second] = [runtime.script(say('a')), runtime.script(say('b'), say('c'))];
    const provider = (name: string, baseUrl: string) => ({ name, baseUrl, apiKey: `${name}-key` });
    const session = await runtime.client.create({
      providers: [provider('old', first.baseUrl)],
      models: [{ id: 'one', provider: 'old' }],
      model: 'old/one',
    });
    const sync = (params: object) => session.call('session.provider.sync', params);
    expect(
      await sync({
        providers: [provider('new', second.baseUrl), provider('bare', second.baseUrl)],
        models: [
          { id: 'two', provider: 'new' },
          { id: 'three', provider: 'new' },
        ],
      }),
    ).toMatchObject({
      models: [{ id: 'new/two' }, { id: 'new/three' }],
      selectionIds: ['new/two', 'new/three'],
      modelDeselected: true,
    });
    await session.call('session.model.switchTo', { modelId: 'new/two' });
    await session.turn('Hi');
    expect(second.requests).toHaveLength(1);
    const withdraw = (models: unknown) => session.call('session.provider.withdraw', { models });
    expect(await withdraw(['new/three', 'none/x'])).toEqual({
      withdrawn: ['new/three'],
      providersRemoved: [],
    });
    expect(await withdraw(['new/two'])).toEqual({
      withdrawn: ['new/two'],
      providersRemoved: ['new'],
      modelDeselected: true,
    });
    expect(await withdraw(['new/two'])).toEqual({ withdrawn: [], providersRemoved: [] });
    await expect(withdraw('new/two')).rejects.toThrow();
    await expect(sync({ models: [{ id: 'x', provider: 'nowhere' }] })).rejects.toThrow('nowhere');
    expect(first.requests).toHaveLength(0);
  });
});

test('plugins of the home are managed from a session, with paths from its directory', async () => {
  const directory = join(runtime.home.path, 'with-plugins');
  const market = join(directory, 'market');
  mkdirSync(join(market, 'sums', 'skills', 'adding'), { recursive: true });
  writeFileSync(
    join(market, 'sums', 'skills', 'adding', 'SKILL.md'),
    '---\nname: adding\ndescription: Adds.\n---\nAdd.\n',
  );
  writeFileSync(
    join(market, 'marketplace.json'),
    JSON.stringify({ name: 'ours', plugins: [{ name: 'sums', source: './sums', version: '1.0.0' }] }),
  );
  const { session } = await runtime.session([], { workingDirectory: directory });
  const call = (method: string, params: object = {}) => session.call(`session.plugins.${method}`, params);
  expect(await call('marketplaces.add', { source: './market' })).toEqual({ name: 'ours' });
  expect(await call('marketplaces.list')).toMatchObject({
    marketplaces: expect.arrayContaining([{ name: 'ours', source: market }]),
  });
  expect(await call('marketplaces.browse', { name: 'ours' })).toMatchObject({ plugins: [{ name: 'sums' }] });
  expect(await call('marketplaces.refresh')).toMatchObject({ results: expect.any(Array) });
  expect(await call('install', { source: 'sums@ours' })).toMatchObject({ skillsInstalled: 1 });
  expect(await call('disable', { names: ['sums'] })).toBeNull();
  expect(await call('enable', { names: ['sums'] })).toBeNull();
  expect(await call('reload')).toBeNull();
  expect(await call('list')).toMatchObject({ plugins: [{ name: 'sums' }] });
  expect(await call('update', { name: 'sums' })).toMatchObject({ skillsInstalled: 1 });
  expect(await call('uninstall', { name: 'sums' })).toBeNull();
  expect(await call('marketplaces.remove', { name: 'ours' })).toMatchObject({ removed: true });
  await expect(call('install', {})).rejects.toThrow();
  await expect(call('install', { source: 'none@nowhere' })).rejects.toThrow();
  await expect(call('enable', { names: 'sums' })).rejects.toThrow();
});

test('a held model call does not keep any of these from an answer', async () => {
  const held = hold(say('late'));
  const { session, model } = await runtime.session([held.reply]);
  await session.send('Go');
  await model.asked(1);
  for (const method of [
    'session.tools.listPendingRequests',
    'session.tools.getSubagentSettings',
    'session.mcp.listConfigured',
    'session.workspaces.ensure',
    'session.autopilotObjective.getState',
    'session.cancelAllBackgroundAgents',
  ])
    expect(await session.call(method)).toBeDefined();
  held.release();
  await session.next('session.idle');
});

describe('what helps to find a fault of a session', () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const collect = <T = Bundle>(session: WireSession, params: object) =>
    session.call<T>('session.debug.collectLogs', params);

  interface Bundle {
    readonly kind: string;
    readonly path: string;
    readonly entries: readonly { readonly bundlePath: string; readonly sizeBytes: number }[];
    readonly skippedEntries?: readonly { readonly bundlePath: string; readonly reason: string }[];
  }

  test('is its events and the files that the client names, without secrets, in a directory or an archive', async () => {
    const { session } = await runtime.session([say('Hello')]);
    await session.turn(`My token is ${secret}`);
    const place = join(runtime.home.path, 'faults');
    const deep = 'x'.repeat(120);
    mkdirSync(join(place, 'more', deep), { recursive: true });
    writeFileSync(join(place, 'app.log'), `one\nauthorization: Bearer ${secret}\n`);
    writeFileSync(join(place, 'more', deep, 'ö.txt'), `plain ${secret}`);
    const additionalEntries = [
      { kind: 'file', path: join(place, 'app.log'), bundlePath: 'app/app.log' },
      { kind: 'directory', path: join(place, 'more'), bundlePath: 'more', redaction: 'none' },
      { kind: 'file', path: join(place, 'none.log'), bundlePath: 'none.log' },
      { kind: 'file', path: place, bundlePath: 'place' },
    ];
    const outputDirectory = join(place, 'out', 'staged');
    const destination = { kind: 'directory', outputDirectory };
    const bundle = await collect(session, { destination, additionalEntries });
    const names = ['events.jsonl', 'app/app.log', `more/${deep}/ö.txt`];
    const read = (name: string) => readFileSync(join(outputDirectory, name), 'utf8');
    expect(bundle).toMatchObject({ kind: 'directory', path: outputDirectory });
    expect(bundle.entries).toMatchObject(
      names.map((bundlePath, index) => ({
        bundlePath,
        source: index === 0 ? 'events' : 'additional',
        sizeBytes: Buffer.byteLength(read(bundlePath)),
      })),
    );
    expect(bundle.skippedEntries).toMatchObject([
      { bundlePath: 'process.log', reason: expect.stringContaining('standard error') },
      { bundlePath: 'none.log', reason: expect.stringContaining('ENOENT') },
      { bundlePath: 'place', reason: 'it is no file' },
    ]);
    const events = read('events.jsonl').trim().split('\n');
    expect(events.map((line) => JSON.parse(line).type)).toEqual(
      (await session.stored()).map(({ type }) => type),
    );
    for (const name of names.slice(0, 2)) expect(read(name)).not.toContain(secret);
    expect(read('app/app.log')).toMatch(/^one\n.*\[redacted\]/);
    expect(read(names[2] ?? '')).toBe(`plain ${secret}\n`);
    expect(statSync(join(outputDirectory, 'events.jsonl')).mode & 0o777).toBe(0o600);

    const outputPath = join(place, 'out', 'bundle.tgz');
    const pack = () =>
      collect(session, {
        destination: { kind: 'archive', outputPath, noOverwrite: true },
        additionalEntries,
      });
    expect((await pack()).path).toBe(outputPath);
    expect((await pack()).path).toBe(join(place, 'out', 'bundle (1).tgz'));
    expect(readdirSync(join(place, 'out')).sort()).toEqual(['bundle (1).tgz', 'bundle.tgz', 'staged']);
    const unpacked = join(place, 'unpacked');
    mkdirSync(unpacked);
    execFileSync('tar', ['-xzf', outputPath, '-C', unpacked]);
    for (const name of names) expect(readFileSync(join(unpacked, name), 'utf8')).toBe(read(name));
  });

  test('is written nowhere but in the bundle, and a file that must be there is missed by name', async () => {
    const { session } = await runtime.session([]);
    const outputDirectory = join(runtime.home.path, 'faults-refused');
    const destination = { kind: 'directory', outputDirectory };
    const file = { kind: 'file', path: join(runtime.home.path, 'none'), bundlePath: 'a' };
    const refusal = async (params: object) =>
      (await session.failure('session.debug.collectLogs', { destination, ...params })).message;
    for (const bundlePath of ['../up', '/root', 'a//b', 'a\\b', '.', 'a\0b', ''])
      expect(
        await refusal({ additionalEntries: [{ ...file, path: import.meta.filename, bundlePath }] }),
      ).toContain("'bundlePath'");
    const twice = { ...file, path: import.meta.filename, bundlePath: 'events.jsonl' };
    expect(await refusal({ additionalEntries: [twice] })).toContain('comes twice');
    expect(await refusal({ additionalEntries: [{ ...file, required: true }] })).toContain('ENOENT');
    const blocked = { kind: 'archive', outputPath: join(import.meta.filename, 'x.tgz') };
    expect(await refusal({ destination: blocked })).toContain('file already exists');
    expect(
      await session.failure('session.debug.collectLogs', { destination: { kind: 'mail' } }),
    ).toMatchObject({ code: -32602 });
    const none = await collect(session, { destination, include: { events: false, processLogs: false } });
    expect(none).toEqual({ kind: 'directory', path: outputDirectory, entries: [] });
  });
});

test('there is no adapter that finds model services, and what would need one says what to do', async () => {
  const { session } = await runtime.session([]);
  expect(await session.call('session.providers.getCatalog')).toEqual({ providers: [] });
  const words = `adapter "ollama" is not available: name the service by 'provider'`;
  const instance = { adapterId: 'ollama', instanceId: 'i' };
  for (const [method, params] of [
    ['discover', { adapterId: 'ollama' }],
    ['getStatus', { instance }],
    ['models.list', { instance }],
  ] as const)
    expect((await session.failure(`session.providers.${method}`, params)).message).toContain(words);
  const plan = { instance: { reference: instance }, model: { id: 'm' } };
  expect(await session.failure('session.providers.models.prepareConfiguration', plan)).toMatchObject({
    code: -32603,
  });
  expect(await session.failure('session.providers.discover', {})).toMatchObject({ code: -32602 });
});
