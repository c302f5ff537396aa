import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  callTools,
  hold,
  liveRuntime,
  providerOf,
  type RuntimeProcess,
  say,
  story,
  type WireClient,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

/** A port that clients of every age come to, started as those from 0.1.23 on start it. */
const runtime = liveRuntime({ flags: ['--no-auto-update', '--port', '0'] });
const look = callTools({ id: 'c1', name: 'look', arguments: { at: 'tree' } });
const tools = [{ name: 'look', description: 'Looks', parameters: null }];
/** What 0.1.18 sends beside what its app says: nothing. */
const bare = { toolFilterPrecedence: null, requestPermission: null };
/** What 0.1.30 sends. */
const asking = {
  ...bare,
  requestPermission: true,
  requestUserInput: false,
  hooks: false,
  envValueMode: 'direct',
};
const approved = { kind: 'approved', rules: null };

interface Asked {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly signal: AbortSignal;
}

/** A client of protocol 2, with all that it was asked. */
interface OldClient {
  readonly wire: WireClient;
  readonly asked: Asked[];
  /** The first request of this name that was not taken before. */
  next(method: string): Promise<Asked>;
}

/** `answers` by the request's name: what it says, or a promise that never ends for a client that is still at it. */
async function oldClient(
  answers: Readonly<Record<string, (params: Record<string, unknown>, call: number) => unknown>>,
  process: RuntimeProcess = runtime.process,
): Promise<OldClient> {
  const wire = await runtime.connect(process, { hasGaps: true });
  const asked: Asked[] = [];
  let taken = 0;
  const waiting = new Set<() => void>();
  wire.answer = async (method, params, signal) => {
    const request = { method, params: params as Record<string, unknown>, signal };
    asked.push(request);
    for (const wake of [...waiting]) wake();
    const answer = answers[method];
    if (!answer) throw new Error(`Unhandled method ${method}`);
    return answer(request.params, asked.length);
  };
  expect(await wire.call('ping', { message: null })).toMatchObject({ protocolVersion: 2 });
  const next = async (method: string): Promise<Asked> => {
    for (;;) {
      const index = asked.findIndex((request, at) => at >= taken && request.method === method);
      const found = asked[index];
      if (found) {
        taken = index + 1;
        return found;
      }
      await new Promise<void>((resolve) => waiting.add(resolve));
    }
  };
  return { wire, asked, next };
}

const never = () => new Promise(() => undefined);
const namesOf = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);

describe('a client of protocol 2', () => {
  test('runs its tools and decides by requests; no event of protocol 3 reaches it, and its history has the idle it received', async () => {
    const model = runtime.script(look, say('seen'));
    const client = await oldClient({
      'permission.request': () => ({ result: approved }),
      'tool.call': () => ({
        result: { textResultForLlm: 'a tree', resultType: 'success', toolTelemetry: {} },
      }),
    });
    const session = await client.wire.create({ ...asking, ...providerOf(model), tools });
    const events = await session.turn('Look', { attachments: null, mode: null });
    expect(client.asked.map(({ method, params }) => [method, params])).toEqual([
      [
        'permission.request',
        {
          sessionId: session.sessionId,
          permissionRequest: {
            kind: 'custom-tool',
            toolCallId: 'c1',
            toolName: 'look',
            toolDescription: 'Looks',
            args: { at: 'tree' },
          },
        },
      ],
      [
        'tool.call',
        { sessionId: session.sessionId, toolCallId: 'c1', toolName: 'look', arguments: { at: 'tree' } },
      ],
    ]);
    expect(story(events)).toContain('tool.execution_complete c1 ok "a tree"');
    const unknown = /^(?:permission|external_tool)\./;
    expect(namesOf(events).filter((type) => unknown.test(type))).toEqual([]);
    const stored = namesOf(await session.stored());
    expect(stored.filter((type) => unknown.test(type))).toEqual([]);
    expect(stored.at(-1)).toBe('session.idle');
  });

  test('the idles of a session stay in the history of the client that comes back to it', async () => {
    const model = runtime.script(say('one'), say('two'));
    const client = await oldClient({});
    const session = await client.wire.create({ ...bare, ...providerOf(model) });
    await session.turn('One');
    const again = await client.wire.resume(session.sessionId, { ...bare, ...providerOf(model) });
    await again.turn('Two');
    const marks = namesOf(await again.stored()).filter((type) =>
      ['user.message', 'session.idle', 'session.resume'].includes(type),
    );
    expect(marks).toEqual(['user.message', 'session.idle', 'session.resume', 'user.message', 'session.idle']);
  });

  test.each([
    ['a text', { result: 'plain' }, 'tool.execution_complete c1 ok "plain"'],
    ['nothing', { result: null }, 'tool.execution_complete c1 ok ""'],
    [
      'nulls beside the text',
      { result: { textResultForLlm: 'T', resultType: null, error: null, binaryResultsForLlm: null } },
      'tool.execution_complete c1 ok "T"',
    ],
    [
      'the failure that it makes of a handler that throws',
      { result: { textResultForLlm: 'It failed.', resultType: 'failure', error: 'boom', toolTelemetry: {} } },
      'tool.execution_complete c1 failure "boom"',
    ],
  ])('answers a tool call with %s', async (_what, answer, line) => {
    const model = runtime.script(look, say('seen'));
    const client = await oldClient({ 'tool.call': () => answer });
    const session = await client.wire.create({ ...bare, ...providerOf(model), tools });
    const events = await session.turn('Look');
    expect(story(events)).toContain(line);
    expect(model.requests).toHaveLength(2);
  });

  test('answers a tool call with an object of its own, which the model reads as it is', async () => {
    const model = runtime.script(look, say('seen'));
    const client = await oldClient({ 'tool.call': () => ({ result: { sum: 3, rest: null } }) });
    const session = await client.wire.create({ ...bare, ...providerOf(model), tools });
    await session.turn('Look');
    expect(model.requests[1]?.body.messages.at(-1)).toMatchObject({ content: '{"sum":3,"rest":null}' });
  });

  test('an error instead of an answer is a failed tool, and its text stays with the client', async () => {
    const model = runtime.script(look, say('seen'));
    const client = await oldClient({ 'tool.call': () => Promise.reject(new Error('secret detail')) });
    const session = await client.wire.create({ ...bare, ...providerOf(model), tools });
    const events = await session.turn('Look');
    expect(story(events)).toContain('tool.execution_complete c1 failure "Tool execution failed"');
    expect(JSON.stringify(model.requests[1]?.body)).not.toContain('secret detail');
  });

  test.each<[string, unknown, string]>([
    ['denied-by-rules', { kind: 'denied-by-rules', rules: [] }, 'Permission denied by rules'],
    [
      'denied-no-approval-rule-and-could-not-request-from-user',
      { kind: 'denied-no-approval-rule-and-could-not-request-from-user' },
      'Permission denied and could not request permission from user',
    ],
    ['an unknown kind', { kind: 'perhaps' }, 'Permission denied and could not request permission from user'],
    ['an error', undefined, 'Permission denied and could not request permission from user'],
  ])('denies with %s', async (_what, decision, text) => {
    const model = runtime.script(look, say('well'));
    const answer = decision ? async () => ({ result: decision }) : () => Promise.reject(new Error('no'));
    const client = await oldClient({ 'permission.request': answer });
    const session = await client.wire.create({ ...asking, ...providerOf(model), tools });
    await session.turn('Look');
    expect(JSON.stringify(model.requests[1]?.body)).toContain(text);
    expect(client.asked.map(({ method }) => method)).toEqual(['permission.request']);
  });

  test('a denial by the user ends the turn', async () => {
    const model = runtime.script(look, say('never'));
    const client = await oldClient({
      'permission.request': () => ({ result: { kind: 'denied-interactively-by-user' } }),
    });
    const session = await client.wire.create({ ...asking, ...providerOf(model), tools });
    await session.turn('Look');
    expect(model.requests).toHaveLength(1);
  });

  test('answers questions of the agent and runs hooks by the same requests as later ones', async () => {
    const ask = callTools({
      id: 'c1',
      name: 'ask_user',
      arguments: { question: 'Which?', choices: ['a', 'b'] },
    });
    const model = runtime.script(ask, say('a it is'));
    const client = await oldClient({
      'userInput.request': () => ({ answer: 'a', wasFreeform: false }),
      'hooks.invoke': () => ({ output: null }),
    });
    const session = await client.wire.create({
      ...asking,
      requestUserInput: true,
      hooks: true,
      ...providerOf(model),
    });
    const events = await session.turn('Ask');
    expect(story(events)).toContain('assistant.message "a it is"');
    const hooks = client.asked.filter(({ method }) => method === 'hooks.invoke');
    expect(hooks.map(({ params }) => params.hookType)).toContain('preToolUse');
    expect(client.asked.filter(({ method }) => method === 'userInput.request')).toHaveLength(1);
  });

  test('an abort takes its request back, and the answer that comes later counts for nothing', async () => {
    const model = runtime.script(look, say('after'));
    const client = await oldClient({ 'tool.call': never });
    const session = await client.wire.create({ ...bare, ...providerOf(model), tools });
    await session.send('Look');
    const { signal } = await client.next('tool.call');
    const cancelled = new Promise((resolve) => signal.addEventListener('abort', resolve));
    await session.call('session.abort');
    await cancelled;
    await session.next('session.idle');
    await session.turn('Go on');
    expect(story(await session.stored()).at(-3)).toBe('assistant.message "after"');
  });
});

describe('without a permission handler', () => {
  const calls = callTools(
    { id: 'own', name: 'look', arguments: {} },
    { id: 'inside', name: 'view', arguments: { path: 'inside.txt' } },
    { id: 'list', name: 'bash', arguments: { command: 'cat inside.txt', description: 'Reads' } },
    { id: 'write', name: 'create', arguments: { path: 'new.txt', file_text: 'x' } },
    { id: 'outside', name: 'view', arguments: { path: '/etc/hostname' } },
    { id: 'run', name: 'bash', arguments: { command: 'touch ran.txt', description: 'Writes' } },
  );
  const hint = 'GROUNDCREW_V2_ALLOW_ALL=1';

  async function outcomes(process: RuntimeProcess) {
    writeFileSync(join(runtime.workingDirectory, 'inside.txt'), 'INSIDE');
    const model = runtime.script(calls, say('done'));
    const client = await oldClient({ 'tool.call': () => ({ result: 'a tree' }) }, process);
    const session = await client.wire.create({
      ...bare,
      ...providerOf(model),
      tools,
      workingDirectory: runtime.workingDirectory,
    });
    const events = await session.turn('All of it');
    const results = events.filter(({ type }) => type === 'tool.execution_complete');
    const body = JSON.stringify(model.requests[1]?.body);
    return {
      outcome: Object.fromEntries(
        results.map(({ data }) => {
          const { toolCallId, success } = data as { toolCallId: string; success: boolean };
          return [toolCallId, success];
        }),
      ),
      hints: body.split(hint).length - 1,
    };
  }

  test('its own tools and calls that only read inside run; all else is denied, and the denial names the way', async () => {
    expect(await outcomes(runtime.process)).toEqual({
      outcome: { own: true, inside: true, list: true, write: false, outside: false, run: false },
      hints: 3,
    });
  });

  test('everything runs where the environment allows it', async () => {
    const process = runtime.spawn({
      flags: ['--no-auto-update', '--stdio'],
      environment: { GROUNDCREW_V2_ALLOW_ALL: '1' },
    });
    const { outcome, hints } = await outcomes(process);
    expect({ outcome, hints }).toEqual({
      outcome: { own: true, inside: true, list: true, write: true, outside: true, run: true },
      hints: 0,
    });
  });

  test('a client of protocol 3 that denies nothing by itself is not opened by that', async () => {
    const model = runtime.script(
      callTools({ id: 'c1', name: 'view', arguments: { path: 'inside.txt' } }),
      say('done'),
    );
    const session = await runtime.client.create({
      ...providerOf(model),
      requestPermission: false,
      workingDirectory: runtime.workingDirectory,
    });
    const events = await session.turn('View');
    expect(story(events).find((line) => line.startsWith('tool.execution_complete'))).toMatch(
      /^tool\.execution_complete c1 (?!ok)/,
    );
    expect(JSON.stringify(model.requests[1]?.body)).not.toContain(hint);
  });
});

describe('which protocol a connection speaks', () => {
  const spawn = (flags: string[], environment?: Record<string, string>) =>
    runtime.spawn({ flags: ['--stdio', ...flags], ...(environment && { environment }) });

  test.each<[string, () => RuntimeProcess, number]>([
    ['--protocol 1', () => spawn(['--no-auto-update', '--protocol', '1']), 1],
    ['--protocol 2', () => spawn(['--no-auto-update', '--protocol=2']), 2],
    ['--protocol 3', () => spawn(['--protocol', '3']), 3],
    ['GROUNDCREW_PROTOCOL=1', () => spawn(['--no-auto-update'], { GROUNDCREW_PROTOCOL: '1' }), 1],
    ['the flag before the environment', () => spawn(['--protocol', '2'], { GROUNDCREW_PROTOCOL: '1' }), 2],
    ['--server without --no-auto-update', () => spawn(['--server']), 2],
    ['--headless without --no-auto-update', () => spawn([]), 2],
    ['a first ping', () => spawn(['--no-auto-update']), 2],
  ])('ping says it: %s', async (_how, start, protocolVersion) => {
    const client = await runtime.connect(start(), { hasGaps: true });
    expect(await client.call('ping', {})).toMatchObject({ protocolVersion });
    expect(await client.call('status.get', {})).toMatchObject({ protocolVersion });
  });

  test('a client that calls connect speaks 3, whatever the flag says', async () => {
    const client = await runtime.connect(spawn(['--protocol', '2']));
    expect(await client.call('connect', {})).toMatchObject({ protocolVersion: 3 });
  });

  test('another number ends the program', async () => {
    const process = spawn(['--protocol', '4']);
    expect(await process.exited).toMatchObject({ code: 2 });
    expect(process.stderr).toContain('--protocol: expected 1, 2 or 3, not "4"');
  });

  test.each<[string, object, 'request' | 'event']>([
    ['0.1.23, whose app names no session', { requestUserInput: false, hooks: false }, 'request'],
    ['0.1.30 without a name', { envValueMode: 'direct' }, 'request'],
    ['0.1.30 with a name', { envValueMode: 'direct', sessionId: `named-${randomUUID()}` }, 'request'],
    ['0.2.x, which makes an id', { envValueMode: 'direct', sessionId: randomUUID() }, 'event'],
    ['0.3.0', { sessionId: `n-${randomUUID()}`, includeSubAgentStreamingEvents: true }, 'event'],
  ])('the first create settles it: %s', async (_release, params, way) => {
    const model = runtime.script(look, say('seen'));
    const client = await oldClient({ 'tool.call': () => ({ result: 'a tree' }) });
    const session = await client.wire.create({
      ...bare,
      requestPermission: true,
      ...params,
      ...providerOf(model),
      tools: [{ name: 'look', skipPermission: true }],
    });
    await session.send('Look');
    if (way === 'event') {
      const { data } = await session.next('external_tool.requested');
      await session.answerTool(data.requestId, { result: 'a tree' });
    }
    await session.next('session.idle');
    expect(client.asked.map(({ method }) => method)).toEqual(way === 'request' ? ['tool.call'] : []);
  });

  test('the first release of all only creates: the start shows what it speaks', async () => {
    const model = runtime.script(look, say('seen'));
    const wire = await runtime.connect(spawn(['--server']), { hasGaps: true });
    wire.answer = async (method) => ({ result: method });
    const session = await wire.create({ ...bare, ...providerOf(model), tools });
    expect(story(await session.turn('Look'))).toContain('tool.execution_complete c1 ok "tool.call"');
  });
});

describe('what a client of protocol 2 leaves open', () => {
  test('its tool call goes to the next client of protocol 2 that has the tool, when it has its answer to resume', async () => {
    const model = runtime.script(look, say('seen'));
    const one = await oldClient({ 'tool.call': never });
    const before = await one.wire.create({ ...bare, ...providerOf(model), tools });
    await before.send('Look');
    await one.next('tool.call');
    await one.wire.close();
    const two = await oldClient({ 'tool.call': () => ({ result: 'a tree' }) });
    const after = await two.wire.resume(before.sessionId, { ...bare, ...providerOf(model), tools });
    await after.next('session.idle');
    const order = two.wire.order();
    expect(order.indexOf('reply session.resume')).toBeLessThan(order.indexOf('other'));
    expect(two.asked.map(({ method }) => method)).toEqual(['tool.call']);
    expect(story(await after.stored()).at(-3)).toBe('assistant.message "seen"');
  });

  test('its permission request is answered by a client of protocol 3, and the tool goes where it belongs', async () => {
    const model = runtime.script(look, say('seen'));
    const one = await oldClient({ 'permission.request': never });
    const before = await one.wire.create({ ...asking, ...providerOf(model), tools });
    await before.send('Look');
    await one.next('permission.request');
    await one.wire.close();
    const two = await runtime.connect();
    const after = await two.resume(before.sessionId, {
      ...providerOf(model),
      tools,
      continuePendingWork: true,
    });
    const { items } = await after.call<{ items: { requestId: string }[] }>(
      'session.permissions.pendingRequests',
    );
    expect(await after.decide(items[0]?.requestId ?? '', { kind: 'approve-once' })).toEqual({
      success: true,
    });
    const { data } = await after.next('external_tool.requested');
    await after.answerTool(data.requestId, { result: 'a tree' });
    await after.next('session.idle');
    expect(story(await after.stored()).at(-2)).toBe('assistant.message "seen"');
  });

  test('kill -9 with its tool call open: a client of protocol 3 ends the turn, the effect is there once', async () => {
    const effects = join(runtime.workingDirectory, 'effects-2-3.txt');
    const effect = () => writeFileSync(effects, 'done\n', { flag: 'a' });
    const model = runtime.script(look, say('seen'));
    const doomed = runtime.spawn({ flags: ['--server', '--stdio'] });
    const one = await oldClient(
      {
        'tool.call': () => {
          effect();
          return never();
        },
      },
      doomed,
    );
    const before = await one.wire.create({ ...bare, ...providerOf(model), tools });
    await before.send('Look');
    await one.next('tool.call');
    await doomed.signal('SIGKILL');
    const two = await runtime.connect();
    const after = await two.resume(before.sessionId, {
      ...providerOf(model),
      tools,
      continuePendingWork: true,
    });
    const open = (await after.stored()).find(({ type }) => type === 'external_tool.requested');
    const { requestId = '' } = { ...(open?.data as { requestId?: string } | undefined) };
    expect(await after.answerTool(requestId, { result: 'a tree' })).toEqual({ success: true });
    await after.next('session.idle');
    expect(story(await after.stored()).at(-2)).toBe('assistant.message "seen"');
    expect(readFileSync(effects, 'utf8')).toBe('done\n');
    expect(model.requests).toHaveLength(2);
  });

  test('kill -9 with a call open at a client of protocol 3: one of protocol 2 is asked, and ends the turn', async () => {
    const effects = join(runtime.workingDirectory, 'effects-3-2.txt');
    const effect = () => writeFileSync(effects, 'done\n', { flag: 'a' });
    const model = runtime.script(look, say('seen'));
    const doomed = runtime.spawn({ flags: ['--no-auto-update', '--stdio'] });
    const one = await runtime.connect(doomed, { hasGaps: true });
    await one.call('connect', {});
    const before = await one.create({
      ...providerOf(model),
      tools: [{ name: 'look', skipPermission: true }],
    });
    await before.send('Look');
    await before.next('external_tool.requested');
    await doomed.signal('SIGKILL');
    const two = await oldClient({
      'tool.call': () => {
        effect();
        return { result: 'a tree' };
      },
    });
    const after = await two.wire.resume(before.sessionId, { ...bare, ...providerOf(model), tools });
    await after.next('session.idle');
    expect(two.asked.map(({ method, params }) => [method, params.toolCallId])).toEqual([['tool.call', 'c1']]);
    expect(story(await after.stored()).at(-3)).toBe('assistant.message "seen"');
    expect(readFileSync(effects, 'utf8')).toBe('done\n');
  });
});

describe('five clients of five ages on one session', () => {
  /** 0.1.18, 0.1.30, 0.2.x, 1.0.0-beta.4 and the newest. */
  async function five(model: ReturnType<typeof runtime.script>) {
    const decide = { 'permission.request': () => ({ result: approved }) };
    const newest = await runtime.connect();
    await newest.call('connect', {});
    const creator = await newest.create({ ...providerOf(model) });
    const { sessionId } = creator;
    const beta = await runtime.connect();
    await beta.call('connect', {});
    const betaSession = await beta.resume(sessionId, {
      ...asking,
      requestElicitation: false,
      requestExitPlanMode: false,
      requestAutoModeSwitch: false,
      includeSubAgentStreamingEvents: true,
    });
    const second = await runtime.connect();
    await second.call('ping', {});
    const secondSession = await second.resume(sessionId, { ...asking, includeSubAgentStreamingEvents: true });
    const v30 = await oldClient({ ...decide, 'tool.call': () => ({ result: 'a tree' }) });
    const v30Session = await v30.wire.resume(sessionId, { ...asking, tools });
    const v18 = await oldClient(decide);
    const v18Session = await v18.wire.resume(sessionId, { ...bare, requestPermission: true });
    return { creator, betaSession, secondSession, v30, v30Session, v18, v18Session };
  }

  test('hear the same in the same order, as far as each can read it; one answer counts per question', async () => {
    const held = hold(look);
    const model = runtime.script(held.reply, say('seen'));
    const all = await five(model);
    const sessions = [all.creator, all.betaSession, all.secondSession, all.v30Session, all.v18Session];
    const from = sessions.map(({ events }) => events.length);
    await all.creator.send('Look');
    held.release();
    const late = await all.creator.next('permission.requested');
    await Promise.all(sessions.map((session) => session.next('session.idle')));
    expect(await all.creator.decide(late.data.requestId, { kind: 'approve-once' })).toEqual({
      success: false,
    });
    const [newest, ...others] = sessions.map(({ events }, index) => events.slice(from[index]));
    const durable = (events = newest ?? []) => events.filter(({ ephemeral }) => !ephemeral);
    const unknown = /^(?:permission|external_tool)\./;
    const known = durable().filter(({ type }) => !unknown.test(type));
    for (const [index, events] of others.entries()) {
      const expected = index < 2 ? durable() : known;
      expect(durable(events).map(({ id, type }) => [id, type])).toEqual(
        expected.map(({ id, type }) => [id, type]),
      );
    }
    const completed = durable().filter(({ type }) => type === 'permission.completed');
    expect(completed).toHaveLength(1);
    expect(all.v30.asked.filter(({ method }) => method === 'tool.call')).toHaveLength(1);
    expect(all.v18.asked.filter(({ method }) => method === 'tool.call')).toHaveLength(0);
    expect(story(await all.creator.stored()).at(-2)).toBe('assistant.message "seen"');
  });

  test('what one of protocol 3 answers is taken back from those of protocol 2', async () => {
    const model = runtime.script(look, say('seen'));
    const patient = await oldClient({ 'permission.request': never });
    const newest = await runtime.connect();
    await newest.call('connect', {});
    const session = await newest.create({ ...providerOf(model), tools });
    await patient.wire.resume(session.sessionId, asking);
    await session.send('Look');
    const { data } = await session.next('permission.requested');
    const { signal } = await patient.next('permission.request');
    const cancelled = new Promise((resolve) => signal.addEventListener('abort', resolve));
    expect(await session.decide(data.requestId, { kind: 'approve-once' })).toEqual({ success: true });
    await cancelled;
    const call = await session.next('external_tool.requested');
    await session.answerTool(call.data.requestId, { result: 'a tree' });
    await session.next('session.idle');
  });
});
