import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyEvent } from '@groundcrew/protocol';
import { type CompletionMessage, liveRuntime, RuleModel } from '@groundcrew/testkit';
import { afterAll, describe, expect, test, vi } from 'vitest';

const runtime = liveRuntime();
const models: RuleModel[] = [];
afterAll(() => Promise.all(models.map((model) => model.close())));

const interrupted = 'The execution of this tool, or a previous tool was interrupted.';
const tools = [{ name: 'look', skipPermission: true }, { name: 'pay' }];
const patience = { timeout: 10_000 };

type Mode = 'sync' | 'background';

/** The five agents of the root, each caught at another place; the one that leads has one of its own. */
const agents = ['ASKS', 'LOOKS', 'RUNS', 'THINKS', 'LEADS'] as const;

const task = (id: string, prompt: string, mode: Mode) => ({
  id,
  name: 'task',
  arguments: { name: prompt, agent_type: 'general-purpose', description: prompt, prompt, mode },
});

/** Answers every agent by its prompt; `THINKS` waits for as long as the first process lives. */
async function fiveAgents(mode: Mode, command: string) {
  const asked: Record<string, number> = {};
  let isFirstLife = true;
  let think: () => void = () => undefined;
  const thinking = new Promise<void>((resolve) => {
    think = resolve;
  });
  const call = (id: string, name: string, args: object = {}) => ({
    calls: [{ id, name, arguments: args }],
  });
  const rules: Record<string, (results: readonly string[]) => object | Promise<object>> = {
    ROOT: (results) => {
      if (results.length === 0) return { calls: agents.map((name) => task(`call-${name}`, name, mode)) };
      return { chunks: [`Root read ${results.length}: ${mode === 'sync' ? results.join(' | ') : ''}`] };
    },
    ASKS: (results) => (results.length === 0 ? call('a1', 'pay') : { chunks: [`asked: ${results[0]}`] }),
    LOOKS: (results) => (results.length === 0 ? call('l1', 'look') : { chunks: [`looked: ${results[0]}`] }),
    RUNS: (results) =>
      results.length === 0
        ? call('r1', 'bash', { command, description: 'Counts' })
        : { chunks: [`ran: ${results[0]}`] },
    THINKS: async () => {
      if (isFirstLife) {
        think();
        await new Promise(() => undefined);
      }
      return { chunks: ['thought'] };
    },
    LEADS: (results) =>
      results.length === 0 ? { calls: [task('n1', 'NESTED', 'sync')] } : { chunks: [`led: ${results[0]}`] },
    NESTED: (results) => (results.length === 0 ? call('n2', 'look') : { chunks: [`nested: ${results[0]}`] }),
  };
  const model = await RuleModel.open((messages: readonly CompletionMessage[]) => {
    const first = JSON.stringify(messages.find(({ role }) => role === 'user')?.content);
    const name = Object.keys(rules).find((each) => first.includes(each)) ?? 'ROOT';
    asked[name] = (asked[name] ?? 0) + 1;
    const results = messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []));
    return (rules[name] as (results: readonly string[]) => object)(results);
  });
  models.push(model);
  const nextLife = () => {
    isFirstLife = false;
  };
  return { model, asked, thinking, nextLife };
}

const ofType = (events: readonly AnyEvent[], type: string) => events.filter((event) => event.type === type);
const dataOf = (events: readonly AnyEvent[], type: string) =>
  ofType(events, type).map(({ data }) => data as Record<string, unknown>);

/** A process with five agents at work, killed. */
async function killed(mode: Mode) {
  const workingDirectory = join(runtime.home.path, `work-${mode}-${models.length}`);
  mkdirSync(workingDirectory);
  const runs = join(workingDirectory, 'runs.txt');
  const command = `echo $$ >> ${runs}; exec sleep 60`;
  const world = await fiveAgents(mode, command);
  const doomed = runtime.spawn({ flags: ['--stdio'] });
  const client = await runtime.connect(doomed);
  const before = await client.create({ ...world.model.settings, tools, workingDirectory });
  await before.send('ROOT go');
  const isOf = (id: string) => (event: { data: unknown }) =>
    (event.data as { toolCallId?: string }).toolCallId === id;
  const shell = await client.until(
    () => ofType(before.events, 'permission.requested').find(isPermissionOf('r1')),
    'a permission request for the command',
  );
  await before.decide((shell.data as { requestId: string }).requestId, { kind: 'approve-once' });
  await vi.waitFor(() => expect(existsSync(runs) && readFileSync(runs, 'utf8')).toMatch(/^\d+\n$/), patience);
  const find = (type: string, id: string) =>
    client.until(() => ofType(before.events, type).find(isOf(id)), `${type} of ${id}`);
  const pay = await client.until(
    () => ofType(before.events, 'permission.requested').find(isPermissionOf('a1')),
    'a permission request of pay',
  );
  const look = await find('external_tool.requested', 'l1');
  const nested = await find('external_tool.requested', 'n2');
  await world.thinking;
  await doomed.signal('SIGKILL');
  const pid = Number(readFileSync(runs, 'utf8'));
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), patience);
  world.nextLife();
  const requestIdOf = ({ data }: AnyEvent) => (data as { requestId: string }).requestId;
  const open = { pay: requestIdOf(pay), look: requestIdOf(look), nested: requestIdOf(nested) };
  const settings = { ...world.model.settings, tools, workingDirectory };
  return { before, world, open, settings, runs, pid };
}

const isPermissionOf = (id: string) => (event: AnyEvent) =>
  (event.data as { permissionRequest: { toolCallId?: string } }).permissionRequest.toolCallId === id;

/** By the name of its task, how an agent ended. */
function ends(events: readonly AnyEvent[]) {
  const started = ofType(events, 'subagent.started');
  const prompts = ofType(events, 'user.message');
  return Object.fromEntries(
    started.map(({ agentId }) => {
      const prompt = prompts.find((event) => event.agentId === agentId);
      const last = events.findLast(
        (event) => event.agentId === agentId && /^subagent\.(completed|failed)$/.test(event.type),
      );
      return [(prompt?.data as { content: string } | undefined)?.content, last?.type];
    }),
  );
}

describe.each(['sync', 'background'] as const)('a process killed with five %s agents at work', (mode) => {
  test('continued: all of them go on, each question is answered once, nothing is done twice', async () => {
    const { before, world, open, settings, runs, pid } = await killed(mode);
    const after = await runtime.client.resume(before.sessionId, { ...settings, continuePendingWork: true });
    expect(await after.decide(open.pay, { kind: 'approve-once' })).toEqual({ success: true });
    expect(await after.decide(open.pay, { kind: 'approve-once' })).toEqual({ success: false });
    expect(await after.answerTool(open.look, { result: 'a tree' })).toEqual({ success: true });
    expect(await after.answerTool(open.nested, { result: 'a bush' })).toEqual({ success: true });
    expect(await after.answerTool(open.nested, { result: 'again' })).toEqual({ success: false });
    const paying = await after.next(
      'external_tool.requested',
      ({ data }) => (data as { toolCallId: string }).toolCallId === 'a1',
    );
    expect(await after.answerTool(paying.data.requestId, { result: 'paid' })).toEqual({ success: true });
    await after.next('session.idle');
    const stored = await after.stored();
    const completed = 'subagent.completed';
    expect(ends(stored)).toEqual(Object.fromEntries([...agents, 'NESTED'].map((name) => [name, completed])));
    expect(ofType(stored, 'subagent.started')).toHaveLength(6);
    expect(ofType(stored, completed)).toHaveLength(6);
    const receipts = dataOf(stored, 'tool.execution_complete').map(({ toolCallId }) => toolCallId);
    expect(receipts.toSorted()).toEqual(
      [...agents.map((name) => `call-${name}`), 'a1', 'l1', 'n1', 'n2', 'r1'].toSorted(),
    );
    expect(readFileSync(runs, 'utf8')).toBe(`${pid}\n`);
    const { tasks } = await after.call<{ tasks: { description: string; result: string }[] }>(
      'session.tasks.list',
    );
    expect(Object.fromEntries(tasks.map(({ description, result }) => [description, result]))).toEqual({
      ASKS: 'asked: paid',
      LOOKS: 'looked: a tree',
      RUNS: `ran: ${interrupted}`,
      THINKS: 'thought',
      LEADS: 'led: nested: a bush',
      NESTED: 'nested: a bush',
    });
    // Each agent asked its model for what it had not had an answer to, and no more.
    expect({ ...world.asked, ROOT: 0 }).toEqual({
      ...{ ROOT: 0, ASKS: 2, LOOKS: 2, RUNS: 2, THINKS: 2, LEADS: 2, NESTED: 2 },
    });
    if (mode === 'sync')
      expect(dataOf(stored, 'assistant.message').at(-1)?.content).toBe(
        `Root read 5: asked: paid | looked: a tree | ran: ${interrupted} | thought | led: nested: a bush`,
      );
    else expect(ofType(stored, 'system.notification')).toHaveLength(5);
    expect(world.model.refusals).toEqual([]);
  });

  test('not continued: all of them are closed as interrupted, and the next turn is a turn', async () => {
    const { before, world, open, settings, runs, pid } = await killed(mode);
    const after = await runtime.client.resume(before.sessionId, settings);
    expect(await after.decide(open.pay, { kind: 'approve-once' })).toEqual({ success: false });
    expect(await after.answerTool(open.look, { result: 'late' })).toEqual({ success: false });
    expect(await after.answerTool(open.nested, { result: 'late' })).toEqual({ success: false });
    const asked = { ...world.asked };
    await after.turn('Go on');
    const stored = await after.stored();
    expect(ends(stored)).toEqual(
      Object.fromEntries([...agents, 'NESTED'].map((name) => [name, 'subagent.failed'])),
    );
    expect(dataOf(stored, 'subagent.failed').map(({ error }) => error)).toEqual(
      Array.from({ length: 6 }, () => 'The session was interrupted'),
    );
    const { tasks } = await after.call<{ tasks: { status: string }[] }>('session.tasks.list');
    expect(tasks.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'failed'));
    expect({ ...world.asked, ROOT: 0 }).toEqual({ ...asked, ROOT: 0 });
    expect(readFileSync(runs, 'utf8')).toBe(`${pid}\n`);
    expect(world.model.refusals).toEqual([]);
    const { items } = await after.call<{ items: unknown[] }>('session.permissions.pendingRequests');
    expect(items).toEqual([]);
  });
});
