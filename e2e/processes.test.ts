import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, examineEvents, hold, liveRuntime, providerOf, say, story } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();
const look = callTools({ id: 'c1', name: 'look', arguments: {} });
const tools = [{ name: 'look', skipPermission: true }];

/** Another process on the same home, and a client of it. */
async function other() {
  const process = runtime.spawn({ flags: ['--stdio'] });
  return { process, client: await runtime.connect(process) };
}

test('an idle session is handed over, and back', async () => {
  const model = runtime.script(say('one'), say('two'), say('three'));
  const first = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }), { hasGaps: true });
  const ours = await first.create(providerOf(model));
  await ours.turn('First');
  const { client } = await other();
  const theirs = await client.resume(ours.sessionId, providerOf(model));
  expect((await theirs.next('session.resume')).data).toMatchObject({
    sessionWasActive: false,
    alreadyInUse: false,
  });
  await theirs.turn('Second');
  expect(story(await ours.turn('Third'))).toEqual([
    'user.message "Third" idle 0',
    'assistant.turn_start 0',
    'assistant.message "three"',
    'assistant.turn_end 0',
    'session.idle~',
  ]);
  const history = model.requests[2]?.body.messages.map(({ role }) => role);
  expect(history).toEqual(['system', 'user', 'assistant', 'user', 'assistant', 'user']);
  const stored = await ours.stored();
  expect(examineEvents(stored)).toEqual([]);
  expect(story(stored).filter((line) => /user|shutdown/.test(line))).toEqual([
    'user.message "First" idle 0',
    'user.message "Second" idle 0',
    'user.message "Third" idle 0',
  ]);
});

test('a note to a session that was handed over is written after what happened elsewhere', async () => {
  const model = runtime.script(say('one'), say('two'));
  const first = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }), { hasGaps: true });
  const ours = await first.create(providerOf(model));
  await ours.turn('First');
  const { client } = await other();
  const theirs = await client.resume(ours.sessionId, providerOf(model));
  await theirs.turn('Second');
  await ours.call('session.log', { message: 'noted' });
  expect(story(await ours.stored()).slice(-2)).toEqual([
    'assistant.turn_end 0',
    'session.info notification "noted"',
  ]);
});

test('a client of the former owner may resume a session that was handed over', async () => {
  const model = runtime.script(say('one'), say('two'), say('three'));
  const first = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }), { hasGaps: true });
  const ours = await first.create(providerOf(model));
  await ours.turn('First');
  const { client } = await other();
  await (await client.resume(ours.sessionId, providerOf(model))).turn('Second');
  const again = await first.resume(ours.sessionId, providerOf(model));
  expect((await again.next('session.resume')).data).toMatchObject({ sessionWasActive: false });
  await again.turn('Third');
  expect(story(await again.stored()).filter((line) => /user|resume/.test(line))).toEqual([
    'user.message "First" idle 0',
    'session.resume',
    'user.message "Second" idle 0',
    'session.resume',
    'user.message "Third" idle 0',
  ]);
});

test('destroy of a session that was handed over succeeds and says nothing', async () => {
  const { session, model } = await runtime.session([say('one'), say('two')]);
  await session.turn('First');
  const { client } = await other();
  const theirs = await client.resume(session.sessionId, providerOf(model));
  await theirs.turn('Second');
  expect(await session.call('session.destroy')).toEqual({ success: true });
  expect(story(await theirs.stored())).not.toContain('session.shutdown routine');
});

test('a session that was handed over and is idle is deleted by the former owner too', async () => {
  const { session, model } = await runtime.session([say('one'), say('two')]);
  await session.turn('First');
  const { client } = await other();
  const theirs = await client.resume(session.sessionId, providerOf(model));
  await theirs.turn('Second');
  expect(await session.call('session.delete')).toEqual({ success: true });
  expect(await theirs.failure('session.send', { prompt: 'Third' })).toMatchObject({
    code: -32603,
    data: { code: 'session_not_found' },
  });
});

test('a session with work in a live process is refused by name, unless it is taken over', async () => {
  const { session, model } = await runtime.session([look, say('seen')], { tools });
  await session.send('Look');
  const { data } = await session.next('external_tool.requested');
  const { client } = await other();
  const text = new RegExp(
    `^Request session\\.resume failed with message: Session ${session.sessionId} is in use by process ${runtime.process.pid} on \\S+ since \\S+`,
  );
  expect(await client.failure('session.resume', { sessionId: session.sessionId })).toEqual({
    code: -32603,
    message: expect.stringMatching(text),
    data: { code: 'session_in_use', retryable: true },
  });
  expect(await client.failure('session.create', { sessionId: session.sessionId })).toMatchObject({
    data: { code: 'session_in_use' },
  });
  const theirs = await client.resume(session.sessionId, {
    ...providerOf(model),
    tools,
    takeOver: true,
    continuePendingWork: true,
  });
  expect(await theirs.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
  await theirs.next('session.idle');
  expect(story(await theirs.stored()).at(-2)).toBe('assistant.message "seen"');
});

test('an owner that was stopped in a turn is fenced when it goes on: it says so, is idle, and nothing of it enters the log', async () => {
  const held = hold(say('stale answer'));
  const model = runtime.script(held.reply, say('fresh answer'), say('later'));
  const { process, client } = await other();
  const stale = await client.create(providerOf(model));
  await stale.send('First');
  await model.asked(1);
  await process.signal('SIGSTOP');
  held.release();
  const fresh = await runtime.client.resume(stale.sessionId, {
    ...providerOf(model),
    takeOver: true,
    continuePendingWork: true,
  });
  await fresh.next('session.idle');
  const before = await fresh.stored();
  await process.signal('SIGCONT');
  expect((await stale.next('session.error')).data).toEqual({
    errorType: 'storage',
    errorCode: 'session_taken_over',
    message: `Session ${stale.sessionId} was taken over by another claim`,
  });
  expect((await stale.next('session.idle')).data).toEqual({ aborted: true });
  await fresh.turn('Second');
  const after = await fresh.stored();
  expect(after.slice(0, before.length)).toEqual(before);
  expect(story(after).filter((line) => line.startsWith('assistant.message'))).toEqual([
    'assistant.message "fresh answer"',
    'assistant.message "later"',
  ]);
  expect(stale.events.map(({ data }) => JSON.stringify(data)).join()).not.toContain('stale answer');
});

test('one who is refused a new session takes nothing away from the one who has it', async () => {
  const model = runtime.script(hold().reply);
  const ours = await runtime.client.create({ ...providerOf(model), sessionId: 'wanted-by-two' });
  await ours.send('Wait');
  await ours.next('assistant.turn_start');
  const directory = join(runtime.home.path, 'session-state', ours.sessionId);
  // As if the other had been first to make it, and second to make the session.
  rmSync(directory, { recursive: true });
  const { client } = await other();
  const refusal = await client.failure('session.create', { ...providerOf(model), sessionId: ours.sessionId });
  expect(refusal.message).toContain('is in use by process');
  expect(existsSync(join(directory, 'files'))).toBe(true);
});
