import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, providerOf, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { testServer } from './mcp-world.js';

const runtime = liveRuntime();
const file = () => join(runtime.home.path, 'mcp.json');
const projectFile = () => join(runtime.workingDirectory, '.mcp.json');

test("methods change the user's file, which is for its owner alone", async () => {
  const { client } = runtime;
  const config = { type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer x' } };
  expect(await client.call('mcp.config.list')).toEqual({ servers: {} });
  await client.call('mcp.config.add', { name: 'one', config });
  expect(await client.call('mcp.config.list')).toEqual({ servers: { one: config } });
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect((await client.failure('mcp.config.add', { name: 'one', config })).message).toContain(
    'is there already',
  );
  await client.call('mcp.config.update', { name: 'one', config: { command: 'node' } });
  await client.call('mcp.config.disable', { names: ['one'] });
  expect(await client.call('mcp.discover', {})).toEqual({
    servers: [{ name: 'one', type: 'stdio', source: 'user', enabled: false }],
  });
  await client.call('mcp.config.enable', { names: ['one'] });
  expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ mcpServers: { one: { command: 'node' } } });
  await client.call('mcp.config.remove', { name: 'one' });
  expect(await client.call('mcp.config.list')).toEqual({ servers: {} });
});

test('a session that discovers has the servers of the user, with their variables', async () => {
  const own = testServer({ tools: ['echo'] }, { env: { OWN: `\${HOME}/x`, OTHER: `\${NO_SUCH:-fallback}` } });
  writeFileSync(file(), JSON.stringify({ mcpServers: { own } }));
  const plain = await runtime.session([say('hi')]);
  await plain.session.turn('Go');
  expect(await plain.session.call('session.mcp.list')).toMatchObject({ servers: [] });
  const { session } = await runtime.session([say('hi')], { enableConfigDiscovery: true });
  await session.turn('Go');
  expect(await session.call('session.mcp.list')).toMatchObject({
    servers: [{ name: 'own', status: 'connected', source: 'user' }],
  });
  writeFileSync(file(), '{}');
});

test('servers of a project start after one question for all of them, and the answer is kept', async () => {
  const log = join(runtime.workingDirectory, 'project.log');
  const servers = { a: testServer({ log }), b: testServer({ tools: ['pid'] }) };
  writeFileSync(projectFile(), JSON.stringify({ mcpServers: servers }));
  const model = runtime.script(say('one'), say('two'), say('three'), say('four'));
  const create = () =>
    runtime.client.create({ ...providerOf(model), enableConfigDiscovery: true, requestPermission: true });
  const refused = await create();
  await refused.send('Go');
  const asked = await refused.next('permission.requested');
  expect(asked.data.permissionRequest).toMatchObject({
    kind: 'mcp',
    serverName: '.mcp.json',
    args: { folder: runtime.workingDirectory, servers: [{ name: 'a' }, { name: 'b' }] },
  });
  await refused.decide(asked.data.requestId, { kind: 'reject' });
  await refused.next('session.idle');
  expect(existsSync(log)).toBe(false);
  expect(await refused.call('session.mcp.list')).toMatchObject({
    servers: [
      { name: 'a', status: 'failed', source: 'workspace' },
      { name: 'b', status: 'failed' },
    ],
  });
  const approved = await create();
  await approved.send('Go');
  const again = await approved.next('permission.requested');
  await approved.decide(again.data.requestId, { kind: 'approve-once' });
  await approved.next('session.idle');
  expect(existsSync(log)).toBe(true);
  const third = await create();
  const events = await third.turn('Go');
  expect(events.filter(({ type }) => type === 'permission.requested')).toEqual([]);
  expect(await third.call('session.mcp.list')).toMatchObject({
    servers: [{ status: 'connected' }, { status: 'connected' }],
  });
  // A change of the file, by a pull or by the model itself, is not what was approved.
  writeFileSync(projectFile(), JSON.stringify({ mcpServers: { a: testServer({ tools: ['env'] }) } }));
  const fourth = await create();
  await fourth.send('Go');
  const other = await fourth.next('permission.requested');
  expect(other.data.permissionRequest).toMatchObject({
    serverName: '.mcp.json',
    args: { servers: [{ name: 'a' }] },
  });
  await fourth.decide(other.data.requestId, { kind: 'reject' });
  await fourth.next('session.idle');
  writeFileSync(projectFile(), '{}');
});

test('a file that cannot be read is said with its line, and the session works without it', async () => {
  writeFileSync(projectFile(), '{\n  "mcpServers": {\n    "a": { "command": 7 }\n  }\n}');
  const { session } = await runtime.session([say('hi')], { enableConfigDiscovery: true });
  const events = await session.turn('Go');
  const warnings = events.filter(({ type }) => type === 'session.warning').map(({ data }) => data);
  expect(JSON.stringify(warnings)).toContain(
    `${projectFile()}:3:23: \\"command\\" of the server \\"a\\" must be a text`,
  );
  writeFileSync(projectFile(), '{}');
});

test('what of a file has no effect is said with its line; a project cannot call its servers trusted', async () => {
  const server = testServer({ tools: ['echo'], annotations: { readOnlyHint: true } });
  const mcpServers = {
    srv: {
      ...server,
      trusted: true,
      env: { KEY: ['', '{NO_SUCH_VARIABLE}', '{toString}'].join('$') },
      tols: ['x'],
    },
    off: { ...server, disabled: true, headers: { A: 'b' } },
  };
  writeFileSync(projectFile(), JSON.stringify({ mcpServers }, undefined, 1));
  const { session } = await runtime.session(
    [callTools({ id: 'c1', name: 'srv-echo', arguments: {} }), say('done')],
    { enableConfigDiscovery: true, requestPermission: true },
  );
  await session.send('Go');
  const start = await session.next('permission.requested');
  await session.decide(start.data.requestId, { kind: 'approve-once' });
  const { data } = await session.next(
    'permission.requested',
    (event) => event.data.requestId !== start.data.requestId,
  );
  expect(data.permissionRequest).toMatchObject({ kind: 'mcp', toolName: 'srv-echo', readOnly: false });
  await session.decide(data.requestId, { kind: 'approve-once' });
  await session.next('session.idle');
  const warnings = session.events.flatMap((event) =>
    event.type === 'session.warning' ? [(event.data as { message: string }).message] : [],
  );
  expect(warnings).toEqual([
    expect.stringMatching(/\.mcp\.json:\d+:\d+: "tols" of the server "srv" has no effect$/),
    expect.stringMatching(
      /\.mcp\.json:3:3: the server "srv" names the variable NO_SUCH_VARIABLE, which is not set$/,
    ),
    expect.stringMatching(/\.mcp\.json:3:3: the server "srv" names the variable toString, which is not set$/),
    expect.stringMatching(/\.mcp\.json:3:3: the server "srv" cannot call itself trusted/),
    "'headers' of the MCP server 'off' has no effect: the server is a command.",
  ]);
  expect(await session.call('session.mcp.list')).toMatchObject({
    servers: [
      { name: 'srv', status: 'connected' },
      { name: 'off', status: 'disabled' },
    ],
  });
  writeFileSync(projectFile(), '{}');
});

test('servers of a plugin start with the session, unless it switches them off', async () => {
  const plugin = join(runtime.workingDirectory, 'plugin');
  const { mkdirSync } = await import('node:fs');
  mkdirSync(plugin, { recursive: true });
  const mcpServers = { on: testServer({ tools: [] }), off: testServer({ tools: [] }) };
  writeFileSync(join(plugin, '.mcp.json'), JSON.stringify({ mcpServers }));
  const { session } = await runtime.session([say('hi')], {
    pluginDirectories: [plugin],
    disabledMcpServers: ['off'],
  });
  await session.turn('Go');
  expect(await session.call('session.mcp.list')).toMatchObject({
    servers: [
      { name: 'on', status: 'connected', source: 'plugin' },
      { name: 'off', status: 'disabled' },
    ],
  });
});
