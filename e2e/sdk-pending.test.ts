import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import {
  approveAll,
  type Client,
  type ClientOptions,
  type PermissionRequestResult,
  type ResumeSessionOptions,
  RuntimeConnection,
  type SessionEvent,
  type Tool,
} from '@groundcrew/sdk';
import { callTools, providerOf, RuntimeProcess, type ScriptedReply, say, story } from '@groundcrew/testkit';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { deferred, nextEvent, runtimePath, sdkWorld } from './sdk-world.js';

const world = sdkWorld();
const processes: RuntimeProcess[] = [];
const ways: Way[] = [];
afterEach(() => Promise.all(ways.splice(0).map((way) => way.close())));
afterAll(() => Promise.all(processes.map((process) => process.stop())));

const interrupted = 'The execution of this tool, or a previous tool was interrupted.';
const lookTwice = callTools(
  { id: 'c1', name: 'look', arguments: { at: 'a' } },
  { id: 'c2', name: 'look', arguments: { at: 'b' } },
);

/** A runtime that no client owns, on the home that all share. */
async function startRuntime() {
  const process = new RuntimeProcess({
    flags: ['--headless', '--port', '0'],
    home: world.home.path,
    workingDirectory: world.workingDirectory,
  });
  processes.push(process);
  return { process, port: await process.port() };
}

function clientAt(port: number, options: ClientOptions = {}): Client {
  return world.newClient({ connection: RuntimeConnection.forUri(`${port}`), ...options });
}

/** A tool that notes what it is asked by default it never answers. */
function lookTool(handle: (asked: string) => unknown = () => new Promise(() => undefined)) {
  const asked: string[] = [];
  const tool = {
    name: 'look',
    handler: (given, { toolCallId }) => {
      asked.push(`${toolCallId} ${JSON.stringify(given)}`);
      return handle(toolCallId);
    },
  } satisfies Tool;
  return { asked, tool };
}

/** A permission handler that notes what it is asked. */
function deciding(decide: () => PermissionRequestResult | Promise<PermissionRequestResult>) {
  const asked: string[] = [];
  const onPermissionRequest: ResumeSessionOptions['onPermissionRequest'] = (_request, { requestId }) => {
    asked.push(requestId);
    return decide();
  };
  return { asked, onPermissionRequest };
}

/** A session in which a model has called `look` twice, and no client answers the calls. */
async function waitingForTool(client: Client, then: readonly ScriptedReply[]) {
  const model = world.script(lookTwice, ...then);
  const both = deferred<void>();
  const look = lookTool((toolCallId) => {
    if (toolCallId === 'c2') both.resolve();
    return new Promise(() => undefined);
  });
  const tools = [{ ...look.tool, skipPermission: true }];
  const session = await client.createSession({ ...providerOf(model), tools });
  await session.send('Look');
  await both.promise;
  return { session, model };
}

/** A session in which a model has called `look` twice, and no client decides whether it may. */
async function waitingForPermission(client: Client, then: readonly ScriptedReply[]) {
  const model = world.script(lookTwice, ...then);
  const both = deferred<void>();
  const { asked, onPermissionRequest } = deciding(() => {
    if (asked.length === 2) both.resolve();
    return { kind: 'no-result' };
  });
  const options = { ...providerOf(model), tools: [lookTool().tool], onPermissionRequest };
  const session = await client.createSession(options);
  await session.send('Look');
  await both.promise;
  return { session, model, asked };
}

describe('after kill -9 of the runtime', () => {
  test('a pending tool call is put once to the handler of the client that continues', async () => {
    const first = await startRuntime();
    const { session, model } = await waitingForTool(clientAt(first.port), [say('seen')]);
    await first.process.signal('SIGKILL');
    const client = clientAt((await startRuntime()).port);
    const look = lookTool((toolCallId) => `result of ${toolCallId}`);
    const resumed = await client.resumeSession(session.sessionId, {
      ...providerOf(model),
      tools: [{ ...look.tool, skipPermission: true }],
      continuePendingWork: true,
    });
    await nextEvent(resumed, 'session.idle');
    expect(look.asked).toEqual(['c1 {"at":"a"}', 'c2 {"at":"b"}']);
    expect((await model.asked(2)).body.messages.slice(-2)).toMatchObject([
      { role: 'tool', tool_call_id: 'c1', content: 'result of c1' },
      { role: 'tool', tool_call_id: 'c2', content: 'result of c2' },
    ]);
    expect(story(await resumed.getEvents()).slice(-2)).toEqual([
      'assistant.message "seen"',
      'assistant.turn_end 1',
    ]);
    expect(await resumed.pending()).toEqual([]);
  });

  test('a pending permission is put once to the handler of the client that continues, under its old id', async () => {
    const first = await startRuntime();
    const { session, model, asked } = await waitingForPermission(clientAt(first.port), [say('seen')]);
    await first.process.signal('SIGKILL');
    const client = clientAt((await startRuntime()).port);
    const look = lookTool(() => 'a tree');
    const decisions = deciding(() => ({ kind: 'approve-once' }));
    const resumed = await client.resumeSession(session.sessionId, {
      ...providerOf(model),
      tools: [look.tool],
      onPermissionRequest: decisions.onPermissionRequest,
      continuePendingWork: true,
    });
    await nextEvent(resumed, 'session.idle');
    expect(decisions.asked).toEqual(asked);
    expect([...look.asked].sort()).toEqual(['c1 {"at":"a"}', 'c2 {"at":"b"}']);
    expect(story(await resumed.getEvents()).at(-2)).toBe('assistant.message "seen"');
  });

  test.each([
    ['tool call', waitingForTool],
    ['permission', waitingForPermission],
  ])(
    'a pending %s is closed for a client that does not continue, and the next prompt works',
    async (_, waiting) => {
      const first = await startRuntime();
      const { session, model } = await waiting(clientAt(first.port), [say('next')]);
      await first.process.signal('SIGKILL');
      const client = clientAt((await startRuntime()).port);
      const look = lookTool(() => 'too late');
      const decisions = deciding(() => ({ kind: 'approve-once' }));
      const resumed = await client.resumeSession(session.sessionId, {
        ...providerOf(model),
        tools: [look.tool],
        onPermissionRequest: decisions.onPermissionRequest,
      });
      expect(await resumed.pending()).toEqual([]);
      expect(await resumed.call('session.metadata.isProcessing')).toEqual({ processing: false });
      expect((await resumed.sendAndWait('And now?'))?.data.content).toBe('next');
      expect([look.asked, decisions.asked]).toEqual([[], []]);
      expect((await model.asked(2)).body.messages.slice(-3)).toMatchObject([
        { role: 'tool', tool_call_id: 'c1', content: interrupted },
        { role: 'tool', tool_call_id: 'c2', content: interrupted },
        { role: 'user' },
      ]);
    },
  );

  test('pending lists what waits, and a client without a handler may answer by hand', async () => {
    const first = await startRuntime();
    const { session, model } = await waitingForTool(clientAt(first.port), [say('seen')]);
    await first.process.signal('SIGKILL');
    const resumed = await clientAt((await startRuntime()).port).resumeSession(session.sessionId, {
      ...providerOf(model),
      tools: [{ name: 'look', skipPermission: true }],
      continuePendingWork: true,
    });
    const idle = nextEvent(resumed, 'session.idle');
    const pending = await resumed.pending();
    expect(pending).toMatchObject([
      { kind: 'external_tool', toolCallId: 'c1', data: { toolName: 'look', arguments: { at: 'a' } } },
      { kind: 'external_tool', toolCallId: 'c2', data: { toolName: 'look', arguments: { at: 'b' } } },
    ]);
    for (const { requestId } of [...pending].reverse())
      expect(
        await resumed.call('session.tools.handlePendingToolCall', { requestId, result: 'by hand' }),
      ).toEqual({ success: true });
    await idle;
  });
});

describe('after the first of two clients was stopped by force', () => {
  test('its pending tool call is put to the handler of the other, who brings the tool again', async () => {
    const { port } = await startRuntime();
    const client = clientAt(port);
    const { session, model } = await waitingForTool(client, [say('seen')]);
    const other = clientAt(port);
    const watching = await other.resumeSession(session.sessionId, { continuePendingWork: true });
    expect((await watching.pending()).map(({ toolCallId }) => toolCallId)).toEqual(['c1', 'c2']);
    await client.forceStop();
    const look = lookTool(() => 'a tree');
    const resumed = await other.resumeSession(session.sessionId, {
      ...providerOf(model),
      tools: [{ ...look.tool, skipPermission: true }],
      continuePendingWork: true,
    });
    await nextEvent(resumed, 'session.idle');
    expect(look.asked).toEqual(['c1 {"at":"a"}', 'c2 {"at":"b"}']);
  });

  test('its pending permission is put to the handler of the other', async () => {
    const { port } = await startRuntime();
    const client = clientAt(port);
    const { session, model, asked } = await waitingForPermission(client, [say('seen')]);
    await client.forceStop();
    const look = lookTool(() => 'a tree');
    const decisions = deciding(() => ({ kind: 'approve-once' }));
    const resumed = await clientAt(port).resumeSession(session.sessionId, {
      ...providerOf(model),
      tools: [look.tool],
      onPermissionRequest: decisions.onPermissionRequest,
      continuePendingWork: true,
    });
    await nextEvent(resumed, 'session.idle');
    expect(decisions.asked).toEqual(asked);
    expect([...look.asked].sort()).toEqual(['c1 {"at":"a"}', 'c2 {"at":"b"}']);
  });
});

describe('when the connection breaks', () => {
  test.each(['before the prompt arrives', 'before its answer arrives'] as const)(
    '%s, it is sent again as the same prompt, and the session goes on',
    async (moment) => {
      const way = await Way.open((await startRuntime()).port);
      const received: SessionEvent[] = [];
      const model = world.script(say('one'), say('two'), say('three'));
      const session = await clientAt(way.port).createSession({
        ...providerOf(model),
        onEvent: (event) => received.push(event),
      });
      await session.sendAndWait('1');
      way.breakAt(moment === 'before the prompt arrives' ? 'request' : 'answer');
      expect((await session.sendAndWait('2'))?.data.content).toBe('two');
      expect((await session.sendAndWait('3'))?.data.content).toBe('three');
      expect(way.connections).toBe(2);
      expect(model.requests).toHaveLength(3);
      const stored = await session.getEvents();
      expect(received.filter(({ ephemeral }) => !ephemeral)).toEqual(stored);
      expect(story(stored).filter((line) => line.startsWith('user.message'))).toEqual([
        'user.message "1" idle 0',
        'user.message "2" idle 0',
        'user.message "3" idle 0',
      ]);
    },
  );

  test.each(['request', 'answer'] as const)(
    'at the %s of a tool result, it is given again, and the handler is not called twice',
    async (moment) => {
      const way = await Way.open((await startRuntime()).port);
      const model = world.script(callTools({ id: 'c1', name: 'look', arguments: {} }), say('seen'));
      const look = lookTool(() => {
        way.breakAt(moment);
        return 'a tree';
      });
      const session = await clientAt(way.port).createSession({
        ...providerOf(model),
        tools: [look.tool],
        onPermissionRequest: approveAll,
      });
      const idle = nextEvent(session, 'session.idle');
      await session.send('Look');
      await idle;
      expect(look.asked).toEqual(['c1 {}']);
      expect(way.connections).toBe(2);
      const results = story(await session.getEvents()).filter((line) =>
        /^(tool.+complete|assistant.message)/.test(line),
      );
      expect(results.slice(-2)).toEqual([
        'tool.execution_complete c1 ok "a tree"',
        'assistant.message "seen"',
      ]);
    },
  );

  test('the model chosen since the session was made is kept', async () => {
    const way = await Way.open((await startRuntime()).port);
    const model = world.script(say('one'));
    const session = await clientAt(way.port).createSession(providerOf(model));
    await session.setModel('chosen');
    way.breakAt('answer');
    await session.sendAndWait('1');
    expect(model.requests.map(({ body }) => body.model)).toEqual(['chosen']);
  });

  test('and no runtime is there any more, the error carries the id that makes a second try one turn', async () => {
    const { process, port } = await startRuntime();
    const model = world.script(say('hello'), say('again'));
    const session = await clientAt(port, { reconnectTimeout: 100 }).createSession(providerOf(model));
    await session.sendAndWait('hi');
    await process.signal('SIGSTOP');
    const prompt = { prompt: 'Still there?', messageId: 'in-doubt' };
    const sent = expect(session.send(prompt)).rejects.toMatchObject({
      kind: 'connection_lost',
      messageId: 'in-doubt',
    });
    await process.signal('SIGKILL');
    await sent;
    await expect(session.abort()).rejects.toMatchObject({ kind: 'connection_lost' });
    const resumed = await clientAt((await startRuntime()).port).resumeSession(
      session.sessionId,
      providerOf(model),
    );
    expect((await resumed.sendAndWait(prompt))?.data.content).toBe('again');
    await expect(resumed.send({ ...prompt, prompt: 'Other words' })).rejects.toThrow(
      'Message id in-doubt was used with other content',
    );
  });

  test('because the runtime of the client died, none is started in its place', async () => {
    const starts = join(world.home.path, 'starts');
    const path = world.program(`
      require('node:fs').appendFileSync(${JSON.stringify(starts)}, process.pid + '\\n');
      require(${JSON.stringify(runtimePath)});
    `);
    const client = world.newClient({ connection: RuntimeConnection.forStdio({ path }) });
    const { session } = await world.session([], {}, client);
    const pids = () => readFileSync(starts, 'utf8').trim().split('\n').map(Number);
    process.kill(pids()[0] ?? 0, 'SIGSTOP');
    const sent = expect(session.send('hi')).rejects.toMatchObject({ kind: 'connection_lost' });
    process.kill(pids()[0] ?? 0, 'SIGKILL');
    await sent;
    expect(pids()).toHaveLength(1);
  });
});

/** A way to a runtime that breaks on request; the next connection over it is whole again. */
class Way {
  connections = 0;
  private moment: 'request' | 'answer' | undefined;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {
    server.on('connection', (client) => this.join(client));
  }

  static async open(target: number): Promise<Way> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const way = new Way(server, target);
    ways.push(way);
    return way;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port; // a server on a port has no other kind of address
  }

  /** With the next request, which does not arrive; or after it, with the first word that comes back. */
  breakAt(moment: 'request' | 'answer'): void {
    this.moment = moment;
  }

  async close(): Promise<void> {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private join(client: Socket): void {
    this.connections += 1;
    const runtime = connect(this.target, '127.0.0.1');
    const both = [client, runtime];
    let isBreaking = false;
    const end = () => {
      for (const socket of both) socket.destroy();
    };
    for (const socket of both) {
      this.sockets.add(socket);
      socket.on('error', end);
      socket.on('close', end);
    }
    client.on('data', (chunk) => {
      const { moment } = this;
      this.moment = undefined;
      isBreaking ||= moment === 'answer';
      if (moment === 'request') end();
      else runtime.write(chunk);
    });
    runtime.on('data', (chunk) => {
      if (isBreaking) end();
      else client.write(chunk);
    });
  }
}
