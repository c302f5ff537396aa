import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hold, liveRuntime, providerOf, say, story } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test('a session without an id gets a UUID and a workspace', async () => {
  const opened = await runtime.client.call<Record<string, string>>('session.create', {});
  expect(opened).toEqual({
    sessionId: expect.stringMatching(uuid),
    nativeSessionId: opened.sessionId,
    startTime: expect.stringMatching(/^\d{4}-.*Z$/),
    isRemote: false,
    mode: 'interactive',
    workspacePath: join(runtime.home.path, 'session-state', opened.sessionId ?? ''),
    capabilities: { ui: { elicitation: false, mcpApps: false, canvases: false }, extensions: false },
  });
  expect(existsSync(opened.workspacePath ?? '')).toBe(true);
});

test('a proposed id is echoed, and creating it again gives the live session', async () => {
  const { session } = await runtime.session([say('hi')], { sessionId: 'proposed-1' });
  expect(session.sessionId).toBe('proposed-1');
  await session.turn('Hello');
  const again = await runtime.client.call('session.create', { sessionId: 'proposed-1' });
  expect(again).toMatchObject({ sessionId: 'proposed-1' });
  expect((await session.stored()).filter(({ type }) => type === 'session.start')).toHaveLength(1);
});

test('a session that was spoken in is listed, found, resumed and deleted', async () => {
  const { session } = await runtime.session([say('hi')], { sessionId: 'listed-1', clientName: 'tester' });
  await session.turn('What is up?');
  const meta = {
    sessionId: 'listed-1',
    startTime: expect.any(String),
    modifiedTime: expect.any(String),
    isRemote: false,
    isDetached: false,
    summary: 'What is up?',
    name: 'What is up?',
    clientName: 'tester',
    context: { cwd: runtime.workingDirectory },
  };
  const { client } = runtime;
  expect(await client.call('session.getMetadata', { sessionId: 'listed-1' })).toEqual({ session: meta });
  expect(await client.call('session.getLastId', {})).toEqual({ sessionId: 'listed-1' });
  const { sessions } = await client.call<{ sessions: unknown[] }>('session.list', {});
  expect(sessions[0]).toEqual(meta);
  const list = async (filter: object) =>
    (await client.call<{ sessions: { sessionId: string }[] }>('session.list', { filter })).sessions.map(
      (each) => each.sessionId,
    );
  expect(await list({ cwd: runtime.workingDirectory, branch: null })).toContain('listed-1');
  expect(await list({ cwd: '/elsewhere' })).toEqual([]);
  expect(await list({ repository: 'a/b' })).toEqual([]);
  expect(await session.call('session.destroy')).toEqual({ success: true });
  expect(await session.call('session.destroy')).toEqual({ success: false });
  const resumed = await client.resume('listed-1');
  const { data } = await resumed.next('session.resume');
  expect(data).toMatchObject({
    sessionWasActive: false,
    alreadyInUse: false,
    context: { cwd: runtime.workingDirectory },
  });
  expect(story(await resumed.stored()).slice(-2)).toEqual(['session.shutdown routine', 'session.resume']);
  expect(await resumed.call('session.delete')).toEqual({ success: true });
  await client.until(
    () => client.frames.find((frame) => frame.type === 'lifecycle' && frame.kind === 'session.deleted'),
    'session.deleted',
  );
  expect(existsSync(join(runtime.home.path, 'session-state', 'listed-1'))).toBe(false);
  expect(await client.call('session.getMetadata', { sessionId: 'listed-1' })).toEqual({});
  expect(await client.call('session.delete', { sessionId: 'listed-1' })).toEqual({
    success: false,
    error: 'Session file not found for listed-1',
  });
});

test('a session without a prompt is not listed and is gone after destroy', async () => {
  const session = await runtime.client.create({ sessionId: 'silent-1' });
  const { sessions } = await runtime.client.call<{ sessions: { sessionId: string }[] }>('session.list', {});
  expect(sessions.map(({ sessionId }) => sessionId)).not.toContain('silent-1');
  await session.call('session.destroy');
  expect(await session.failure('session.resume')).toMatchObject({ data: { code: 'session_not_found' } });
});

test('a silent resume leaves no trace, and the session goes on', async () => {
  const { session, model } = await runtime.session([say('hi'), say('again')]);
  await session.turn('Hello');
  await session.call('session.destroy');
  const resumed = await runtime.client.resume(session.sessionId, {
    disableResume: true,
    ...providerOf(model),
  });
  expect(story(await resumed.stored()).at(-1)).toBe('session.shutdown routine');
  expect(story(await resumed.turn('Still there?'))).toEqual([
    'user.message "Still there?" idle 0',
    'assistant.turn_start 0',
    'assistant.message "again"',
    'assistant.turn_end 0',
    'session.idle~',
  ]);
});

test('a session that is deleted in the middle of a turn is gone', async () => {
  const held = hold();
  const { session, model } = await runtime.session([held.reply]);
  await session.send('Wait');
  await model.asked(1);
  expect(await session.call('session.delete')).toEqual({ success: true });
  expect(await session.failure('session.getMessages')).toMatchObject({ data: { code: 'session_not_found' } });
  expect(await session.failure('session.resume')).toMatchObject({ data: { code: 'session_not_found' } });
  held.release();
});

test('without a terminal there is no foreground session', async () => {
  expect(await runtime.client.call('session.getForeground', {})).toEqual({});
  expect(await runtime.client.call('session.setForeground', { sessionId: 'x' })).toEqual({
    success: false,
    error: 'Not running in TUI+server mode - no foreground session change handler registered',
  });
});
