import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hold, liveRuntime, providerOf, say, type WireSession } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--port', '0'] });
const deploy = { commands: [{ name: 'deploy', description: 'Deploys' }] };

const enqueue = (session: WireSession, command: string) =>
  session.call('session.commands.enqueue', { command });
const messagesOf = (session: WireSession) =>
  session.events.flatMap(({ type, data }) =>
    type === 'session.info' || type === 'session.warning'
      ? [`${type} ${(data as { message: string }).message}`]
      : [],
  );
const interested = (session: WireSession) =>
  session.call('session.eventLog.registerInterest', { eventType: 'command.queued' });

/** Another process on the same home, and a client of it. */
async function other() {
  const process = runtime.spawn({ flags: ['--stdio'] });
  return { process, client: await runtime.connect(process) };
}

test('a command waits for its turn among the prompts, and runs at the client that declared it', async () => {
  const held = hold(say('one'));
  const { session, model } = await runtime.session([held.reply, say('two')], deploy);
  await session.send('First');
  await model.asked(1);
  expect(await enqueue(session, '/deploy to the garden')).toEqual({ queued: true });
  await session.send('Second', { mode: 'enqueue' });
  expect(session.events.some(({ type }) => type === 'command.execute')).toBe(false);
  held.release();
  const { data } = await session.next('command.execute');
  expect(data).toEqual({
    requestId: expect.any(String),
    command: '/deploy to the garden',
    commandName: 'deploy',
    args: 'to the garden',
  });
  expect(model.requests).toHaveLength(1);
  await session.call('session.commands.handlePendingCommand', { requestId: data.requestId });
  await session.next('session.idle');
  expect(model.requests).toHaveLength(2);
  expect(messagesOf(session)).toEqual([]);
});

test("the runtime's own commands run in an idle session, and users read what they say", async () => {
  const { session } = await runtime.session([]);
  await enqueue(session, '/mode plan');
  await session.next('session.idle');
  expect(await session.call('session.mode.get')).toBe('plan');
  await enqueue(session, 'mode');
  await session.next('session.idle');
  await enqueue(session, '/model');
  await session.next('session.idle');
  await enqueue(session, '/mode fast');
  await session.next('session.idle');
  await enqueue(session, '/nothing at all');
  await session.next('session.idle');
  expect(messagesOf(session)).toEqual([
    'session.info The mode is plan.',
    'session.info The mode is plan. Choose one of /mode interactive, /mode plan, /mode autopilot',
    expect.stringMatching(/^session\.info The model is \S+\.$/),
    'session.warning /mode failed: The mode is one of interactive, plan, autopilot',
    'session.warning Unknown command: nothing',
  ]);
  expect(await session.call('session.queue.pendingItems')).toEqual({ items: [], steeringMessages: [] });
  expect((await session.failure('session.commands.enqueue', { command: ' ' })).message).toContain(
    'command: a command has a name',
  );
});

test('a command that makes a prompt is answered before the prompts behind it, in its mode', async () => {
  const held = hold(say('one'));
  const { session, model } = await runtime.session([held.reply, say('planned'), say('three')]);
  await session.send('First');
  await model.asked(1);
  await enqueue(session, '/plan the garden');
  await session.send('Third', { mode: 'enqueue' });
  held.release();
  await session.next('session.idle');
  const prompts = session.events.flatMap(({ type, data }) => (type === 'user.message' ? [data] : []));
  expect(prompts).toMatchObject([
    { content: 'First' },
    { content: 'the garden', agentMode: 'plan', delivery: 'queued' },
    { content: 'Third' },
  ]);
});

test('a skill runs as a queued command', async () => {
  const directory = join(runtime.workingDirectory, 'own-skills');
  mkdirSync(join(directory, 'poem'), { recursive: true });
  writeFileSync(
    join(directory, 'poem', 'SKILL.md'),
    '---\nname: poem\ndescription: Writes poems\n---\nRhyme always.\n',
  );
  const { session, model } = await runtime.session([say('a rhyme')], { skillDirectories: [directory] });
  await enqueue(session, '/poem of trees');
  await session.next('session.idle');
  expect(JSON.stringify(model.requests[0]?.body.messages.at(-1))).toContain('Rhyme always.');
  expect(session.events.find(({ type }) => type === 'user.message')?.data).toMatchObject({
    content: '/poem of trees',
  });
});

test('clients that wait for queued commands are offered each first: what they handle is not run', async () => {
  const { session } = await runtime.session([], deploy);
  await interested(session);
  await enqueue(session, '/deploy');
  const { data } = await session.next('command.queued');
  expect(data).toEqual({ requestId: expect.any(String), command: '/deploy' });
  const respond = (result: object) =>
    session.call('session.commands.respondToQueuedCommand', { requestId: data.requestId, result });
  expect(await respond({ handled: true })).toEqual({ success: true });
  expect(await respond({ handled: true })).toEqual({ success: false });
  await session.next('session.idle');
  expect(session.events.some(({ type }) => type === 'command.execute')).toBe(false);
});

test('what they do not handle is run, and so is what waits for a client that has left', async () => {
  const { session } = await runtime.session([], deploy);
  const visitor = await runtime.connect();
  const guest = await visitor.resume(session.sessionId);
  await interested(guest);
  await enqueue(session, '/mode plan');
  const first = await session.next('command.queued');
  await session.call('session.commands.respondToQueuedCommand', {
    requestId: first.data.requestId,
    result: { handled: false },
  });
  await session.next('session.idle');
  await enqueue(session, '/mode autopilot');
  await session.next('command.queued');
  await visitor.close();
  await session.next('session.idle');
  expect(await session.call('session.mode.get')).toBe('autopilot');
  expect(messagesOf(session)).toEqual([
    'session.info The mode is plan.',
    'session.info The mode is autopilot.',
  ]);
});

test('the queue stops where a client says so, and goes on with the next prompt', async () => {
  const { session, model } = await runtime.session([say('later'), say('now')]);
  await interested(session);
  await enqueue(session, '/one');
  const { data } = await session.next('command.queued');
  await session.send('Later', { mode: 'enqueue' });
  await session.call('session.commands.respondToQueuedCommand', {
    requestId: data.requestId,
    result: { handled: true, stopProcessingQueue: true },
  });
  await session.next('session.idle');
  expect(model.requests).toHaveLength(0);
  await session.send('Now');
  await session.next('session.idle');
  expect(model.requests).toHaveLength(2);
});

test('an abort takes back the command that waits for an answer', async () => {
  const { session } = await runtime.session([], deploy);
  await enqueue(session, '/deploy');
  await session.next('command.execute');
  await session.call('session.abort');
  expect((await session.next('session.idle')).data).toEqual({ aborted: true });
  expect(await session.call('session.queue.pendingItems')).toEqual({ items: [], steeringMessages: [] });
});

test("a client's command that kill -9 cut off is not run again, and users learn of it; others wait on", async () => {
  const model = runtime.script(say('done'));
  const { process, client } = await other();
  const before = await client.create({ ...providerOf(model), ...deploy });
  await enqueue(before, '/deploy');
  await before.next('command.execute');
  await enqueue(before, '/mode plan');
  await process.signal('SIGKILL');
  const after = await runtime.client.resume(before.sessionId, {
    ...providerOf(model),
    ...deploy,
    continuePendingWork: true,
  });
  await after.next('session.idle');
  expect(after.events.some(({ type }) => type === 'command.execute')).toBe(false);
  expect(messagesOf(after)).toEqual([
    'session.warning The queued command /deploy was cut off: whether it has run is not known. It is not run again.',
    'session.info The mode is plan.',
  ]);
});

test('resumed without continuePendingWork, commands do not become words for the model', async () => {
  const model = runtime.script(say('hello'));
  const { process, client } = await other();
  const before = await client.create({ ...providerOf(model), ...deploy });
  await enqueue(before, '/deploy');
  await before.next('command.execute');
  await enqueue(before, '/mode plan');
  await process.signal('SIGKILL');
  const after = await runtime.client.resume(before.sessionId, { ...providerOf(model) });
  await after.send('Hi');
  await after.next('session.idle');
  expect(JSON.stringify(model.requests[0]?.body.messages)).not.toContain('/deploy');
  const warnings = (await after.stored()).flatMap(({ type, data }) =>
    type === 'session.warning' ? [(data as { message: string }).message] : [],
  );
  expect(warnings).toEqual([
    'The queued command /deploy was cut off: whether it has run is not known. It is not run again.',
    'The queued command /mode plan was not run.',
  ]);
});
