import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  byExtent,
  callTools,
  hold,
  liveRuntime,
  providerOf,
  type ScriptedModel,
  type ScriptedReply,
  say,
  type WireClient,
  type WireSession,
} from '@groundcrew/testkit';
import { describe, expect, test, vi } from 'vitest';
import { begin } from './agent-world.js';
import { testServer } from './mcp-world.js';

const runtime = liveRuntime({ flags: ['--no-auto-update', '--port', '0'] });
const tools = [{ name: 'look', description: 'Looks', parameters: { type: 'object' } }];

/** How the client that guards the session answers before a call. */
interface Outcome {
  readonly name: string;
  answer(guard: WireClient, caller: Caller): Promise<unknown>;
  /** The arguments that the call may run with; none when it must not run. */
  readonly runsWith?: string;
  /** What the model reads of a call that must not run. */
  readonly denial?: RegExp;
}

/** Long enough for a busy machine. */
const patience = { timeout: 15_000 };
const never = new Promise<never>(() => undefined);
const output = (said: unknown) => async () => ({ output: said });

const outcomes: readonly Outcome[] = [
  { name: 'allow', answer: output({ permissionDecision: 'allow' }), runsWith: 'here' },
  {
    name: 'deny',
    answer: output({ permissionDecision: 'deny', permissionDecisionReason: 'not now' }),
    denial: /^Denied by preToolUse hook: not now$/,
  },
  { name: 'ask', answer: output({ permissionDecision: 'ask' }), runsWith: 'here' },
  {
    name: 'modifiedArgs',
    answer: async (_guard, { modified }) => ({
      output: { permissionDecision: 'allow', modifiedArgs: modified },
    }),
    runsWith: 'there',
  },
  { name: 'timeout', answer: () => never, denial: /did not answer within 0\.3 s/ },
  { name: 'throw', answer: () => Promise.reject(new Error('broken')), denial: /broken/ },
  { name: 'garbage', answer: async () => 'yes', denial: /otherwise than the protocol says/ },
  { name: 'a garbled output', answer: output(['allow']), denial: /otherwise than the protocol says/ },
  {
    name: 'an unknown decision',
    answer: output({ permissionDecision: 'perhaps' }),
    denial: /otherwise than the protocol says/,
  },
  {
    name: 'disconnect',
    answer: async (guard) => {
      await guard.close();
      return never;
    },
    denial: /The client has left|The user rejected/,
  },
  { name: 'no opinion', answer: output(null), runsWith: 'here' },
  { name: 'null', answer: async () => null, runsWith: 'here' },
];

/** A session of one client, guarded by the hooks of another. */
interface Guarded {
  readonly session: WireSession;
  readonly model: ScriptedModel;
  readonly ids: readonly string[];
}

/** Opens the session, brings it to where the calls are made, and leaves it there. */
type Origin = (outcome: Outcome, caller: Caller) => Promise<Guarded>;

/** Whose tool is called, and how it is seen that it ran. */
interface Caller {
  /** Settings of the session. */
  readonly settings: object;
  /** The tool that is called; what the guard says counts for its calls alone. */
  readonly toolName: string;
  /** What the model writes until the calls of these ids are done; each leaves a trace of its arguments. */
  replies(...ids: readonly string[]): readonly [ScriptedReply, ...ScriptedReply[]];
  /** Its call is made within another that has passed the hooks: the result of that one waits for a guard that left. */
  readonly isNested?: boolean;
  /** Arguments that lead to the trace `there`. */
  readonly modified: object;
  /** The traces of calls that ran, in any order. */
  traces(session: WireSession): readonly string[];
}

/** A tool that the app runs itself. */
function clientTool(): Caller {
  return {
    settings: { tools },
    toolName: 'look',
    replies: (...ids) => [callTools(...ids.map((id) => ({ id, name: 'look', arguments: { at: 'here' } })))],
    modified: { at: 'there' },
    traces: ({ events }) =>
      events.flatMap(({ type, data }) =>
        type === 'external_tool.requested' ? [(data as { arguments: { at: string } }).arguments.at] : [],
      ),
  };
}

/** A tool of the runtime: its command writes a line into a file. */
function builtinTool(): Caller {
  const file = join(runtime.workingDirectory, `${randomUUID()}.txt`);
  const write = (word: string) => ({ command: `echo ${word} >> ${file}`, description: 'Writes' });
  return {
    settings: {},
    toolName: 'bash',
    replies: (...ids) => [callTools(...ids.map((id) => ({ id, name: 'bash', arguments: write('here') })))],
    modified: write('there'),
    traces: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []),
  };
}

/** A tool of an MCP server, which notes what it was sent. */
function serverTool(): Caller {
  const log = join(runtime.workingDirectory, `${randomUUID()}.jsonl`);
  const sent = (): { method?: string; params?: { arguments: { at: string } } }[] =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [];
  return {
    settings: { mcpServers: { srv: testServer({ tools: ['echo'], log }) } },
    toolName: 'srv-echo',
    replies: (...ids) => [
      callTools(...ids.map((id) => ({ id, name: 'srv-echo', arguments: { at: 'here' } }))),
    ],
    modified: { at: 'there' },
    traces: () =>
      sent().flatMap(({ method, params }) =>
        method === 'tools/call' && params ? [params.arguments.at] : [],
      ),
  };
}

/** A built-in tool that a sub-agent calls. */
function agentsTool(): Caller {
  const caller = builtinTool();
  let agents = 0;
  return {
    ...caller,
    isNested: true,
    replies: (...ids) => {
      agents += 1;
      const [task] = begin([`AGENT-${agents}`]).calls ?? [];
      if (!task) throw new Error('No agent to begin');
      return [callTools(task), ...caller.replies(...ids), say('The agent is done')];
    },
  };
}

const callers = {
  'a client tool': clientTool,
  'a built-in tool': builtinTool,
  'a tool of an MCP server': serverTool,
  'a tool that a sub-agent calls': agentsTool,
};

async function guardedBy(
  { outcome, caller }: { readonly outcome: Outcome; readonly caller: Caller },
  sessionId: string,
  process = runtime.process,
): Promise<void> {
  const guard = await runtime.connect(process, { hasGaps: true });
  guard.answer = async (_method, params) => {
    const { hookType, input } = params as { hookType: string; input: { toolName?: string } };
    const isMeant = hookType === 'preToolUse' && input.toolName === caller.toolName;
    return isMeant ? outcome.answer(guard, caller) : {};
  };
  await guard.resume(sessionId, { hooks: true, hookOptions: { timeoutMs: 300 } });
}

async function opened(outcome: Outcome, caller: Caller, model: ScriptedModel): Promise<WireSession> {
  const session = await runtime.client.create({ ...providerOf(model), ...caller.settings });
  await guardedBy({ outcome, caller }, session.sessionId);
  return session;
}

const origins: Readonly<Record<string, Origin>> = {
  'a call of the first prompt': async (outcome, caller) => {
    const model = runtime.script(...caller.replies('c1'), say('done'));
    const session = await opened(outcome, caller, model);
    await session.send('Look');
    return { session, model, ids: ['c1'] };
  },
  'eight calls side by side': async (outcome, caller) => {
    const ids = Array.from({ length: 8 }, (_, index) => `c${index}`);
    const model = runtime.script(...caller.replies(...ids), say('done'));
    const session = await opened(outcome, caller, model);
    await session.send('Look everywhere');
    return { session, model, ids };
  },
  'a call of a queued prompt': async (outcome, caller) => {
    const held = hold(say('first'));
    const model = runtime.script(held.reply, ...caller.replies('c1'), say('done'));
    const session = await opened(outcome, caller, model);
    await session.send('Wait');
    await session.send('Look', { mode: 'enqueue' });
    held.release();
    return { session, model, ids: ['c1'] };
  },
  'a call after a steering prompt': async (outcome, caller) => {
    const [first, ...rest] = caller.replies('c0');
    const held = hold(first);
    const model = runtime.script(held.reply, ...rest, ...caller.replies('c1'), say('done'));
    const session = await opened(outcome, caller, model);
    await session.send('Look here');
    await session.send('And there', { mode: 'immediate' });
    held.release();
    return { session, model, ids: ['c0', 'c1'] };
  },
  'a call that was open when the runtime was killed': async (outcome, caller) => {
    const process = runtime.spawn({ flags: ['--no-auto-update', '--port', '0'] });
    const model = runtime.script(...caller.replies('c1'), say('done'));
    const client = await runtime.connect(process, { hasGaps: true });
    const before = await client.create({ ...providerOf(model), ...caller.settings });
    const stalls: Outcome = { name: 'stalls', answer: () => never };
    await guardedBy({ outcome: stalls, caller }, before.sessionId, process);
    await before.send('Look');
    await before.next(
      'hook.start',
      ({ data }) => data.hookType === 'preToolUse' && JSON.stringify(data.input).includes(caller.toolName),
    );
    await process.signal('SIGKILL');
    const again = {
      ...providerOf(model),
      ...caller.settings,
      continuePendingWork: true,
      requestPermission: false,
    };
    const session = await runtime.client.resume(before.sessionId, again);
    // No client can be asked, and the guard is away: the call waits for it.
    await vi.waitFor(async () => {
      const { waitingOn } = await session.call<{ waitingOn: object[] }>('session.metadata.activity');
      expect(waitingOn).toContainEqual(expect.objectContaining({ kind: 'hooks', hookType: 'preToolUse' }));
    }, patience);
    expect(caller.traces(session)).toEqual([]);
    // A guard that disconnects is asked, and leaves, before its own resume is answered.
    await guardedBy({ outcome, caller }, before.sessionId).catch(() =>
      expect(outcome.name).toBe('disconnect'),
    );
    return { session, model, ids: ['c1'] };
  },
};

const approved = { kind: 'approve-once' };

/** While the guard is away, users are asked about the beginning of a sub-agent as well. */
function isForAgent(data: unknown): boolean {
  const { permissionRequest } = data as { permissionRequest: { toolName?: string } };
  return permissionRequest.toolName === 'task';
}

const noOpinion: Outcome = { name: 'no opinion', answer: output(null) };

/** Waits until the report of the sub-agent waits for the guard that left, and brings it back. */
async function guardComesBack({ session }: Guarded, caller: Caller): Promise<void> {
  await vi.waitFor(async () => {
    const { waitingOn } = await session.call<{ waitingOn: object[] }>('session.metadata.activity');
    expect(waitingOn).toContainEqual(expect.objectContaining({ kind: 'hooks', hookType: 'postToolUse' }));
  }, patience);
  await guardedBy({ outcome: noOpinion, caller }, session.sessionId);
}

/** Answers what comes until the session is idle. */
async function seeThrough({ session }: Guarded, decision: object): Promise<void> {
  const answered = new Set<string>();
  await runtime.client.until(() => {
    for (const { type, data } of session.events) {
      const { requestId } = data as { requestId?: string };
      if (requestId === undefined || answered.has(requestId)) continue;
      answered.add(requestId);
      if (type === 'permission.requested')
        void session.decide(requestId, isForAgent(data) ? approved : decision);
      if (type === 'external_tool.requested') void session.answerTool(requestId, { result: 'seen' });
    }
    return session.events.some(({ type }) => type === 'session.idle') ? true : undefined;
  }, 'session.idle');
}

/** Every tool from every origin with every answer; the short form has each pair of them once. */
const cells = Object.keys(callers).flatMap((caller, callerAt) =>
  Object.keys(origins).map((origin, originAt) => {
    const inShort = (_: Outcome, outcomeAt: number) => (originAt + outcomeAt) % 4 === callerAt;
    const tried = byExtent({ short: outcomes.filter(inShort), full: outcomes });
    return [caller, origin, tried] as const;
  }),
);

describe.each(cells)('%s, %s', (caller, origin, tried) => {
  test.each(tried.map((outcome) => [outcome.name, outcome] as const))('%s', async (_, outcome) => {
    const called = callers[caller as keyof typeof callers]();
    const guarded = await (origins[origin] as Origin)(outcome, called);
    if (outcome.name === 'disconnect' && called.isNested) await guardComesBack(guarded, called);
    // A guard that has left guards still: what comes after is asked about.
    await seeThrough(guarded, { kind: outcome.denial ? 'reject' : 'approve-once' });
    const { session, ids } = guarded;
    expect(called.traces(session)).toEqual(
      outcome.runsWith === undefined ? [] : ids.map(() => outcome.runsWith),
    );
    const results = session.events.filter(
      ({ type, data }) =>
        type === 'tool.execution_complete' && ids.includes((data as { toolCallId: string }).toolCallId),
    );
    for (const { data } of results) {
      const { success, error } = data as { success: boolean; error?: { message: string } };
      expect(success).toBe(outcome.denial === undefined);
      if (outcome.denial) expect(error?.message).toMatch(outcome.denial);
    }
    expect(results).toHaveLength(ids.length);
  });
});
