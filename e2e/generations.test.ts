import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  callTools,
  liveRuntime,
  providerOf,
  type ScriptedReply,
  say,
  story,
  streamChunks,
  type WireClient,
  type WireSession,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();

/** How the clients of one release start the runtime, greet it, open sessions and decide. */
interface Generation {
  readonly release: string;
  readonly flags: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly greeting: 'ping' | 'connect';
  readonly protocolVersion: number;
  /** Sent with every create and resume, with a permission handler. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** It makes an id for a session that its app does not name. */
  readonly makesIds: boolean;
  readonly approval: object;
  readonly denial: object;
}

const modern = ['--headless', '--no-auto-update', '--log-level', 'debug', '--stdio'];
const none = { toolFilterPrecedence: null, requestPermission: null };
const since0126 = {
  ...none,
  requestPermission: true,
  requestUserInput: false,
  hooks: false,
  envValueMode: 'direct',
};
const since03 = { ...since0126, includeSubAgentStreamingEvents: true };
const oldKinds = { approval: { kind: 'approved' }, denial: { kind: 'denied-interactively-by-user' } };
const newKinds = { approval: { kind: 'approve-once' }, denial: { kind: 'reject' } };

const generations: readonly Generation[] = [
  {
    release: '0.1.14',
    flags: ['--server', '--log-level', 'info', '--stdio'],
    environment: { GROUNDCREW_PROTOCOL: '1' },
    greeting: 'ping',
    protocolVersion: 1,
    settings: { ...none, requestPermission: true },
    makesIds: false,
    ...oldKinds,
  },
  {
    release: '0.1.18',
    flags: ['--server', '--log-level', 'debug', '--stdio'],
    greeting: 'ping',
    protocolVersion: 2,
    settings: { ...none, requestPermission: true },
    makesIds: false,
    ...oldKinds,
  },
  {
    release: '0.1.30',
    flags: modern,
    greeting: 'ping',
    protocolVersion: 2,
    settings: since0126,
    makesIds: false,
    ...oldKinds,
  },
  {
    release: '0.2.x',
    flags: modern,
    greeting: 'ping',
    protocolVersion: 2,
    settings: since0126,
    makesIds: true,
    ...oldKinds,
  },
  {
    release: '0.3.0',
    flags: modern,
    greeting: 'ping',
    protocolVersion: 2,
    settings: since03,
    makesIds: true,
    ...newKinds,
  },
  {
    release: '1.0.0-beta.4',
    flags: modern,
    greeting: 'connect',
    protocolVersion: 3,
    settings: { ...since03, requestExitPlanMode: false, requestAutoModeSwitch: false },
    makesIds: true,
    ...newKinds,
  },
  {
    release: 'the newest',
    flags: modern,
    greeting: 'connect',
    protocolVersion: 3,
    settings: { ...since03, toolFilterPrecedence: 'excluded' },
    makesIds: true,
    ...newKinds,
  },
];

/** To start one process for each test took most of their time. */
const shares = new Map<string, WireClient>();

/** A client that has greeted a process of its own. */
async function connected(generation: Generation): Promise<WireClient> {
  const { flags, environment, greeting, protocolVersion } = generation;
  const process = runtime.spawn({ flags, ...(environment && { environment }) });
  const wire = await runtime.connect(process, { hasGaps: true });
  const params = greeting === 'ping' ? { message: null } : {};
  expect(await wire.call(greeting, params)).toMatchObject({ protocolVersion });
  return wire;
}

/** Clients from 0.1.32 to 0.3.0 serve both the requests of protocol 2 and the events of protocol 3, as this one does. */
class Player {
  readonly ran: string[] = [];
  readonly asked: string[] = [];
  /** Requests that it answers besides tools and permissions. */
  requests: Readonly<Record<string, (params: Record<string, unknown>) => unknown>> = {};
  private constructor(
    readonly wire: WireClient,
    private readonly generation: Generation,
    private readonly tool: () => unknown,
    private readonly decision: object,
  ) {}

  /** A client of the one process of its release, or of a process of its own. */
  static async start(
    generation: Generation,
    {
      tool = () => 'a tree',
      decision = generation.approval,
      hasOwnProcess = false,
    }: { tool?: () => unknown; decision?: object; hasOwnProcess?: boolean } = {},
  ): Promise<Player> {
    const { release } = generation;
    const shared = hasOwnProcess ? undefined : shares.get(release);
    const wire = shared ?? (await connected(generation));
    if (!hasOwnProcess) shares.set(release, wire);
    const player = new Player(wire, generation, tool, decision);
    wire.answer = (method, params) => player.answer(method, params as Record<string, unknown>);
    return player;
  }

  create(params: object): Promise<WireSession> {
    const { settings, makesIds } = this.generation;
    return this.wire.create({ ...settings, ...(makesIds && { sessionId: randomUUID() }), ...params });
  }

  resume(sessionId: string, params: object): Promise<WireSession> {
    return this.wire.resume(sessionId, { ...this.generation.settings, ...params });
  }

  /** Sends a prompt and does what it is asked to, until the session is idle. */
  async turn(session: WireSession, prompt: string): Promise<readonly string[]> {
    const from = session.events.length;
    await session.send(prompt);
    await this.serve(session, from);
    return story(session.events.slice(from));
  }

  async serve(session: WireSession, from: number): Promise<void> {
    let read = from;
    for (;;) {
      const event = await this.wire.until(() => session.events[read], 'another event');
      read += 1;
      const { requestId, toolName = '' } = event.data as { requestId: string; toolName?: string };
      if (event.type === 'permission.requested') {
        this.asked.push('event');
        void session.decide(requestId, this.decision);
      }
      if (event.type === 'external_tool.requested') {
        this.ran.push(toolName);
        void session.answerTool(requestId, { result: await this.tool() });
      }
      if (event.type === 'session.idle') return;
    }
  }

  private async answer(method: string, params: Record<string, unknown>): Promise<unknown> {
    if (method === 'permission.request') {
      this.asked.push('request');
      return { result: this.decision };
    }
    if (Object.hasOwn(this.requests, method)) return this.requests[method]?.(params);
    if (method !== 'tool.call') throw new Error(`Unhandled method ${method}`);
    this.ran.push(String(params.toolName));
    return { result: await this.tool() };
  }
}

const look = callTools({ id: 'c1', name: 'look', arguments: {} });
const tools = [{ name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } }];
const write = (path: string) =>
  callTools({ id: 'w1', name: 'create', arguments: { path, file_text: 'hello' } });

describe.each(generations)('a client of $release', (generation) => {
  const script = (...replies: readonly ScriptedReply[]) => providerOf(runtime.script(...replies));
  const place = { workingDirectory: '' };

  test('is answered in pieces, runs its tool once, and finds both in its history and its list', async () => {
    const player = await Player.start(generation);
    const model = script(streamChunks('Hel', 'lo'), look, say('seen'));
    const session = await player.create({ ...model, tools, streaming: true });
    const hello = await player.turn(session, 'Hello');
    expect(hello).toContain('assistant.message "Hello"');
    expect(session.events.some(({ type }) => type === 'assistant.message_delta')).toBe(true);
    const seen = await player.turn(session, 'Look');
    expect(seen).toContain('tool.execution_complete c1 ok "a tree"');
    expect(player.ran).toEqual(['look']);
    expect(story(await session.stored())).toEqual(
      expect.arrayContaining(['assistant.message "Hello"', 'assistant.message "seen"']),
    );
    const { sessions } = await player.wire.call<{ sessions: { sessionId: string }[] }>('session.list', {});
    expect(sessions.map(({ sessionId }) => sessionId)).toContain(session.sessionId);
    expect(await session.call('session.delete')).toMatchObject({ success: true });
  });

  test('what it approves is written, what it denies is not', async () => {
    Object.assign(place, { workingDirectory: runtime.workingDirectory });
    const name = generation.release.replaceAll(' ', '-');
    const approving = await Player.start(generation);
    const one = await approving.create({ ...place, ...script(write(`yes-${name}.txt`), say('done')) });
    await approving.turn(one, 'Write');
    expect(readFileSync(join(runtime.workingDirectory, `yes-${name}.txt`), 'utf8')).toBe('hello');
    const denying = await Player.start(generation, { decision: generation.denial });
    const two = await denying.create({ ...place, ...script(write(`no-${name}.txt`), say('never')) });
    await denying.turn(two, 'Write');
    expect(existsSync(join(runtime.workingDirectory, `no-${name}.txt`))).toBe(false);
    const way = generation.makesIds ? 'event' : 'request';
    expect([approving.asked, denying.asked]).toEqual([[way], [way]]);
  });

  test('goes on in a second process, where its tool is asked again', async () => {
    const model = script(say('one'), look, say('seen'));
    const first = await Player.start(generation);
    const session = await first.create({ ...model, tools });
    await first.turn(session, 'One');
    await session.call('session.destroy');
    const second = await Player.start(generation, { tool: () => 'a bush', hasOwnProcess: true });
    const resumed = await second.resume(session.sessionId, { ...model, tools });
    const lines = await second.turn(resumed, 'Look');
    expect(lines).toContain('tool.execution_complete c1 ok "a bush"');
    expect([first.ran, second.ran]).toEqual([[], ['look']]);
  });

  test('an abort ends a turn whose tool does not', async () => {
    let began: () => void = () => undefined;
    const isRunning = new Promise<void>((resolve) => {
      began = resolve;
    });
    const tool = () => {
      began();
      return new Promise(() => undefined);
    };
    const player = await Player.start(generation, { tool });
    const session = await player.create({ ...script(look), tools });
    await session.send('Look');
    void player.serve(session, 0).catch(() => undefined);
    await isRunning;
    await session.call('session.abort');
    expect((await session.next('session.idle')).data).toEqual({ aborted: true });
  });
});

const withHooks = generations.filter(({ release }) => release !== '0.1.14' && release !== '0.1.18');

describe.each(withHooks)('a client of $release with handlers', (generation) => {
  const isHook = (params: Record<string, unknown>, hookType: string) => params.hookType === hookType;

  test.each<[string, unknown]>([
    ['null', null],
    ['an output of null', { output: null }],
    ['an output that is not there', {}],
  ])('hooks that answer %s have no opinion', async (_, answer) => {
    const player = await Player.start(generation);
    const called: unknown[] = [];
    player.requests = {
      'hooks.invoke': ({ hookType }) => {
        called.push(hookType);
        return answer;
      },
    };
    const model = runtime.script(look, say('seen'));
    const session = await player.create({ ...providerOf(model), tools, hooks: true });
    expect(await player.turn(session, 'Look')).toContain('tool.execution_complete c1 ok "a tree"');
    expect(called).toEqual([
      'userPromptSubmitted',
      'userPromptTransformed',
      'sessionStart',
      'preToolUse',
      'postToolUse',
      'agentStop',
      'sessionEnd',
    ]);
  });

  test('a hook that denies keeps its tool from running', async () => {
    const player = await Player.start(generation);
    const deny = { output: { permissionDecision: 'deny', permissionDecisionReason: 'not here' } };
    player.requests = { 'hooks.invoke': (params) => (isHook(params, 'preToolUse') ? deny : null) };
    const model = runtime.script(look, say('sorry'));
    const session = await player.create({ ...providerOf(model), tools, hooks: true });
    await player.turn(session, 'Look');
    expect([player.ran, player.asked]).toEqual([[], []]);
    expect(model.requests[1]?.body.messages.at(-1)?.content).toBe('Denied by preToolUse hook: not here');
  });

  test('answers what the agent asks', async () => {
    const player = await Player.start(generation);
    const asked: unknown[] = [];
    player.requests = {
      'userInput.request': (params) => {
        asked.push(params);
        return { answer: 'blue', wasFreeform: false };
      },
    };
    const ask = callTools({
      id: 'c1',
      name: 'ask_user',
      arguments: { question: 'Which?', choices: ['red', 'blue'] },
    });
    const model = runtime.script(ask, say('blue it is'));
    const session = await player.create({ ...providerOf(model), requestUserInput: true });
    expect(await player.turn(session, 'Ask')).toContain('assistant.message "blue it is"');
    const { sessionId } = session;
    expect(asked).toEqual([{ sessionId, question: 'Which?', choices: ['red', 'blue'], allowFreeform: true }]);
    expect(String(model.requests[1]?.body.messages.at(-1)?.content)).toContain('blue');
  });

  test('rewrites sections of the system prompt; one that fails leaves them as they are', async () => {
    const player = await Player.start(generation);
    const systemMessage = { mode: 'customize', sections: { tone: { action: 'transform' } } };
    const asked: unknown[] = [];
    player.requests = {
      'systemMessage.transform': ({ sections }) => {
        asked.push(Object.keys(sections as object));
        if (asked.length > 1) throw new Error('broken');
        return { sections: { tone: { content: 'Answer in rhyme.' } } };
      },
    };
    const model = runtime.script(say('one'), say('two'));
    const session = await player.create({ ...providerOf(model), systemMessage });
    await player.turn(session, 'One');
    await player.turn(session, 'Two');
    expect(asked).toEqual([['tone'], ['tone']]);
    const [first, second] = model.requests.map(({ body }) => String(body.messages[0]?.content));
    expect(first).toContain('Answer in rhyme.');
    expect(second).not.toContain('Answer in rhyme.');
  });
});

describe.each(generations.filter(({ makesIds }) => !makesIds))(
  'a client of $release that waits',
  (generation) => {
    /** What such clients give up after, shortened from their 30 s. */
    const limit = 500;

    test('has its own requests answered at once while its tool and its user take longer than its limit', async () => {
      const late: string[] = [];
      const player = await Player.start(generation, {
        tool: () => new Promise((resolve) => setTimeout(resolve, 3 * limit, 'a tree')),
      });
      const limited = async <T>(name: string, work: Promise<T>): Promise<T> => {
        const timer = setTimeout(() => late.push(name), limit);
        return work.finally(() => clearTimeout(timer));
      };
      const model = runtime.script(look, say('seen'));
      const session = await limited('create', player.create({ ...providerOf(model), tools }));
      await limited('send', session.send('Look'));
      const turn = player.serve(session, 0);
      while (player.ran.length === 0) await limited('ping', player.wire.call('ping', { message: null }));
      await limited('history', session.stored());
      await turn;
      expect(story(session.events)).toContain('tool.execution_complete c1 ok "a tree"');
      expect([late, player.ran]).toEqual([[], ['look']]);
    });
  },
);
