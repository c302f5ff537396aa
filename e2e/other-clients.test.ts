import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, providerOf, say, story, type WireSession } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--port', '0'] });

describe('a session that asks for no infinite session', () => {
  const none = { infiniteSessions: { enabled: false } };
  const directoryOf = ({ sessionId }: WireSession) => join(runtime.home.path, 'session-state', sessionId);
  const resultOf = (method: string, params: object) =>
    runtime.client.call(method, { toolFilterPrecedence: 'excluded', requestPermission: true, ...params });

  test('has no workspacePath in the answers to create and resume, and no directory', async () => {
    const model = runtime.script(say('one'), say('two'));
    const created = await resultOf('session.create', {
      ...providerOf(model),
      ...none,
      sessionId: 'no-place',
    });
    expect(created).not.toHaveProperty('workspacePath');
    const again = await resultOf('session.create', { sessionId: 'no-place' });
    expect(again).not.toHaveProperty('workspacePath');
    const live = await resultOf('session.resume', { sessionId: 'no-place', ...none });
    expect(live).not.toHaveProperty('workspacePath');
    const session = await runtime.client.resume('no-place', providerOf(model));
    await session.turn('Hello');
    await session.call('session.destroy');
    expect(await resultOf('session.resume', { sessionId: 'no-place', ...none })).not.toHaveProperty(
      'workspacePath',
    );
    expect(existsSync(directoryOf(session))).toBe(false);
  });

  test('stays so when another process resumes it and says nothing of it; one that asks for it gets it', async () => {
    const model = runtime.script(say('one'));
    const session = await runtime.client.create({ ...providerOf(model), ...none });
    await session.turn('Hello');
    await session.call('session.destroy');
    const other = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }));
    const { sessionId } = session;
    expect(await other.call('session.resume', { sessionId })).not.toHaveProperty('workspacePath');
    expect(await other.call('session.metadata.snapshot', { sessionId })).toMatchObject({
      workspacePath: null,
      workspace: null,
    });
    expect(existsSync(directoryOf(session))).toBe(false);
    const wanted = await other.call('session.resume', { sessionId, infiniteSessions: { enabled: true } });
    expect(wanted).toMatchObject({ workspacePath: directoryOf(session) });
    expect(existsSync(directoryOf(session))).toBe(true);
  });
});

test.each(['plan', 'autopilot', '', 'constructor'])(
  'a prompt of mode %j counts as one without',
  async (mode) => {
    const { session } = await runtime.session([say('done')]);
    const events = await session.turn('Hello', { mode });
    expect(story(events)).toContain('assistant.message "done"');
    const warnings = events.filter(({ type }) => type === 'session.warning');
    expect(warnings).toMatchObject([
      {
        ephemeral: true,
        data: {
          message: expect.stringContaining(`The mode ${JSON.stringify(mode)} of session.send has no effect`),
        },
      },
    ]);
  },
);

test('session.options.update moves the session: snapshots, tools and prompt follow, also after a restart', async () => {
  const place = join(realpathSync(runtime.workingDirectory), 'elsewhere');
  mkdirSync(place);
  writeFileSync(join(place, 'here.txt'), 'found here');
  const look = callTools({ id: 'c1', name: 'view', arguments: { path: join(place, 'here.txt') } });
  const where = callTools({ id: 'c2', name: 'bash', arguments: { command: 'pwd', description: 'where' } });
  const { session, model } = await runtime.session([say('one'), look, where, say('two')]);
  await session.turn('Hello');
  expect(await session.call('session.options.update', { workingDirectory: 'elsewhere' })).toEqual({
    success: true,
  });
  expect((await session.next('session.context_changed')).data).toEqual({ cwd: place });
  expect(await session.call('session.metadata.snapshot')).toMatchObject({
    workingDirectory: place,
    workspace: { cwd: place },
  });
  await session.call('session.permissions.setMode', { mode: 'allow-all' });
  const results = story(await session.turn('Look around')).filter((line) => line.includes('_complete'));
  expect(results).toEqual([
    expect.stringContaining('found here'),
    expect.stringContaining(`${place}\\n<exited with exit code 0>`),
  ]);
  expect(JSON.stringify(model.requests[1]?.body)).toContain(`${place}`);
  await session.call('session.destroy');
  const other = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }));
  const resumed = await other.resume(session.sessionId);
  expect(await resumed.call('session.metadata.snapshot')).toMatchObject({ workingDirectory: place });
});

test('session.options.update refuses a directory that is not there, and changes nothing else', async () => {
  const { session } = await runtime.session([]);
  const before = await session.call('session.metadata.snapshot');
  const wish = { workingDirectory: 'no-such', clientName: 'changed' };
  expect(await session.failure('session.options.update', wish)).toMatchObject({
    code: -32603,
    message: expect.stringContaining('Directory does not exist or cannot be accessed'),
  });
  expect(await session.call('session.metadata.snapshot')).toEqual(before);
});

test('an unknown model is accepted at create, with a warning; its service is called for it', async () => {
  const model = runtime.script(say('hi'));
  const process = runtime.spawn({
    flags: ['--stdio', '--auth-token-env', 'MY_TOKEN'],
    environment: { COPILOT_API_URL: model.baseUrl, MY_TOKEN: 'gho_1' },
  });
  const client = await runtime.connect(process);
  const session = await client.create({ model: 'fake-test-model' });
  const events = await session.turn('Hello');
  expect(events.filter(({ type }) => type === 'session.warning').map(({ data }) => data)).toMatchObject([
    { message: expect.stringContaining('The service does not list the model fake-test-model') },
  ]);
  expect(model.requests[0]?.body).toMatchObject({ model: 'fake-test-model' });
});

test('the relative path of a selection is echoed as it came', async () => {
  writeFileSync(join(runtime.workingDirectory, 'sel.txt'), 'alpha\nbeta\n');
  const { session } = await runtime.session([say('ok')]);
  const selection = { start: { line: 0, character: 0 }, end: { line: 0, character: 5 } };
  await session.turn('Look', { attachments: [{ type: 'selection', filePath: 'sel.txt', selection }] });
  const message = session.events.find(({ type }) => type === 'user.message');
  expect(message?.data).toMatchObject({
    attachments: [{ filePath: 'sel.txt', displayName: 'sel.txt', text: 'alpha', selection }],
  });
});

describe('session.shell.exec', () => {
  const exits = (processId: string) =>
    runtime.client.until(() => {
      for (const frame of runtime.client.frames)
        if (frame.type === 'other' && JSON.stringify(frame.message).includes(processId)) return frame.message;
      return undefined;
    }, 'shell.exit');

  test.each([0, 2 ** 40])('with a timeout of %d the command runs to its end', async (timeout) => {
    const { session } = await runtime.session([]);
    const { processId } = await session.call<{ processId: string }>('session.shell.exec', {
      command: 'sleep 0.2; exit 7',
      timeout,
    });
    expect(await exits(processId)).toMatchObject({ params: { processId, exitCode: 7 } });
  });

  test('a negative timeout is refused', async () => {
    const { session } = await runtime.session([]);
    expect(await session.failure('session.shell.exec', { command: 'true', timeout: -1 })).toMatchObject({
      code: -32602,
    });
  });
});

describe('session.tools_updated', () => {
  const tool = (name: string) => ({ tools: [{ name, skipPermission: true }] });

  test.each(['its connection closes', 'it leaves the session'])(
    'reaches the other clients when one with tools goes: %s',
    async (how) => {
      const { session } = await runtime.session([]);
      const other = await runtime.connect();
      const theirs = await other.resume(session.sessionId, tool('look'));
      await session.next('session.resume');
      const from = session.events.length;
      if (how === 'its connection closes') await other.close();
      else await theirs.call('session.destroy');
      const { data } = await session.next('session.tools_updated');
      expect(data).toEqual({ model: 'scripted' });
      expect(session.events.slice(from).map(({ type }) => type)).toEqual(['session.tools_updated']);
    },
  );

  test('is not sent for one without tools, and is for one that joins with tools by create', async () => {
    const { session } = await runtime.session([]);
    const other = await runtime.connect();
    await other.resume(session.sessionId);
    await session.next('session.resume');
    const from = session.events.length;
    await other.close();
    const third = await runtime.connect();
    await third.create({ sessionId: session.sessionId, ...tool('hear') });
    await session.next('session.tools_updated');
    expect(session.events.slice(from).map(({ type }) => type)).toEqual(['session.tools_updated']);
  });
});
