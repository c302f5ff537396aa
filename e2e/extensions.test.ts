import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { liveRuntime, say, type WireClient, type WireSession } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();
const source = join(import.meta.dirname, 'fixtures', 'extension.mjs');
let worlds = 0;

interface World {
  readonly client: WireClient;
  readonly workingDirectory: string;
  readonly asked: string;
  readonly home: string;
}

/** A runtime with a project that has an extension. */
async function world(
  environment: Readonly<Record<string, string>> = { GROUNDCREW_EXTENSIONS: '1' },
): Promise<World> {
  const directory = join(runtime.home.path, `extensions-${++worlds}`);
  const workingDirectory = join(directory, 'project');
  mkdirSync(join(workingDirectory, '.github', 'extensions', 'helper'), { recursive: true });
  copyFileSync(source, join(workingDirectory, '.github', 'extensions', 'helper', 'extension.mjs'));
  const asked = join(directory, 'asked');
  const home = join(directory, 'home');
  const client = await runtime.connect(
    runtime.spawn({ flags: ['--stdio'], home, environment: { ...environment, EXTENSION_ASKED: asked } }),
  );
  return { client, workingDirectory, asked, home };
}

interface Listed {
  readonly extensions: readonly { readonly id: string; readonly status: string; readonly pid?: number }[];
}

async function joined(client: WireClient, session: WireSession): Promise<number> {
  await client.until(
    () => session.events.find(({ type }) => type === 'session.canvas.registry_changed'),
    'the canvases of the extension',
  );
  const { extensions } = await session.call<Listed>('session.extensions.list');
  expect(extensions).toMatchObject([
    { id: 'project:helper', name: 'helper', source: 'project', status: 'running' },
  ]);
  return extensions[0]?.pid ?? 0;
}

interface Run {
  readonly runId: string;
  readonly status: string;
  readonly result?: unknown;
}

async function ended(client: WireClient, session: WireSession, runId: string): Promise<Run> {
  for (;;) {
    const seen = session.events.length;
    const run = await session.call<Run>('session.factory.getRun', { runId });
    if (run.status !== 'running') return run;
    await client.until(
      () => session.events.slice(seen).find(({ type }) => type === 'factory.run_updated'),
      'news of the run',
    );
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('an extension of the project joins a session that asks for it, serves it, and leaves with the last client', async () => {
  const { client, workingDirectory, asked } = await world();
  const session = await client.create({ workingDirectory, requestExtensions: true });
  const pid = await joined(client, session);

  expect(await session.call('session.canvas.list')).toMatchObject({
    canvases: [{ extensionId: 'project:helper', extensionName: 'helper', canvasId: 'board' }],
  });
  await session.call('session.canvas.open', { canvasId: 'board', instanceId: 'b1' });
  expect(
    await session.call('session.canvas.action.invoke', { instanceId: 'b1', actionName: 'add', input: 5 }),
  ).toEqual({ result: { actionName: 'add', input: 5 } });

  const run = await session.call<Run>('session.factory.run', { name: 'double-once', args: { value: 21 } });
  expect(await ended(client, session, run.runId)).toMatchObject({
    status: 'completed',
    result: { doubled: 42, isFromJournal: false },
  });
  expect(await session.call('session.factory.getRunProgress', { runId: run.runId })).toMatchObject({
    records: [{ seq: 1, kind: 'log', text: 'doubling' }],
  });
  expect(await session.call('session.factory.getRunDetail', { runId: run.runId })).toMatchObject({
    factoryName: 'double-once',
    status: 'completed',
    canResume: false,
    agents: [],
    terminal: { resultPreview: expect.stringContaining('42') },
    progress: { records: [{ text: 'doubling' }] },
  });
  const invoked = { instanceId: 'b1', actionName: 'add', input: 6 };
  expect(await session.call('session.canvas.invokeAction', invoked)).toEqual({
    result: { actionName: 'add', input: 6 },
  });
  expect(readFileSync(asked, 'utf8').trim().split('\n')).toEqual([
    'canvas.open',
    'canvas.action.invoke',
    'factory.execute',
    'canvas.action.invoke',
  ]);

  expect(await session.call('session.destroy')).toEqual({ success: true });
  expect(isAlive(pid)).toBe(false);
  await client.close();
});

test('a run that failed goes on from its journal, in another process too; one that is done does not', async () => {
  const { client, workingDirectory, home } = await world();
  const session = await client.create({ workingDirectory, requestExtensions: true });
  await joined(client, session);
  await session.send('Hello');
  await session.untilIdle();
  const args = { value: 4, fails: true };
  const { runId } = await session.call<Run>('session.factory.run', { name: 'double-once', args });
  expect(await ended(client, session, runId)).toMatchObject({
    status: 'error',
    error: 'stopped after the step',
  });
  await client.close();

  const later = await runtime.connect(
    runtime.spawn({ flags: ['--stdio'], home, environment: { GROUNDCREW_EXTENSIONS: '1' } }),
  );
  const again = await later.resume(session.sessionId, { workingDirectory, requestExtensions: true });
  await joined(later, again);
  expect(await again.call('session.factory.listRuns')).toMatchObject({ runs: [{ runId, status: 'error' }] });
  const resumed = await again.call<{ run: Run }>('session.factory.resume', { runId });
  expect(resumed.run.status).toBe('running');
  expect(await ended(later, again, runId)).toMatchObject({
    status: 'completed',
    result: { doubled: 8, isFromJournal: true },
  });
  expect(await again.failure('session.factory.resume', { runId })).toMatchObject({
    code: -32603,
    data: { code: 'non_resumable' },
  });
  expect(await again.failure('session.factory.resume', { runId: 'none' })).toMatchObject({
    data: { code: 'not_found' },
  });
  await later.close();
});

test('a body has a sub-agent of the session work for it; a run can be cancelled, and one without its client is halted', async () => {
  const { client, workingDirectory } = await world();
  const model = runtime.script(say('It is said.'));
  const session = await client.create({
    workingDirectory,
    requestExtensions: true,
    provider: { baseUrl: model.baseUrl, apiKey: 'k' },
    model: 'm',
  });
  await joined(client, session);
  const asking = await session.call<Run>('session.factory.run', { name: 'asks' });
  expect(await ended(client, session, asking.runId)).toMatchObject({
    status: 'completed',
    result: 'It is said.',
  });

  const waiting = await session.call<Run>('session.factory.run', { name: 'waits' });
  expect(await session.call('session.factory.cancel', { runId: waiting.runId })).toMatchObject({
    status: 'cancelled',
  });
  const orphan = await session.call<Run>('session.factory.run', { name: 'waits' });
  await session.call('session.extensions.disable', { id: 'project:helper' });
  expect(await ended(client, session, orphan.runId)).toMatchObject({ status: 'halted' });
  expect(await session.call<Listed>('session.extensions.list')).toMatchObject({
    extensions: [{ id: 'project:helper', status: 'disabled' }],
  });
  await client.close();
});

test('extensions of the user are listed and switched for sessions to come; a session follows when it is asked to', async () => {
  const { client, workingDirectory, home } = await world();
  const entry = join(home, 'extensions', 'own', 'extension.mjs');
  const add = () => {
    mkdirSync(dirname(entry), { recursive: true });
    copyFileSync(source, entry);
  };
  expect(await client.call('extensions.discover', {})).toEqual({ extensions: [], mode: 'load_only' });
  const session = await client.create({ workingDirectory, requestExtensions: true });
  const pid = await joined(client, session);
  add();
  const own = { id: 'user:own', name: 'own', path: entry, source: 'user' };
  const discovered = (enabled: boolean) => ({ extensions: [{ ...own, enabled }], mode: 'load_only' });
  expect(await client.call('extensions.discover', {})).toEqual(discovered(true));
  const seen = session.events.length;
  const listed = await session.call<Listed>('session.extensions.reconcile');
  expect(listed.extensions).toMatchObject([
    // What ran already runs on.
    { id: 'project:helper', status: 'running', pid },
    { id: 'user:own', source: 'user', status: 'starting' },
  ]);
  await client.until(
    () => session.events.slice(seen).find(({ type }) => type === 'session.canvas.registry_changed'),
    'the canvases of the second extension',
  );

  expect(await client.call('extensions.disable', { ids: ['user:own', 'user:own'] })).toBeNull();
  expect(await client.call('extensions.discover', {})).toEqual(discovered(false));
  const after = await session.call<Listed>('session.extensions.reconcile');
  expect(after.extensions).toMatchObject([
    { id: 'project:helper', status: 'running', pid },
    { id: 'user:own', status: 'disabled' },
  ]);
  expect(isAlive(listed.extensions[1]?.pid ?? 0)).toBe(false);
  // What a client says in its session goes before what holds for all.
  await session.call('session.extensions.enable', { id: 'user:own' });
  expect((await session.call<Listed>('session.extensions.reconcile')).extensions).toMatchObject([
    { id: 'project:helper' },
    { id: 'user:own', status: expect.stringMatching(/starting|running/) },
  ]);
  for (const ids of [['user:none'], ['project:helper']])
    expect(await client.failure('extensions.enable', { ids })).toMatchObject({
      message: expect.stringContaining(`Extension not found: ${ids[0]}`),
    });
  expect(await client.failure('extensions.enable', { ids: 'user:own' })).toMatchObject({ code: -32602 });
  await client.call('extensions.enable', { ids: ['user:own'] });
  expect(await client.call('extensions.discover', {})).toEqual(discovered(true));
  writeFileSync(join(home, 'extensions.json'), '{');
  expect(await client.failure('extensions.discover', {})).toMatchObject({
    message: expect.stringContaining('extensions.json is no file of extensions'),
  });
  await client.close();
});

test('without the operator, a project starts nothing', async () => {
  const { client, workingDirectory } = await world({});
  const { warnings } = await client.call<{ warnings: readonly string[] }>('session.create', {
    sessionId: 'unasked',
    workingDirectory,
    requestExtensions: true,
  });
  expect(warnings).toEqual([expect.stringContaining("'requestExtensions' has no effect")]);
  expect(await client.call('session.extensions.list', { sessionId: 'unasked' })).toEqual({ extensions: [] });
  expect(await client.call('extensions.discover', {})).toEqual({ extensions: [], mode: 'disabled' });
  expect(await client.failure('extensions.disable', { ids: [] })).toMatchObject({
    message: expect.stringContaining('Extensions not available'),
  });
  for (const method of [
    'session.extensions.reload',
    'session.extensions.reconcile',
    'session.extensions.enable',
  ])
    expect(await client.failure(method, { sessionId: 'unasked', id: 'x' })).toMatchObject({
      message: `Request ${method} failed with message: Extensions not available`,
    });
  expect(await client.failure('session.factory.run', { sessionId: 'unasked', name: 'x' })).toEqual({
    code: -32601,
    message: 'Agent factories are not available for this session',
    data: { code: 'agent_factories_unavailable' },
  });
  await client.close();
});

test('canvases of a client are listed, opened, acted upon and closed; the log keeps those that are open', async () => {
  const { client } = runtime;
  const asked: unknown[] = [];
  client.answer = async (method, params) => {
    asked.push([method, params]);
    if (method === 'canvas.open') return { url: 'https://example.test', title: 'Counter', status: 'ready' };
    if (method === 'canvas.action.invoke') return { newValue: 42 };
    return null;
  };
  const counter = {
    id: 'counter',
    displayName: 'Counter',
    description: 'Counts',
    actions: [{ name: 'increment', description: 'Adds' }],
  };
  const { session } = await runtime.session([], { canvases: [counter], requestCanvasRenderer: true });
  const { sessionId } = session;
  const { canvases } = await session.call<{ canvases: readonly { extensionId: string }[] }>(
    'session.canvas.list',
  );
  const extensionId = canvases[0]?.extensionId ?? '';
  expect(canvases).toEqual([
    {
      extensionId,
      canvasId: 'counter',
      displayName: 'Counter',
      description: 'Counts',
      actions: counter.actions,
    },
  ]);
  const input = { startValue: 10 };
  const open = { instanceId: 'c1', extensionId, canvasId: 'counter', title: 'Counter', input };
  const shown = { ...open, url: 'https://example.test', status: 'ready' };
  expect(await session.call('session.canvas.open', { canvasId: 'counter', instanceId: 'c1', input })).toEqual(
    shown,
  );
  expect(await session.call('session.canvas.listOpen')).toEqual({ openCanvases: [shown] });
  expect(
    await session.call('session.canvas.action.invoke', {
      instanceId: 'c1',
      actionName: 'increment',
      input: { by: 1 },
    }),
  ).toEqual({ result: { newValue: 42 } });
  expect(
    await session.failure('session.canvas.action.invoke', { instanceId: 'c1', actionName: 'x' }),
  ).toMatchObject({
    message: expect.stringContaining('Unknown action "x" on canvas "counter". Known actions: [increment].'),
  });
  expect(await session.failure('session.canvas.open', { canvasId: 'none', instanceId: 'c2' })).toMatchObject({
    message: 'Request session.canvas.open failed with message: No canvas "none" is registered.',
  });
  expect(await session.call('session.canvas.close', { instanceId: 'c1' })).toBeNull();
  expect(await session.call('session.canvas.listOpen')).toEqual({ openCanvases: [] });
  expect(await session.failure('session.canvas.close', { instanceId: 'c1' })).toMatchObject({
    message: 'Request session.canvas.close failed with message: Canvas instance "c1" is not open.',
  });
  const context = { sessionId, session: { workingDirectory: runtime.workingDirectory } };
  const place = { instanceId: 'c1', extensionId, canvasId: 'counter' };
  expect(asked).toEqual([
    ['canvas.open', { ...place, input, ...context }],
    ['canvas.action.invoke', { ...place, actionName: 'increment', input: { by: 1 }, ...context }],
    ['canvas.close', { ...place, ...context }],
  ]);
  const stored = (await session.stored()).filter(({ type }) => type.startsWith('session.canvas.'));
  expect(stored.map(({ type, data }) => ({ type, data }))).toEqual([
    { type: 'session.canvas.recorded', data: { ...place, title: 'Counter', input } },
    { type: 'session.canvas.removed', data: place },
  ]);
});
