import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { Client, RuntimeConnection, type SessionLifecycleEvent } from '@groundcrew/sdk';
import { hold, providerOf, say, story } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { nextEvent, runtimePath, sdkWorld } from './sdk-world.js';

const world = sdkWorld();

/** A runtime that writes its process id to a file at each start, and ends with a word when it is asked to. */
function countedRuntime(): { readonly path: string; starts(): readonly number[] } {
  const file = join(world.home.path, `starts-${Math.random()}`);
  const path = world.program(`
    require('node:fs').appendFileSync(${JSON.stringify(file)}, process.pid + '\\n');
    process.on('SIGUSR2', () => { process.stderr.write('last words\\n', () => process.exit(7)); });
    require(${JSON.stringify(runtimePath)});
  `);
  return { path, starts: () => readFileSync(file, 'utf8').trim().split('\n').map(Number) };
}

test('parallel first calls start exactly one runtime', async () => {
  const runtime = countedRuntime();
  const client = world.newClient({ connection: RuntimeConnection.forStdio({ path: runtime.path }) });
  const [first, second, third] = await Promise.all([
    client.createSession(),
    client.createSession(),
    client.ping('hi'),
    client.start(),
  ]);
  expect(runtime.starts()).toHaveLength(1);
  expect(first.sessionId).not.toBe(second.sessionId);
  expect(third).toMatchObject({ message: 'pong: hi', protocolVersion: 3 });
});

test('without a path, GROUNDCREW_PATH names the runtime', async () => {
  const runtime = countedRuntime();
  const client = world.newClient({ env: { PATH: process.env.PATH, GROUNDCREW_PATH: runtime.path } });
  await client.start();
  expect(runtime.starts()).toHaveLength(1);
});

test('the home is the one of the program groundcrew: GROUNDCREW_HOME, then COPILOT_HOME', async () => {
  const homes = ['g', 'c'].map((name) => join(world.home.path, name));
  const [GROUNDCREW_HOME, COPILOT_HOME] = homes;
  const env = { PATH: process.env.PATH, GROUNDCREW_HOME, COPILOT_HOME };
  const client = new Client({ connection: RuntimeConnection.forStdio({ path: runtimePath }), env });
  await client.createSession({ sessionId: 'at-home' });
  await client.stop();
  expect(homes.map((home) => existsSync(join(home, 'groundcrew.db')))).toEqual([true, false]);
});

test('a path where nothing is causes an error that says so', async () => {
  const client = world.newClient({ connection: RuntimeConnection.forStdio({ path: '/no/such/runtime.js' }) });
  await expect(client.start()).rejects.toMatchObject({
    kind: 'runtime_not_found',
    message: 'There is no runtime at /no/such/runtime.js, which the option `path` names',
  });
});

test('a runtime that does not start causes an error with its output', async () => {
  const path = world.program(`process.stderr.write('bad luck\\n'); process.exitCode = 3;`);
  const failure = { kind: 'start_failed', message: 'The runtime exited with code 3: bad luck' };
  for (const connection of [RuntimeConnection.forStdio({ path }), RuntimeConnection.forTcp({ path })]) {
    const client = world.newClient({ connection });
    await expect(Promise.all([client.start(), client.listModels()])).rejects.toMatchObject(failure);
  }
});

test('a missing working directory causes an error that says so', async () => {
  await expect(world.newClient({ workingDirectory: '/no/such/place' }).start()).rejects.toMatchObject({
    kind: 'invalid_option',
    message: 'The working directory /no/such/place does not exist',
  });
});

test('a file that is no program causes an error that says so', async () => {
  const client = world.newClient({ connection: RuntimeConnection.forStdio({ path: world.home.path }) });
  await expect(client.start()).rejects.toMatchObject({
    kind: 'start_failed',
    message: expect.stringMatching(/^The runtime could not be started: spawn .* EACCES$/),
  });
});

test('a runtime that dies rejects all that is pending with its stderr, and the next call starts another', async () => {
  const runtime = countedRuntime();
  const client = world.newClient({ connection: RuntimeConnection.forStdio({ path: runtime.path }) });
  const { session, model } = await world.session([hold().reply], {}, client);
  const waiting = session.sendAndWait('hi');
  const reading = nextEvent(session, 'session.idle');
  await model.asked(1);
  const polling = session.call('session.eventLog.read', { cursor: await tail(session), waitMs: 20_000 });
  const pending = Promise.allSettled([waiting, reading, polling]);
  process.kill(runtime.starts()[0] ?? 0, 'SIGUSR2');
  const lost = { kind: 'connection_lost', message: 'The runtime exited with code 7: last words' };
  expect(
    (await pending).map((each) => (each.status === 'rejected' ? each.reason : each.value)),
  ).toMatchObject([lost, lost, lost]);
  await expect(session.send({ prompt: 'more', messageId: 'm' })).rejects.toMatchObject({
    ...lost,
    messageId: 'm',
  });
  await session.disconnect();
  expect(await client.getStatus()).toMatchObject({ protocolVersion: 3 });
  expect(runtime.starts()).toHaveLength(2);
});

async function tail(session: Awaited<ReturnType<Client['createSession']>>): Promise<string> {
  return (await session.call('session.eventLog.tail')).cursor;
}

test('a runtime that closes its stdin and dies does not crash the app', async () => {
  const path = world.program(`
    process.stdin.once('data', () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { ok: true, protocolVersion: 3, version: '0' } });
      process.stdout.write('Content-Length: ' + body.length + '\\r\\n\\r\\n' + body, () => process.stdin.destroy());
      setTimeout(() => process.exit(9), 50);
    });
  `);
  const client = world.newClient({ connection: RuntimeConnection.forStdio({ path }) });
  await client.start();
  const big = 'x'.repeat(1024 * 1024);
  const calls = await Promise.allSettled([client.ping(big), client.ping(big), client.ping(big)]);
  expect(calls.map((call) => call.status === 'rejected' && call.reason.message)).toEqual(
    Array(3).fill('The runtime exited with code 9'),
  );
});

test('a runtime on a port ends when the process that started it is killed', async () => {
  const repository = join(import.meta.dirname, '..');
  const script = join(world.home.path, 'starter.mts');
  const sdk = join(repository, 'packages', 'sdk', 'src', 'index.ts');
  writeFileSync(
    script,
    `import { Client, RuntimeConnection } from ${JSON.stringify(sdk)};
     const client = new Client({ connection: RuntimeConnection.forTcp({ path: ${JSON.stringify(runtimePath)} }) });
     await client.start();
     process.stdout.write(client.runtimePort + '\\n');`,
  );
  const tsx = join(repository, 'node_modules', 'tsx', 'dist', 'loader.mjs');
  const starter = spawn(process.execPath, ['--import', tsx, script], {
    cwd: repository,
    env: { PATH: process.env.PATH, HOME: world.home.path },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [announced] = await once(starter.stdout, 'data');
  const port = Number(announced);
  await connectAndStay(port, () => starter.kill('SIGKILL'));
  // Between the end of its connections and its own it may still take one.
  const refused = async (): Promise<unknown> => connectAndStay(port).then(refused, (error) => error.code);
  expect(await refused()).toBe('ECONNREFUSED');
});

/** Resolves when the connection that was made has ended; rejects when none could be made. */
async function connectAndStay(port: number, onConnected: () => void = () => undefined): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.resume();
  onConnected();
  await ended;
}

test('a runtime on a port is shared with others who have its token', async () => {
  const connectionToken = 'shared-secret';
  const owner = world.newClient({ connection: RuntimeConnection.forTcp({ connectionToken }) });
  const { session } = await world.session([say('for all')], {}, owner);
  const port = owner.runtimePort;
  for (const url of [`${port}`, `localhost:${port}`, `http://127.0.0.1:${port}`]) {
    const guest = world.newClient({ connection: RuntimeConnection.forUri(url, { connectionToken }) });
    expect(await guest.getStatus()).toEqual(await owner.getStatus());
    expect(await guest.stop()).toEqual([]);
  }
  for (const connection of [
    RuntimeConnection.forUri(`${port}`),
    RuntimeConnection.forUri(`${port}`, { connectionToken: 'guess' }),
  ]) {
    await expect(world.newClient({ connection }).start()).rejects.toThrow('AUTHENTICATION_FAILED');
  }
  expect((await session.sendAndWait('still there?'))?.data.content).toBe('for all');
});

test('each runtime on a port has a token of its own, and refuses clients without it', async () => {
  const owner = world.newClient({ connection: RuntimeConnection.forTcp() });
  await owner.start();
  const guest = world.newClient({ connection: RuntimeConnection.forUri(`${owner.runtimePort}`) });
  await expect(guest.listSessions()).rejects.toThrow('AUTHENTICATION_FAILED');
});

test('a port that is taken causes an error that says so', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as { port: number };
  const client = world.newClient({ connection: RuntimeConnection.forTcp({ port }) });
  await expect(client.start()).rejects.toMatchObject({
    kind: 'start_failed',
    message: expect.stringContaining('Address already in use'),
  });
  taken.close();
});

test('an address where no server listens causes an error that says so', async () => {
  const client = world.newClient({ connection: RuntimeConnection.forUri('localhost:1') });
  await expect(client.start()).rejects.toMatchObject({
    kind: 'start_failed',
    message: expect.stringContaining('No runtime answers at localhost:1'),
  });
});

test('stop leaves the sessions, ends the runtime and says what went wrong', async () => {
  const runtime = countedRuntime();
  const client = world.newClient({ connection: RuntimeConnection.forStdio({ path: runtime.path }) });
  const { session } = await world.session([say('kept')], {}, client);
  await session.sendAndWait('hi');
  expect(await client.stop()).toEqual([]);
  expect(isAlive(runtime.starts()[0])).toBe(false);
  await expect(session.send('more')).rejects.toThrow('Session not found');
  expect(await client.stop()).toEqual([]);
  expect(await world.client.getSessionMetadata(session.sessionId)).toMatchObject({ summary: 'hi' });
});

test.each(['forStdio', 'forTcp'] as const)(
  'forceStop of %s ends a runtime at once, even one that starts',
  async (how) => {
    const runtime = countedRuntime();
    const client = world.newClient({ connection: RuntimeConnection[how](runtime) });
    await client.start();
    await client.forceStop();
    const starting = client.start();
    await Promise.all([expect(starting).rejects.toThrow('The client was stopped'), client.forceStop()]);
    expect(runtime.starts().filter(isAlive)).toEqual([]);
  },
);

test('a runtime that never greets holds up neither stop, nor forceStop beside it', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const guest = () => world.newClient({ connection: RuntimeConnection.forUri(String(port)) });
  const impatient = guest();
  const refused = expect(impatient.start()).rejects.toThrow('The client was stopped');
  const stopping = impatient.stop();
  await impatient.forceStop();
  await refused;
  expect((await stopping).map(({ message }) => message)).toEqual(['The client was stopped']);

  const patient = guest();
  const why = /has not answered, and 10 seconds after the client was stopped it was given up/;
  const given = expect(patient.start()).rejects.toThrow(why);
  expect((await patient.stop()).map(({ message }) => message)).toEqual([expect.stringMatching(why)]);
  await given;
  silent.close();
});

function isAlive(pid = 0): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('sessions are listed, found, described and deleted', async () => {
  const client = world.newClient();
  const received: SessionLifecycleEvent[] = [];
  const undo = client.onLifecycle((event) => received.push(event));
  const deleted: string[] = [];
  client.onLifecycle('session.deleted', ({ sessionId }) => deleted.push(sessionId));
  const { session } = await world.session(
    [say('hello')],
    { sessionId: 'listed', clientName: 'tests' },
    client,
  );
  await session.sendAndWait('hi');
  const [found] = await client.listSessions({ workingDirectory: world.workingDirectory });
  expect(found).toMatchObject({
    sessionId: 'listed',
    summary: 'hi',
    clientName: 'tests',
    isRemote: false,
    context: { workingDirectory: world.workingDirectory },
  });
  expect(found?.startTime).toBeInstanceOf(Date);
  expect(await client.listSessions({ workingDirectory: '/elsewhere' })).toEqual([]);
  expect(await client.getSessionMetadata('listed')).toEqual(found);
  expect(await client.getSessionMetadata('unknown')).toBeUndefined();
  expect(await client.getLastSessionId()).toBe('listed');
  await client.deleteSession('listed');
  undo();
  await expect(client.deleteSession('listed')).rejects.toThrow(
    'Failed to delete session listed: Session file not found',
  );
  await expect(session.send('more')).rejects.toThrow('Session not found');
  expect(deleted).toEqual(['listed']);
  expect([...new Set(received.map(({ type }) => type))]).toEqual([
    'session.created',
    'session.updated',
    'session.deleted',
  ]);
});

test('a session is resumed by another client, with what was said', async () => {
  const { session } = await world.session([say('42')]);
  await session.sendAndWait('Remember 42');
  await session.disconnect();
  const model = world.script(say('It was 42'));
  const client = world.newClient();
  const types: string[] = [];
  const resumed = await client.resumeSession(session.sessionId, {
    ...providerOf(model),
    onEvent: ({ type }) => types.push(type),
  });
  expect((await resumed.sendAndWait('What was it?'))?.data.content).toBe('It was 42');
  expect(types.slice(0, 2)).toEqual(['session.tools_updated', 'session.resume']);
  expect((await model.asked(1)).body.messages.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'user',
  ]);
  await resumed.disconnect();
  const silent = await client.resumeSession(session.sessionId, { disableResume: true });
  expect(story(await silent.getEvents()).filter((line) => line === 'session.resume')).toHaveLength(1);
});

test('a session that is not there cannot be resumed', async () => {
  await expect(world.client.resumeSession('nowhere')).rejects.toThrow('Session not found: nowhere');
});

test('two clients share a session: both hear, one answers for the other', async () => {
  const connectionToken = 'two';
  const owner = world.newClient({ connection: RuntimeConnection.forTcp({ connectionToken }) });
  await owner.start();
  const guest = world.newClient({
    connection: RuntimeConnection.forUri(`${owner.runtimePort}`, { connectionToken }),
  });
  const { session } = await world.session([say('heard by both')], {}, owner);
  const other = await guest.resumeSession(session.sessionId);
  const received = nextEvent(session, 'assistant.message');
  expect((await other.sendAndWait('hi'))?.id).toBe((await received).id);
  await other.disconnect();
  expect(await session.call('session.metadata.isProcessing')).toEqual({ processing: false });
});

test('a session opened twice by one client is heard by both, and stays open until the newer is left', async () => {
  const { session, model } = await world.session([say('one'), say('two')]);
  const again = await world.client.resumeSession(session.sessionId, { ...providerOf(model) });
  const received = nextEvent(session, 'assistant.message');
  await again.sendAndWait('1');
  expect((await received).data.content).toBe('one');
  await session.disconnect();
  expect((await again.sendAndWait('2'))?.data.content).toBe('two');
});

test('models, status and login are returned', async () => {
  expect(await world.client.getStatus()).toMatchObject({ protocolVersion: 3 });
  expect(await world.client.getAuthStatus()).toMatchObject({ isAuthenticated: false });
  expect(Array.isArray(await world.client.listModels())).toBe(true);
});

test('await using stops the client at the end of the block', async () => {
  const runtime = countedRuntime();
  {
    await using client = new Client({
      connection: RuntimeConnection.forStdio({ path: runtime.path }),
      baseDirectory: world.home.path,
    });
    await client.ping();
  }
  expect(runtime.starts().filter(isAlive)).toEqual([]);
});
