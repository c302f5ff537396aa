import { tmpdir } from 'node:os';
import type { ModelEvent, ModelProvider, ModelRequest } from '@groundcrew/models';
import type { AnyEvent } from '@groundcrew/protocol';
import { memoryStore } from '@groundcrew/store';
import { withFileLock } from '@groundcrew/store-sqlite';
import { workerEntry } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { systemClock } from '../clock.js';
import { Workers } from '../exec/workers.js';
import type { PermissionQuestion } from '../permissions/question.js';
import { Runtime } from '../runtime.js';
import type { Attachment } from '../session/audience.js';
import type { Session } from '../session/session.js';
import type { SessionSettings } from '../settings/session-settings.js';
import { Shells } from '../tools/shell/shells.js';
import type { Tool } from '../tools/tool.js';

const usage = {
  inputTokens: 1,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** Asks for one call of each tool first, then repeats the results it got. */
function callingModel(requests: ModelRequest[]): ModelProvider {
  return {
    id: 'calling',
    models: async () => [],
    stream: async function* (request): AsyncGenerator<readonly ModelEvent[]> {
      requests.push(request);
      const results = request.messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []));
      if (results.length > 0) {
        yield [{ type: 'text', delta: results.join(' | ') }, end('stop')];
        return;
      }
      const calls = request.tools.map(({ name }): ModelEvent => {
        return { type: 'tool_call', call: { callId: `call-${name}`, name, argumentsText: '{}' } };
      });
      yield [...calls, end('tool_calls')];
    },
  };
}

function end(reason: 'stop' | 'tool_calls'): ModelEvent {
  return { type: 'end', reason, usage };
}

/** One store for processes that follow one another; each leaves its last turn where it was. */
function world(tools: readonly Tool[]) {
  const store = memoryStore({ isAlive: () => false });
  const requests: ModelRequest[] = [];
  const provider = callingModel(requests);
  const settings: SessionSettings = {
    clientName: 'test',
    workingDirectory: tmpdir(),
    streaming: false,
    exclusionWins: true,
    trace: {},
    hasWorkspace: false,
    excludedBuiltinAgents: ['explore', 'task', 'general-purpose', 'code-review'],
  };
  let processes = 0;
  const start = async () => {
    processes += 1;
    const runtime = new Runtime({
      home: () => ({ directory: tmpdir(), store }),
      homeDirectory: tmpdir(),
      openModels: async () => ({ provider, defaultModel: 'm', info: () => undefined, isCopilot: false }),
      withFileLock,
      builtinTools: () => tools,
      shells: new Shells({}),
      jobs: new Workers({ entry: workerEntry() }),
      userRules: () => ({ deny: [], allow: [] }),
      owner: { runtimeId: `runtime-${processes}`, pid: processes, host: 'here' },
      clock: systemClock(),
      version: '0',
      limits: {
        toolRounds: 10,
        queuedPrompts: 10,
        turnMilliseconds: 60_000,
        stopBlocks: 3,
        continuations: 5,
      },
      sessionIdleSeconds: 0,
    });
    const heard = new Hearing();
    const attachment: Attachment = {
      clientId: `client-${processes}`,
      tools: [],
      commands: [],
      elicitation: false,
      requestPermission: true,
      requestUserInput: false,
      requestExitPlanMode: false,
      requestAutoModeSwitch: false,
      reportsIntent: false,
      tokenProviders: [],
      receive: (published) => heard.take(published.event),
      ask: async (callback) => Promise.reject(new Error(`No client answers ${callback}`)),
    };
    const opening = {
      warnings: [],
      sessionId: 's',
      settings: () => settings,
      attachment,
    };
    const session =
      processes === 1
        ? await runtime.create(opening)
        : await runtime.resume({
            ...opening,
            changes: {},
            continuePendingWork: true,
            isSilent: false,
            takeOver: false,
          });
    return { session, heard };
  };
  return { start, requests };
}

/** The events of one process, to be waited for. */
class Hearing {
  readonly events: AnyEvent[] = [];
  private readonly waiting: (() => void)[] = [];

  take(event: AnyEvent): void {
    this.events.push(event);
    for (const wake of this.waiting.splice(0)) wake();
  }

  async next(type: string, times = 1): Promise<AnyEvent> {
    for (;;) {
      const event = this.events.filter((each) => each.type === type)[times - 1];
      if (event) return event;
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }
}

const forEver = new Promise<never>(() => undefined);

function tool(name: string, more: Partial<Tool> = {}): Tool {
  return {
    name,
    description: name,
    inputSchema: { type: 'object' },
    source: 'builtin',
    isRepeatable: false,
    prepare: () => ({ type: 'run', run: async () => ({ type: 'success', text: `${name} ran` }) }),
    ...more,
  };
}

function leave(toolName: string): PermissionQuestion {
  return { request: { kind: 'custom-tool', toolName, toolDescription: '' } };
}

async function decide(session: Session, event: AnyEvent, kind: 'approve-once' | 'reject'): Promise<boolean> {
  return session.permissions.answer((event.data as { requestId: string }).requestId, { kind });
}

function completions(events: readonly AnyEvent[]): readonly unknown[] {
  return events
    .filter(({ type }) => type === 'tool.execution_complete')
    .map(({ data }) => {
      const { toolCallId, success } = data as { toolCallId: string; success: boolean };
      return { toolCallId, success };
    });
}

const prompt = { messageId: 'm', text: 'Go', mode: 'enqueue' as const };

test('a tool that may have run is not run again: model and clients learn that its outcome is unknown', async () => {
  let runs = 0;
  const hanging = tool('once', {
    prepare: () => ({
      type: 'run',
      run: () => {
        runs += 1;
        return forEver;
      },
    }),
  });
  const { start, requests } = world([hanging]);
  const before = await start();
  await before.session.send(prompt, {});
  await before.heard.next('tool.execution_start');
  while (runs === 0) await new Promise(setImmediate);
  const after = await start();
  await after.heard.next('session.idle');
  const interrupted = 'The execution of this tool, or a previous tool was interrupted.';
  expect(runs).toBe(1);
  expect(completions(after.heard.events)).toEqual([{ toolCallId: 'call-once', success: false }]);
  expect(requests.at(-1)?.messages.at(-1)).toEqual({
    role: 'tool',
    callId: 'call-once',
    text: interrupted,
  });
});

test('a tool that says it may is run again', async () => {
  let runs = 0;
  const { start } = world([
    tool('safe', {
      isRepeatable: true,
      prepare: () => ({
        type: 'run',
        run: () => {
          runs += 1;
          return runs === 1 ? forEver : Promise.resolve({ type: 'success', text: 'ran' });
        },
      }),
    }),
  ]);
  const before = await start();
  await before.session.send(prompt, {});
  while (runs === 0) await new Promise(setImmediate);
  const after = await start();
  await after.heard.next('session.idle');
  expect(runs).toBe(2);
  expect(completions(after.heard.events)).toEqual([{ toolCallId: 'call-safe', success: true }]);
});

test('permission for one question of a call is no permission for the next, and is not asked for again', async () => {
  const asked: string[] = [];
  const { start } = world([
    tool('both', {
      prepare: () => ({
        questions: [leave('first'), leave('second'), leave('third')],
        type: 'run',
        run: async () => ({ type: 'success', text: 'ran' }),
      }),
    }),
  ]);
  const before = await start();
  await before.session.send(prompt, {});
  await decide(before.session, await before.heard.next('permission.requested'), 'approve-once');
  const second = await before.heard.next('permission.requested', 2);
  const after = await start();
  expect(await decide(after.session, second, 'approve-once')).toBe(true);
  const third = await after.heard.next('permission.requested');
  expect(completions(after.heard.events)).toEqual([]);
  await decide(after.session, third, 'approve-once');
  await after.heard.next('session.idle');
  for (const { type, data } of [...before.heard.events, ...after.heard.events]) {
    if (type !== 'permission.requested') continue;
    asked.push((data as { permissionRequest: { toolName: string } }).permissionRequest.toolName);
  }
  expect(asked).toEqual(['first', 'second', 'third']);
  expect(completions(after.heard.events)).toEqual([{ toolCallId: 'call-both', success: true }]);
});

test('leave given to a call whose tool is gone ends the call, not the turn', async () => {
  const tools = [tool('here', { prepare: () => ({ ...ask('here'), type: 'run', run: () => forEver }) })];
  const { start } = world(tools);
  const before = await start();
  await before.session.send(prompt, {});
  const question = await before.heard.next('permission.requested');
  tools.splice(0);
  const after = await start();
  await decide(after.session, question, 'approve-once');
  await after.heard.next('session.idle');
  expect(completions(after.heard.events)).toEqual([{ toolCallId: 'call-here', success: false }]);
  expect(after.heard.events.filter(({ type }) => type === 'session.error')).toEqual([]);
});

test('a turn in which one call was rejected ends when the others are answered, also by another process', async () => {
  const { start, requests } = world([
    tool('one', { prepare: () => ({ ...ask('one'), type: 'run', run: () => forEver }) }),
    tool('two', {
      prepare: () => ({
        ...ask('two'),
        type: 'run',
        run: async () => ({ type: 'success', text: 'ran' }),
      }),
    }),
  ]);
  const before = await start();
  await before.session.send(prompt, {});
  const second = await before.heard.next('permission.requested', 2);
  await decide(before.session, await before.heard.next('permission.requested'), 'reject');
  const after = await start();
  await decide(after.session, second, 'approve-once');
  await after.heard.next('session.idle');
  expect(completions(after.heard.events)).toEqual([{ toolCallId: 'call-two', success: true }]);
  expect(requests).toHaveLength(1);
});

function ask(name: string): { readonly questions: readonly PermissionQuestion[] } {
  return { questions: [leave(name)] };
}
