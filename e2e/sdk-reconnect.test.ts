import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import {
  approveAll,
  Client,
  type ClientOptions,
  type ConnectionLost,
  type HandlerFailure,
  type Reconnected,
  RuntimeConnection,
  type Session,
  type SessionEvent,
} from '@groundcrew/sdk';
import { answer, callTools, hold, providerOf, RuntimeProcess, say } from '@groundcrew/testkit';
import { afterEach, expect, test } from 'vitest';
import { deferred, nextEvent, sdkWorld } from './sdk-world.js';

const world = sdkWorld();
const servers: RuntimeProcess[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

/** A runtime that no client owns; with a port it takes the place of one that is gone. */
async function serve(port = 0, environment: Readonly<Record<string, string>> = {}) {
  const { path: home } = world.home;
  const { workingDirectory } = world;
  const flags = ['--headless', '--port', `${port}`];
  const server = new RuntimeProcess({ flags, home, workingDirectory, environment });
  servers.push(server);
  return { server, port: await server.port() };
}

/** A client that takes down how its connection fares. */
function clientAt(port: number, options: ClientOptions = {}) {
  const lost: ConnectionLost[] = [];
  const reconnected: Reconnected[] = [];
  const isLost = deferred<void>();
  const isBack = deferred<void>();
  const client = world.newClient({
    connection: RuntimeConnection.forUri(`${port}`),
    onConnectionLost: (each) => {
      lost.push(each);
      isLost.resolve();
    },
    onReconnected: (each) => {
      reconnected.push(each);
      isBack.resolve();
    },
    ...options,
  });
  return { client, lost, reconnected, isLost: isLost.promise, isBack: isBack.promise };
}

/** Every stored event once and in order: what was heard is what the log has. */
async function expectNoGap(session: Session, received: readonly SessionEvent[]): Promise<void> {
  const stored = (await session.getEvents()).map(({ id, type }) => `${type} ${id}`);
  expect(received.filter(({ ephemeral }) => !ephemeral).map(({ id, type }) => `${type} ${id}`)).toEqual(
    stored,
  );
}

test('after kill -9 in the middle of a turn the wait resolves, and the session goes on with tools and handlers', async () => {
  const { server, port } = await serve();
  const { client, lost, reconnected, isBack } = clientAt(port);
  const held = hold(say('never said'));
  const look = callTools({ id: 'c1', name: 'look', arguments: {} });
  const model = world.script(held.reply, say('said after all'), look, say('seen'));
  const received: SessionEvent[] = [];
  const session = await client.createSession({
    ...providerOf(model),
    tools: [{ name: 'look', handler: () => 'a tree' }],
    onPermissionRequest: approveAll,
    onEvent: (event) => received.push(event),
  });
  const answered = session.sendAndWait('Say something');
  await model.asked(1);
  await server.signal('SIGKILL');
  await serve(port);
  expect((await answered)?.data.content).toBe('said after all');
  await isBack;
  expect((await session.sendAndWait('Look'))?.data.content).toBe('seen');
  expect(lost).toEqual([
    { error: expect.objectContaining({ kind: 'connection_lost' }), willReconnect: true },
  ]);
  expect(reconnected).toEqual([{ sessionIds: [session.sessionId], failed: [] }]);
  await expectNoGap(session, received);
  held.release();
});

test('a tool that works on while the server is gone is called once, and its result is delivered', async () => {
  const { server, port } = await serve();
  const { client, isLost } = clientAt(port);
  const model = world.script(callTools({ id: 'c1', name: 'look', arguments: {} }), say('seen'));
  const called = deferred<void>();
  const result = deferred<string>();
  const signals: AbortSignal[] = [];
  const session = await client.createSession({
    ...providerOf(model),
    tools: [
      {
        name: 'look',
        skipPermission: true,
        handler: (_given, _invocation, signal) => {
          signals.push(signal);
          called.resolve();
          return result.promise;
        },
      },
    ],
  });
  const answered = session.sendAndWait('Look');
  await called.promise;
  await server.signal('SIGKILL');
  await isLost;
  result.resolve('a tree');
  await serve(port);
  expect((await answered)?.data.content).toBe('seen');
  expect((await model.asked(2)).body.messages.at(-1)).toMatchObject({ role: 'tool', content: 'a tree' });
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
});

test('a stream goes on after kill -9 in the middle of its turn, and says nothing twice', async () => {
  const { server, port } = await serve();
  const { client } = clientAt(port);
  const calls = [{ id: 'c1', name: 'look', arguments: {} }];
  const held = hold(say('never said'));
  const replies = [answer({ chunks: ['Let me ', 'look.'], calls }), held.reply, say('A tree.')];
  const tools = [{ name: 'look', skipPermission: true, handler: () => 'a tree' }];
  const { session, model } = await world.session(replies, { tools, streaming: true }, client);
  const reading = (async () => {
    let text = '';
    for await (const piece of session.stream('What is there?')) text += piece;
    return text;
  })();
  await model.asked(2);
  await server.signal('SIGKILL');
  await serve(port);
  expect(await reading).toBe('Let me look.\nA tree.');
  held.release();
});

test('a decision that is made while the server is gone counts, and is asked for once', async () => {
  const { server, port } = await serve();
  const { client, isLost } = clientAt(port);
  const model = world.script(callTools({ id: 'c1', name: 'look', arguments: {} }), say('seen'));
  const asked = deferred<void>();
  const approved = deferred<void>();
  let questions = 0;
  const session = await client.createSession({
    ...providerOf(model),
    tools: [{ name: 'look', handler: () => 'a tree' }],
    onPermissionRequest: async () => {
      questions += 1;
      asked.resolve();
      await approved.promise;
      return { kind: 'approve-once' };
    },
  });
  const answered = session.sendAndWait('Look');
  await asked.promise;
  await server.signal('SIGKILL');
  await isLost;
  approved.resolve();
  await serve(port);
  expect((await answered)?.data.content).toBe('seen');
  expect(questions).toBe(1);
});

test('calls that are made while the server is gone wait for it, those of the client and those of its sessions', async () => {
  const { server, port } = await serve();
  const { client, isLost } = clientAt(port);
  const { session } = await world.session([say('one'), say('two')], {}, client);
  await session.sendAndWait('1');
  await server.signal('SIGKILL');
  await isLost;
  const calls = Promise.all([
    session.sendAndWait('2'),
    session.call('session.name.set', { name: 'renamed' }),
    client.getSessionMetadata(session.sessionId),
  ]);
  await serve(port);
  const [answer, , metadata] = await calls;
  expect([answer?.data.content, metadata?.sessionId]).toEqual(['two', session.sessionId]);
});

test('what others did while this client was cut off is heard once and in order, by several sessions', async () => {
  const first = await serve();
  const { client, isLost, isBack, reconnected } = clientAt(first.port);
  const received: Record<string, SessionEvent[]> = { a: [], b: [] };
  const sessions = await Promise.all(
    ['a', 'b'].map(async (name) => {
      const onEvent = (event: SessionEvent) => received[name]?.push(event);
      const { session, model } = await world.session(
        [say(`${name} one`), say(`${name} two`)],
        { onEvent },
        client,
      );
      await session.sendAndWait('1');
      return { name, session, model };
    }),
  );
  await first.server.signal('SIGKILL');
  await isLost;
  const elsewhere = await serve();
  const other = clientAt(elsewhere.port).client;
  for (const { session, model } of sessions) {
    const resumed = await other.resumeSession(session.sessionId, providerOf(model));
    await resumed.sendAndWait('2');
    await resumed.disconnect();
  }
  await serve(first.port);
  await isBack;
  for (const { name, session } of sessions) await expectNoGap(session, received[name] ?? []);
  expect(reconnected[0]?.sessionIds).toEqual(sessions.map(({ session }) => session.sessionId));
});

test('a server that goes and comes three times loses nothing', async () => {
  let { server, port } = await serve();
  const { client } = clientAt(port);
  const received: SessionEvent[] = [];
  const replies = [1, 2, 3].flatMap((round) => [hold(say('never')).reply, say(`round ${round}`)]);
  const onEvent = (event: SessionEvent) => received.push(event);
  const { session, model } = await world.session(replies, { onEvent }, client);
  for (const round of [1, 2, 3]) {
    const answered = session.sendAndWait(`${round}`);
    await model.asked(2 * round - 1);
    await server.signal('SIGKILL');
    ({ server } = await serve(port));
    expect((await answered)?.data.content).toBe(`round ${round}`);
  }
  await expectNoGap(session, received);
});

test('a server that stays away ends sessions and calls once the time is up, and late results are reported', async () => {
  const { server, port } = await serve();
  const { client, lost, isLost } = clientAt(port, { reconnectTimeout: 300 });
  const called = deferred<void>();
  const result = deferred<string>();
  const handler = () => {
    called.resolve();
    return result.promise;
  };
  const tools = [{ name: 'look', skipPermission: true, handler }];
  const replies = [callTools({ id: 'c1', name: 'look', arguments: {} })];
  const { session } = await world.session(replies, { tools }, client);
  const text =
    /^The runtime at \d+ closed the connection, and could not be reached again within 0.3 s: No runtime answers/;
  const refusal = { kind: 'connection_lost', message: expect.stringMatching(text) };
  const ended = [
    expect(session.sendAndWait('Look')).rejects.toMatchObject(refusal),
    expect(nextEvent(session, 'session.idle')).rejects.toMatchObject(refusal),
  ];
  await called.promise;
  await server.signal('SIGKILL');
  await isLost;
  await expect(session.send('Still there?')).rejects.toMatchObject(refusal);
  await Promise.all(ended);
  expect(lost.map(({ willReconnect }) => willReconnect)).toEqual([true, false]);
  result.resolve('a tree');
  await result.promise;
  await expect(client.ping()).rejects.toMatchObject({ kind: 'start_failed' });
  expect(world.failures.splice(0)).toMatchObject([
    {
      handler: 'tool',
      name: 'look',
      error: {
        kind: 'not_delivered',
        message: expect.stringMatching(/^The result of look \(call c1\) could not be delivered/),
      },
    },
  ]);
  await serve(port);
  expect((await client.ping()).protocolVersion).toBe(3);
});

test('a result that nothing waits for any more after the return is reported, and its handler got the signal', async () => {
  const first = await serve();
  const reported = deferred<HandlerFailure>();
  const { client, isLost, isBack } = clientAt(first.port, { onHandlerError: reported.resolve });
  const called = deferred<AbortSignal>();
  const result = deferred<string>();
  const tools = [
    {
      name: 'look',
      skipPermission: true,
      handler: (_given: unknown, _invocation: unknown, signal: AbortSignal) => {
        called.resolve(signal);
        return result.promise;
      },
    },
  ];
  const replies = [callTools({ id: 'c1', name: 'look', arguments: {} }), say('without it')];
  const { session, model } = await world.session(replies, { tools }, client);
  await session.send('Look');
  const signal = await called.promise;
  await first.server.signal('SIGKILL');
  await isLost;
  const other = clientAt((await serve()).port).client;
  const resumed = await other.resumeSession(session.sessionId, providerOf(model)); // closes what was pending
  await resumed.disconnect();
  await serve(first.port);
  await isBack;
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
  result.resolve('a tree');
  expect(await reported.promise).toMatchObject({ handler: 'tool', error: { kind: 'not_delivered' } });
  expect((await session.sendAndWait('Go on'))?.data.content).toBe('without it');
});

test('a session that is gone when the server is back ends with the reason, and the others go on', async () => {
  const first = await serve();
  const { client, isLost, isBack, reconnected } = clientAt(first.port);
  const { session: kept } = await world.session([say('one'), say('two')], {}, client);
  const { session: removed } = await world.session([say('one')], {}, client);
  await Promise.all([kept.sendAndWait('1'), removed.sendAndWait('1')]);
  await first.server.signal('SIGKILL');
  await isLost;
  await clientAt((await serve()).port).client.deleteSession(removed.sessionId);
  await serve(first.port);
  await isBack;
  expect(reconnected).toEqual([
    {
      sessionIds: [kept.sessionId],
      failed: [{ sessionId: removed.sessionId, error: expect.objectContaining({ kind: 'connection_lost' }) }],
    },
  ]);
  await expect(removed.send('hi')).rejects.toThrow(/could not be opened again: .*not found/i);
  expect((await kept.sendAndWait('2'))?.data.content).toBe('two');
});

test('a server that is back and refuses the token is not tried again', async () => {
  const { server, port } = await serve(0, { COPILOT_CONNECTION_TOKEN: 'old' });
  const connection = RuntimeConnection.forUri(`${port}`, { connectionToken: 'old' });
  const { client, isLost } = clientAt(port, { connection });
  const { session } = await world.session([say('one')], {}, client);
  await session.sendAndWait('1');
  await server.signal('SIGKILL');
  await isLost;
  const refused = expect(session.send('2')).rejects.toThrow(
    /could not be reached again.*AUTHENTICATION_FAILED/,
  );
  await serve(port, { COPILOT_CONNECTION_TOKEN: 'new' });
  await refused;
});

test('who leaves or stops while the server is gone does not wait for it', async () => {
  const { server, port } = await serve();
  const { client, isLost, lost } = clientAt(port);
  const { session } = await world.session([say('one')], {}, client);
  const { session: other } = await world.session([], {}, client);
  await server.signal('SIGKILL');
  await isLost;
  await session.disconnect();
  const waiting = expect(other.send('hi')).rejects.toThrow('The client was stopped');
  expect(await client.stop()).toEqual([]);
  await waiting;
  expect(lost).toHaveLength(1);
});

test('a server that has not noticed the loss yet is asked again until it lets the tools of the session go', async () => {
  const { port } = await serve();
  const way = await HalfOpenWay.to(port);
  const { client, isBack } = clientAt(way.port);
  const tools = [{ name: 'look', skipPermission: true, handler: () => 'a tree' }];
  const replies = [callTools({ id: 'c1', name: 'look', arguments: {} }), say('seen')];
  const { session } = await world.session(replies, { tools }, client);
  way.cut();
  await isBack;
  expect(way.refusals).toBeGreaterThan(0);
  expect((await session.sendAndWait('Look'))?.data.content).toBe('seen');
  way.close();
});

test('a time to reconnect that has no effect, or is none, is refused', () => {
  expect(() => new Client({ reconnectTimeout: 1000 })).toThrow(
    'reconnectTimeout has no effect on a runtime that this client starts (stdio): leave it out, or connect by forUri or forChannel',
  );
  const connection = RuntimeConnection.forUri('1');
  expect(() => new Client({ connection, reconnectTimeout: -1 })).toThrow(/must be 0 to/);
  expect(() => new Client({ connection, reconnectTimeout: Number.NaN })).toThrow(/must be 0 to/);
});

/** A way to a runtime of which only the client's half breaks; the runtime's half follows when it has refused a tool. */
class HalfOpenWay {
  refusals = 0;
  private readonly pairs: { readonly client: Socket; readonly runtime: Socket }[] = [];

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {
    server.on('connection', (client) => this.join(client));
  }

  static async to(target: number): Promise<HalfOpenWay> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new HalfOpenWay(server, target);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port; // a server on a port has no other kind of address
  }

  cut(): void {
    this.pairs[0]?.client.destroy();
  }

  close(): void {
    this.server.close();
    for (const socket of this.pairs.flatMap(({ client, runtime }) => [client, runtime])) socket.destroy();
  }

  private join(client: Socket): void {
    const runtime = connect(this.target, '127.0.0.1');
    this.pairs.push({ client, runtime });
    client.on('data', (chunk) => runtime.write(chunk));
    for (const socket of [client, runtime]) socket.on('error', () => socket.destroy());
    runtime.on('data', (chunk) => {
      if (chunk.includes('tool_name_taken')) {
        this.refusals += 1;
        this.pairs[0]?.runtime.destroy();
      }
      if (!client.destroyed) client.write(chunk);
    });
  }
}
