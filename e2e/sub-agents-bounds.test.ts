import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime, type RuleModel, temporaryDirectory } from '@groundcrew/testkit';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { agentModel, begin, beginAndReport, call, gate, lastWord, say, tasksOf } from './agent-world.js';

const runtime = liveRuntime();
const models: RuleModel[] = [];
afterAll(() => Promise.all(models.map((model) => model.close())));

async function world(rules: Parameters<typeof agentModel>[0], params: object = {}) {
  const made = await agentModel(rules);
  models.push(made.model);
  const session = await runtime.client.create({ ...made.model.settings, ...params });
  return { ...made, session };
}

const patience = { timeout: 10_000 };

describe('an abort', () => {
  test.each(['sync', 'background'])('ends %s agents, what they began, and their processes', async (mode) => {
    const pids = join(runtime.workingDirectory, `pids-${mode}.txt`);
    const command = `echo $$ >> ${pids}; exec sleep 60`;
    const { session, model } = await world({
      ROOT: ({ messages, results }) => {
        if (messages.length > 1) return say('Still here');
        return results.length === 0 ? begin(['OUTER', 'OTHER'], { mode }) : say('Waiting');
      },
      OUTER: ({ results }) => (results.length === 0 ? begin(['INNER']) : say('no')),
      INNER: ({ results }) =>
        results.length === 0 ? call('bash', { command, description: 'x' }) : say('no'),
      OTHER: ({ results }) =>
        results.length === 0 ? call('bash', { command, description: 'x' }) : say('no'),
    });
    await session.call('session.permissions.setApproveAll', { enabled: true });
    await session.send('ROOT go');
    await vi.waitFor(
      () => expect(existsSync(pids) && readFileSync(pids, 'utf8').trim().split('\n')).toHaveLength(2),
      patience,
    );
    await session.call('session.abort');
    await session.next('session.idle');
    for (const pid of readFileSync(pids, 'utf8').trim().split('\n').map(Number))
      await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), patience);
    const tasks = await tasksOf(session);
    expect(Object.entries(tasks).map(([name, { status }]) => `${name} ${status}`)).toEqual([
      'OUTER cancelled',
      'OTHER cancelled',
      'INNER cancelled',
    ]);
    const ends = session.events.filter(({ type }) => type === 'subagent.completed');
    expect(ends.map(({ data }) => (data as { cancelled?: boolean }).cancelled)).toEqual([true, true, true]);
    expect(await session.call('session.metadata.activity')).toMatchObject({ hasActiveWork: false });
    expect(lastWord(await session.turn('And now?'))).toBe('Still here');
    expect(model.refusals).toEqual([]);
  });

  test('of one agent by a client is a failed call for its parent, which goes on', async () => {
    const asked = gate();
    const { session, model } = await world({
      ROOT: beginAndReport(['SLOW', 'QUICK']),
      SLOW: async () => {
        asked.open();
        await new Promise(() => undefined);
        return say('never');
      },
      QUICK: () => say('quick'),
    });
    await session.send('ROOT go');
    await asked.opened;
    const { SLOW } = await tasksOf(session);
    expect(await session.call('session.tasks.cancel', { id: SLOW?.id })).toEqual({ cancelled: true });
    expect(await session.call('session.tasks.cancel', { id: SLOW?.id })).toEqual({ cancelled: false });
    expect(lastWord(await session.untilIdle())).toBe('Root: Agent "SLOW" was stopped | quick');
    expect(model.refusals).toEqual([]);
  });
});

test('an error of an agent’s model is a failed call for its parent, and what it began ends with it', async () => {
  const never = () => new Promise<never>(() => undefined);
  const { session, model } = await world({
    ROOT: beginAndReport(['BROKEN', 'WHOLE']),
    BROKEN: ({ results }) => {
      if (results.length === 0) return begin(['ORPHAN'], { mode: 'background' });
      throw new Error('no more of this');
    },
    ORPHAN: never,
    WHOLE: () => say('whole'),
  });
  expect(lastWord(await session.turn('ROOT go'))).toMatch(
    /^Root: Agent "BROKEN" failed: Execution failed: .*no more of this.* \| whole$/s,
  );
  const tasks = await tasksOf(session);
  expect(Object.entries(tasks).map(([name, { status }]) => `${name} ${status}`)).toEqual([
    'BROKEN failed',
    'WHOLE completed',
    'ORPHAN cancelled',
  ]);
  expect(await session.call('session.metadata.activity')).toMatchObject({ waitingOn: [] });
  expect(model.refusals).toEqual([]);
});

test('a call that a user rejects ends the agent, and its parent reads why', async () => {
  const { session, model } = await world({
    ROOT: beginAndReport(['WRITER']),
    WRITER: ({ results }) =>
      results.length === 0 ? call('bash', { command: 'touch x', description: 'x' }) : say('no'),
  });
  await session.send('ROOT go');
  const { data } = await session.next('permission.requested');
  await session.decide(data.requestId, { kind: 'reject' });
  expect(lastWord(await session.untilIdle())).toBe(
    'Root: (The user rejected what the agent was about to do, and it stopped there.)',
  );
  expect(model.refusals).toEqual([]);
});

describe('a cap', () => {
  test('of calls ends an agent with what it has, and says so', async () => {
    const { session, times, model } = await world(
      {
        ROOT: beginAndReport(['EAGER']),
        EAGER: ({ times: nth }) => ({
          chunks: [`Step ${nth}. `],
          calls: [{ id: `l${nth}`, name: 'list_agents', arguments: {} }],
        }),
      },
      { subagents: { limits: { maxCalls: 3 } } },
    );
    const events = await session.turn('ROOT go');
    expect(times.EAGER).toBe(3);
    expect(lastWord(events)).toBe(
      'Root: Step 3. \n\n(The agent was ended before it was done: The agent has spent 3 model calls.)',
    );
    expect((await tasksOf(session)).EAGER).toMatchObject({ status: 'completed' });
    expect(model.refusals).toEqual([]);
  });

  test('of tokens holds by the name of an agent; others have none', async () => {
    const { session } = await world(
      {
        ROOT: ({ results }) => (results.length === 0 ? begin(['MANY']) : say(`Root: ${results}`)),
        MANY: () => say('x'),
      },
      { subagents: { agents: { 'general-purpose': { limits: { maxTokens: 10 } } } } },
    );
    expect(lastWord(await session.turn('ROOT go'))).toBe(
      'Root: (The agent was ended before it was done: The agent has spent 10 tokens.)',
    );
  });

  test('of money whose price is not known fails the agent, and says what to do', async () => {
    const { session } = await world(
      { ROOT: beginAndReport(['DEAR']), DEAR: () => say('x') },
      { subagents: { limits: { maxCost: 1 } } },
    );
    expect(lastWord(await session.turn('ROOT go'))).toMatch(
      /^Root: Agent "DEAR" failed: The session has a limit on money, and what rules costs is not known/,
    );
  });

  test.each([
    ['file', 'poor', {}, 'The agent has spent $3.5'],
    [
      'settings, for one agent',
      'plain',
      { agents: { plain: { limits: { maxCost: 3.5 } } } },
      'The agent has spent $3.5',
    ],
    ['settings, for a tree', 'plain', { treeLimits: { maxCost: 3.5 } }, 'The tree of agents has spent $3.5'],
  ])('of money holds by %s, and the agent ends with what it has', async (_, agent_type, subagents, words) => {
    const home = temporaryDirectory();
    const prices = { rules: { input: 0, output: 200_000, cacheRead: 0, cacheWrite: 0 } };
    writeFileSync(join(home.path, 'config.json'), JSON.stringify({ prices }), { mode: 0o600 });
    const workingDirectory = join(home.path, 'project');
    mkdirSync(join(workingDirectory, '.groundcrew/agents'), { recursive: true });
    const file = (name: string) => join(workingDirectory, `.groundcrew/agents/${name}.agent.md`);
    writeFileSync(file('poor'), '---\ndescription: Has little\nmax-cost: 3.5\n---\nBe thrifty.');
    writeFileSync(file('plain'), '---\ndescription: Is plain\n---\nBe plain.');
    const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'], home: home.path }));
    const { model, times } = await agentModel({
      ROOT: beginAndReport(['SPENDER'], { agent_type }),
      SPENDER: ({ times: call }) => ({
        chunks: [`Note ${call}.`],
        calls: [{ id: `l${call}`, name: 'list_agents', arguments: {} }],
      }),
    });
    const session = await client.create({ ...model.settings, workingDirectory, subagents });
    const said = lastWord(await session.turn('ROOT go'));
    await client.call('session.destroy', { sessionId: session.sessionId });
    await model.close();
    home.remove();
    expect(said).toBe(`Root: Note ${times.SPENDER}.\n\n(The agent was ended before it was done: ${words}.)`);
    expect(times.SPENDER).toBeLessThan(10);
  });

  test('of time ends an agent that works, and all that it began', async () => {
    const never = () => new Promise<never>(() => undefined);
    const { session } = await world(
      {
        ROOT: beginAndReport(['SLEEPY']),
        SLEEPY: ({ results }) => (results.length === 0 ? begin(['CHILD'], { mode: 'background' }) : never()),
        CHILD: never,
      },
      { subagents: { agents: { 'general-purpose': { limits: { maxSeconds: 1 } } } } },
    );
    expect(lastWord(await session.turn('ROOT go'))).toMatch(
      /^Root: \(The agent was ended before it was done: The agent has worked for 1 seconds\.\)$/,
    );
    const tasks = await tasksOf(session);
    expect(tasks.CHILD?.status).not.toBe('running');
  });

  test('of time holds for a whole tree', async () => {
    const never = () => new Promise<never>(() => undefined);
    const { session } = await world(
      { ROOT: beginAndReport(['TOP']), TOP: beginAndReport(['LEAF']), LEAF: never },
      { subagents: { treeLimits: { maxSeconds: 1 } } },
    );
    expect(lastWord(await session.turn('ROOT go'))).toContain('The tree of agents has worked for 1 seconds');
  });

  test('of calls holds for a whole tree, however many of it work side by side', async () => {
    const leaves = ['LEAF1', 'LEAF2', 'LEAF3', 'LEAF4', 'LEAF5'];
    const leaf = ({ times: nth }: { readonly times: number }) => call('list_agents', {}, `l${nth}`);
    const { session, times, model } = await world(
      {
        ROOT: beginAndReport(['TOP']),
        TOP: ({ results }) => (results.length === 0 ? begin(leaves) : say(`Top: ${results.length}`)),
        ...Object.fromEntries(leaves.map((name) => [name, leaf])),
      },
      { subagents: { treeLimits: { maxCalls: 4 } } },
    );
    await session.turn('ROOT go');
    const all = ['TOP', ...leaves].reduce((sum, name) => sum + (times[name] ?? 0), 0);
    expect(all).toBe(4);
    expect(model.refusals).toEqual([]);
  });

  test('of an agent file holds, and a bad one is a warning with file and line', async () => {
    const workingDirectory = join(runtime.home.path, 'capped');
    mkdirSync(join(workingDirectory, '.github/agents'), { recursive: true });
    const write = (name: string, text: string) =>
      writeFileSync(join(workingDirectory, '.github/agents', `${name}.agent.md`), text);
    write('frugal', '---\ndescription: Takes little\nmax-calls: 1\n---\nBe frugal.');
    write('odd', '---\ndescription: x\nmax-calls: many\n---\nBe odd.');
    write('typo', '---\ndescription: x\nmax-call: 3\nmcpServers: {}\n---\nBe quick.');
    write('skilled', '---\ndescription: x\nskills: 5\n---\nBe skilled.');
    mkdirSync(join(workingDirectory, '.github/agents/folder.md'));
    writeFileSync(join(runtime.home.path, 'secret.md'), 'A secret');
    symlinkSync(join(runtime.home.path, 'secret.md'), join(workingDirectory, '.github/agents/leak.md'));
    const { session, times } = await world(
      {
        ROOT: beginAndReport(['EAGER'], { agent_type: 'frugal' }),
        EAGER: () => call('list_agents', {}, 'l'),
      },
      { workingDirectory, enableConfigDiscovery: true },
    );
    const events = await session.turn('ROOT go');
    expect(times.EAGER).toBe(1);
    expect(lastWord(events)).toContain('The agent has spent 1 model call');
    const warnings = session.events.filter(({ type }) => type === 'session.warning');
    const file = (name: string) => join(workingDirectory, `.github/agents/${name}.agent.md`);
    expect(warnings.map(({ data }) => (data as { message: string }).message)).toEqual([
      `${join(workingDirectory, '.github/agents/leak.md')}:1: the file is a link to a place outside of the project`,
      `${file('odd')}:3: max-calls must be a number, 0 or more`,
      `${file('skilled')}:3: skills must be a list of names`,
      `${file('typo')}:3: max-call has no effect here`,
      `${file('typo')}:4: mcpServers of agent files are not started: name them in mcp.json`,
    ]);
    const { agents } = await session.call<{ agents: readonly { name: string }[] }>('session.agent.list');
    expect(agents.map(({ name }) => name)).toEqual(['frugal', 'typo']);
  });

  test('that is no number is refused, and so is what is no setting', async () => {
    const { session } = await world({ ROOT: () => say('x') });
    const update = (subagents: object) =>
      session.failure('session.tools.updateSubagentSettings', { subagents }).then(({ message }) => message);
    expect(await update({ maxDepth: 'deep' })).toContain(
      'subagents.maxDepth must be a whole number, 0 or more',
    );
    expect(await update({ maxConcurrency: 0 })).toContain('subagents.maxConcurrency must be');
    expect(await update({ limits: { maxCalls: -1 } })).toContain(
      'subagents.limits.maxCalls must be a number',
    );
    expect(await update({ agents: [] })).toContain('subagents.agents must be');
    expect(await update({ agents: { task: { contextTier: 'long_context', modle: 'x' } } })).toBe(undefined);
    const { data } = await session.next('session.warning');
    expect(data.message).toBe(
      "The option 'subagents.agents.task.contextTier' has no effect: the model has the window that its service gives it.",
    );
    const other = await session.next('session.warning', (event) => event.data.message.includes('modle'));
    expect(other.data.message).toBe(
      "The option 'subagents.agents.task.modle' is not known, and has no effect. Did you mean 'model'?",
    );
  });
});

describe('bounds', () => {
  test('agents nest three deep, and no deeper', async () => {
    const { session, model, systems } = await world({
      ROOT: beginAndReport(['ONE']),
      ONE: beginAndReport(['TWO']),
      TWO: beginAndReport(['THREE']),
      THREE: beginAndReport(['FOUR']),
      FOUR: () => say('too deep'),
    });
    expect(lastWord(await session.turn('ROOT go'))).toMatch(/Tool 'task' does not exist/);
    expect(systems.FOUR).toBe(undefined);
    const tasks = await tasksOf(session);
    expect(Object.values(tasks).map(({ depth }) => depth)).toEqual([1, 2, 3]);
    expect(model.refusals).toEqual([]);
  });

  test('no more than a number of agents work at once; others wait, and are listed', async () => {
    const names = ['A1', 'A2', 'A3', 'A4', 'A5'];
    const doors = Object.fromEntries(names.map((name) => [name, gate()]));
    let working = 0;
    let most = 0;
    const work = (name: string) => async () => {
      working += 1;
      most = Math.max(most, working);
      await doors[name]?.opened;
      working -= 1;
      return say(name);
    };
    const { session, times } = await world(
      { ROOT: beginAndReport(names), ...Object.fromEntries(names.map((name) => [name, work(name)])) },
      { subagents: { maxConcurrency: 2 } },
    );
    await session.send('ROOT go');
    const waits = async () => {
      const { waitingOn } = await session.call<{ waitingOn: { kind: string; isQueued?: boolean }[] }>(
        'session.metadata.activity',
      );
      const agents = waitingOn.filter(({ kind }) => kind === 'agent');
      return agents.map(({ isQueued }) => (isQueued ? 'waits' : 'works')).sort();
    };
    await vi.waitFor(async () => {
      expect(await waits()).toEqual(['waits', 'waits', 'waits', 'works', 'works']);
      expect(Object.keys(times)).toEqual(['ROOT', 'A1', 'A2']);
    }, patience);
    doors.A1?.open();
    await vi.waitFor(() => expect(Object.keys(times)).toEqual(['ROOT', 'A1', 'A2', 'A3']), patience);
    // More places at once: those that waited come in.
    await session.call('session.tools.updateSubagentSettings', { subagents: { maxConcurrency: 8 } });
    await vi.waitFor(() => expect(Object.keys(times)).toHaveLength(6), patience);
    for (const name of names) doors[name]?.open();
    expect(lastWord(await session.untilIdle())).toBe('Root: A1 | A2 | A3 | A4 | A5');
    expect(most).toBeLessThanOrEqual(4);
  });

  test('with one place, agents that wait for their own do not keep it from them', async () => {
    const { session } = await world(
      {
        ROOT: ({ messages }) =>
          messages.length === 1 && messages.every((text) => !text.includes('system_notification'))
            ? begin(['P1', 'P2'], { mode: 'background' })
            : say('Root done'),
        P1: ({ results, messages }) => {
          if (results.length === 0) return begin(['K1', 'K2'], { mode: 'background' });
          return say(`P1 with ${messages.length}`);
        },
        P2: () => say('P2'),
        K1: () => say('K1'),
        K2: () => say('K2'),
      },
      { subagents: { maxConcurrency: 1 } },
    );
    await session.send('ROOT go');
    await session.next('session.idle');
    const tasks = await tasksOf(session);
    expect(Object.values(tasks).map(({ status }) => status)).toEqual(
      Array.from({ length: 4 }, () => 'completed'),
    );
  });

  test('settings of agents are kept: another process goes by them', async () => {
    const doomed = runtime.spawn({ flags: ['--stdio'] });
    const client = await runtime.connect(doomed);
    const { model, times } = await agentModel({
      ROOT: ({ results, messages }) =>
        results.length < messages.length ? begin(['EAGER']) : say(`Root: ${results.at(-1)}`),
      EAGER: ({ times: nth }) => call('list_agents', {}, `l${nth}`),
    });
    models.push(model);
    const before = await client.create({ ...model.settings });
    await before.call('session.tools.updateSubagentSettings', { subagents: { limits: { maxCalls: 2 } } });
    await doomed.signal('SIGKILL');
    const after = await runtime.client.resume(before.sessionId, { ...model.settings });
    await after.turn('ROOT go');
    expect(times.EAGER).toBe(2);
  });
});

test('agents that end and have the root agent begin others wake it a bounded number of times', async () => {
  const { session, times } = await world({
    ROOT: ({ results, messages }) =>
      results.length < messages.length
        ? begin(['ECHO'], { mode: 'background', name: `echo-${messages.length}` })
        : say('Waiting'),
    ECHO: () => say('Again'),
  });
  await session.turn('ROOT go');
  expect(times.ECHO).toBe(51);
  expect(session.events.filter(({ type }) => type === 'session.idle')).toHaveLength(1);
});

test('every event of every agent, streamed ones included, names the agent and the call that began it', async () => {
  const { session } = await world(
    {
      ROOT: beginAndReport(['TOP']),
      TOP: ({ results }) => (results.length === 0 ? begin(['LEAF']) : say('Top')),
      LEAF: ({ results }) => (results.length === 0 ? call('look') : say('Leaf')),
    },
    {
      streaming: true,
      requestPermission: true,
      tools: [{ name: 'look', description: 'Looks', parameters: { type: 'object' } }],
    },
  );
  await session.send('ROOT go');
  const asked = await session.next('permission.requested');
  await session.decide(asked.data.requestId, { kind: 'approve-once' });
  const { data } = await session.next('external_tool.requested');
  await session.answerTool(data.requestId, { result: 'seen' });
  await session.untilIdle();
  const ofAgents = session.events.filter(({ agentId }) => agentId !== undefined);
  const calls = new Map<string | undefined, Set<unknown>>();
  for (const { agentId, data: said } of ofAgents) {
    const { parentToolCallId } = said as { parentToolCallId?: string };
    calls.set(agentId, (calls.get(agentId) ?? new Set()).add(parentToolCallId));
  }
  expect([...calls.values()].map((each) => [...each])).toEqual([['task-TOP'], ['task-LEAF']]);
  const streamed = ofAgents.filter(({ type }) => type === 'assistant.message_delta');
  expect(new Set(streamed.map(({ agentId }) => agentId)).size).toBe(2);
  const [, leaf] = [...calls.keys()];
  expect(
    ofAgents.filter(({ type }) => type === 'permission.requested').map(({ agentId }) => agentId),
  ).toEqual([leaf]);
});
