import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyEvent } from '@groundcrew/protocol';
import { openDatabase } from '@groundcrew/store-sqlite';
import { liveRuntime, type RuleModel } from '@groundcrew/testkit';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { agentModel, begin, beginAndReport, call, gate, lastWord, say, tasksOf } from './agent-world.js';
import { hooked, inputsOf } from './hooked.js';

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
const typesOf = (events: readonly AnyEvent[]) => events.map(({ type }) => type);

describe('session.tasks', () => {
  test('lists agents, says how they do, and forgets those that have ended', async () => {
    const door = gate();
    const { session } = await world({
      ROOT: beginAndReport(['WORKER']),
      WORKER: async ({ results }) => {
        if (results.length === 0) return { chunks: ['Looking. '], ...call('list_agents') };
        await door.opened;
        return say('Found');
      },
    });
    await session.send('ROOT go');
    await session.next('tool.execution_complete', ({ agentId }) => agentId !== undefined);
    const { WORKER } = await tasksOf(session);
    const id = WORKER?.id;
    expect(WORKER).toMatchObject({
      type: 'agent',
      toolCallId: 'task-WORKER',
      status: 'running',
      agentType: 'general-purpose',
      executionMode: 'sync',
      canPromoteToBackground: true,
      depth: 1,
      latestResponse: 'Looking. ',
    });
    const { progress } = await session.call<{ progress: { recentActivity: { message: string }[] } }>(
      'session.tasks.getProgress',
      { id },
    );
    expect(progress.recentActivity.map(({ message }) => message)).toEqual(['Looking. ', 'list_agents']);
    expect(await session.call('session.tasks.getProgress', { id: 'nope' })).toEqual({ progress: null });
    expect(await session.call('session.tasks.remove', { id })).toEqual({ removed: false });
    expect(await session.call('session.tasks.getCurrentPromotable')).toMatchObject({ task: { id } });
    door.open();
    expect(lastWord(await session.untilIdle())).toBe('Root: Found');
    expect((await tasksOf(session)).WORKER).toMatchObject({ status: 'completed', result: 'Found', turns: 1 });
    expect(await session.call('session.tasks.getCurrentPromotable')).toEqual({});
    expect(await session.call('session.tasks.remove', { id })).toEqual({ removed: true });
    expect(await tasksOf(session)).toEqual({});
    expect(await session.call('session.tasks.remove', { id })).toEqual({ removed: false });
    expect(await session.call('session.tasks.sendMessage', { id, message: 'x' })).toMatchObject({
      sent: false,
    });
    expect(await session.call('session.tasks.cancel', { id })).toEqual({ cancelled: false });
  });

  test('an agent that its parent waits for is sent to the background; headers of the prompt stay behind', async () => {
    const door = gate();
    const asked = gate();
    const { session, headers } = await world({
      ROOT: ({ results, messages }) => {
        if (results.length === 0) return begin(['WORKER']);
        return messages.length === 1 ? say('Waiting') : say('Root has read');
      },
      WORKER: async ({ results }) => {
        asked.open();
        await door.opened;
        return results.length === 0 ? call('list_agents') : say('Found');
      },
    });
    await session.send('ROOT go', { requestHeaders: { 'x-turn': 'secret' } });
    await asked.opened;
    const { task } = await session.call<{ task: { id: string } }>('session.tasks.promoteCurrentToBackground');
    const { WORKER } = await tasksOf(session);
    expect(WORKER).toMatchObject({ id: task.id, executionMode: 'background', status: 'running' });
    expect(await session.call('session.tasks.promoteToBackground', { id: task.id })).toEqual({
      promoted: false,
    });
    await session.next('assistant.message', ({ data }) => data.content === 'Waiting');
    door.open();
    expect(lastWord(await session.untilIdle())).toBe('Root has read');
    expect(headers.WORKER?.map((sent) => sent['x-turn'])).toEqual(['secret', undefined]);
    expect(headers.ROOT?.map((sent) => sent['x-turn'])).toEqual(['secret', 'secret', undefined]);
  });

  test('an agent that a client began works without the root agent, which reads of its end', async () => {
    const { session } = await world({ ROOT: () => say('I see'), HELPER: () => say('Helped') });
    const { agentId } = await session.call<{ agentId: string }>('session.tasks.startAgent', {
      agentType: 'explore',
      prompt: 'HELPER please',
      name: 'one',
    });
    await session.call('session.tasks.waitForPending');
    const events = await session.untilIdle();
    expect(events.find(({ type }) => type === 'system.notification')?.data).toMatchObject({
      kind: { type: 'agent_completed', agentId, agentType: 'explore', status: 'completed' },
    });
    expect(lastWord(session.events)).toBe('I see');
    expect(
      await session.failure('session.tasks.startAgent', { agentType: 'none', prompt: 'x', name: 'x' }),
    ).toMatchObject({ message: expect.stringContaining("Custom agent 'none' not found") });
  });

  test('a message has an agent work again, in the conversation it had', async () => {
    const { session, model } = await world({
      ROOT: ({ messages }) => say(`Root ${messages.length}`),
      HELPER: ({ messages }) => say(`Answer ${messages.length}`),
    });
    const { agentId: id } = await session.call<{ agentId: string }>('session.tasks.startAgent', {
      agentType: 'explore',
      prompt: 'HELPER please',
      name: 'HELPER',
    });
    await session.next('session.idle');
    for (const nth of [2, 3]) {
      expect(await session.call('session.tasks.sendMessage', { id, message: `more ${nth}` })).toEqual({
        sent: true,
      });
      await session.next('session.idle');
      expect((await tasksOf(session)).HELPER).toMatchObject({ result: `Answer ${nth}`, turns: nth });
    }
    // Many at once: none is lost, each is answered once.
    const many = Array.from({ length: 20 }, (_, index) => `burst ${index}`);
    await Promise.all(many.map((message) => session.call('session.tasks.sendMessage', { id, message })));
    await vi.waitFor(async () => {
      const { HELPER } = await tasksOf(session);
      expect(HELPER).toMatchObject({ status: 'completed', turns: 23 });
    }, patience);
    const prompts = session.events.filter(({ type, agentId }) => type === 'user.message' && agentId === id);
    const texts = prompts.map(({ data }) => (data as { content: string }).content);
    expect(texts.slice(3)).toEqual(many);
    expect(model.refusals).toEqual([]);
  });

  test('a fleet is a prompt that has the root agent begin agents of its own', async () => {
    const { session } = await world({
      ROOT: ({ messages }) => say(messages[0]?.includes('fleet') ? 'Fleet' : 'no'),
    });
    expect(await session.call('session.fleet.start', { prompt: 'ROOT build it' })).toEqual({ started: true });
    expect(lastWord(await session.untilIdle())).toBe('Fleet');
  });
});

describe('tools of agents', () => {
  const agentIdIn = (results: readonly string[]) => /agent_id: ([\w-]+)/.exec(results[0] ?? '')?.[1] ?? '';

  test('read, write, list and stop do what they say', async () => {
    const { session, model } = await world({
      ROOT: ({ results }) => {
        const id = agentIdIn(results);
        const steps = [
          begin(['HELPER'], { mode: 'background' }),
          call('read_agent', { agent_id: id, wait: true }, 'r1'),
          call('write_agent', { agent_id: id, message: 'go on' }, 'w1'),
          call('read_agent', { agent_id: id, wait: true, since_turn: 1 }, 'r2'),
          call('list_agents', {}, 'l1'),
          call('stop_agent', { agent_id: id }, 's1'),
          call('read_agent', { agent_id: 'nope' }, 'r3'),
          call('write_agent', { agent_id: 'nope', message: 'x' }, 'w2'),
          call('write_agent', { message: 'x' }, 'w3'),
          call('stop_agent', { agent_id: 'nope' }, 's2'),
        ];
        return steps[results.length] ?? say(results.slice(1).join('\n---\n'));
      },
      HELPER: ({ messages }) => say(`Answer ${messages.length}`),
    });
    const said = lastWord(await session.turn('ROOT go'));
    const { HELPER } = await tasksOf(session);
    const id = HELPER?.id;
    const facts = `agent_id: ${id}, agent_type: general-purpose, status: completed, description: The task of HELPER, elapsed: 0s`;
    const unknown = 'No agent found with agent_id: nope. The agent may have been cleared or never existed.';
    // A busy machine takes longer than the second that would be counted.
    const quick = said.replaceAll(/(elapsed: |completed, )\d+s/g, (_, before: string) => `${before}0s`);
    expect(quick.split('\n---\n')).toEqual([
      `Agent completed. ${facts}, total_turns: 1\n\n[Turn 0]\nAnswer 1`,
      `Message sent to ${id}.`,
      `Agent completed. ${facts}, total_turns: 2\n\n[Turn 1]\nAnswer 2`,
      `Background agents:\n\n  HELPER (${id}): general-purpose - "The task of HELPER" (completed, 0s)`,
      `Agent ${id} had ended.`,
      unknown,
      unknown,
      'Name an agent by agent_id.',
      unknown,
    ]);
    expect(model.refusals).toEqual([]);
  });

  test('read_agent without waiting reports one at work, and stop_agent ends it', async () => {
    const asked = gate();
    const { session } = await world({
      ROOT: async ({ results }) => {
        const id = agentIdIn(results);
        if (results.length === 1) await asked.opened;
        const steps = [
          begin(['SLOW'], { mode: 'background' }),
          call('read_agent', { agent_id: id }, 'r1'),
          call('read_agent', { agent_id: id, wait: true, timeout: 0 }, 'r2'),
          call('stop_agent', { agent_id: id }, 's1'),
          call('write_agent', { agent_id: id, message: 'x' }, 'w1'),
        ];
        return steps[results.length] ?? say(results.slice(1).join('\n---\n'));
      },
      SLOW: () => {
        asked.open();
        return new Promise<never>(() => undefined);
      },
    });
    const said = lastWord(await session.turn('ROOT go')).split('\n---\n');
    const { SLOW } = await tasksOf(session);
    expect(said).toEqual([
      expect.stringMatching(/^Agent is still running\. .* status: running, .* total_turns: 0$/),
      expect.stringMatching(/^Agent is still running\./),
      `Agent ${SLOW?.id} was stopped.`,
      `Agent ${SLOW?.id} was stopped and takes no messages.`,
    ]);
    expect(SLOW?.status).toBe('cancelled');
  });

  test('an agent leads what it began, and what that began: of others it learns nothing', async () => {
    const never = () => new Promise<never>(() => undefined);
    const begun = gate();
    const ids = { other: '', below: '', inner: '' };
    const { session } = await world({
      ROOT: async ({ results }) => {
        ids.other ||= agentIdIn(results);
        if (results.length === 1) await begun.opened;
        const steps = [
          begin(['OTHER'], { mode: 'background' }),
          begin(['MIDDLE']),
          call('read_agent', { agent_id: ids.below }, 'r1'),
          call('stop_agent', { agent_id: ids.below }, 's1'),
          call('stop_agent', { agent_id: ids.other }, 's2'),
        ];
        return steps[results.length] ?? say(results.slice(1).join('\n---\n'));
      },
      OTHER: ({ results }) => {
        if (results.length === 0) return begin(['BELOW'], { mode: 'background' });
        ids.below = agentIdIn(results);
        begun.open();
        return never();
      },
      BELOW: never,
      MIDDLE: async ({ results }) => {
        ids.inner ||= agentIdIn(results);
        const steps = [
          begin(['INNER'], { mode: 'background' }),
          call('list_agents', {}, 'l1'),
          ...[ids.other, ids.below, (await tasksOf(session)).MIDDLE?.id].flatMap((id, index) => [
            call('read_agent', { agent_id: id }, `r${index}`),
            call('write_agent', { agent_ids: [ids.inner, id], message: 'Do this for me.' }, `w${index}`),
            call('stop_agent', { agent_id: id }, `s${index}`),
          ]),
          call('stop_agent', { agent_id: ids.inner }, 's9'),
        ];
        return steps[results.length] ?? say(results.slice(1).join('\n---\n'));
      },
      INNER: never,
    });
    const said = lastWord(await session.turn('ROOT go')).split('\n---\n');
    const tasks = await tasksOf(session);
    const unknown = (id?: string) =>
      `No agent found with agent_id: ${id}. The agent may have been cleared or never existed.`;
    expect(said).toEqual([
      expect.stringMatching(new RegExp(`^Background agents:\n\n  INNER \\(${ids.inner}\\): [^\n]*$`)),
      ...[ids.other, ids.below, tasks.MIDDLE?.id].flatMap((id) => [unknown(id), unknown(id), unknown(id)]),
      `Agent ${ids.inner} was stopped.`,
      expect.stringMatching(/^Agent is still running/),
      `Agent ${ids.below} was stopped.`,
      `Agent ${ids.other} was stopped.`,
    ]);
    // What was refused for one of several was sent to none.
    expect(tasks.INNER?.status).toBe('cancelled');
    expect(
      session.events.filter(
        ({ type, data }) => type === 'user.message' && JSON.stringify(data).includes('Do this'),
      ),
    ).toEqual([]);
  });

  test('a service that gives every call the same id begins an agent for each', async () => {
    const { session, times } = await world({
      ROOT: ({ messages, results }) => {
        const begun = { calls: begin(['HELPER']).calls?.map((each) => ({ ...each, id: 'call_0' })) ?? [] };
        return results.length < messages.length ? begun : say(`Root: ${results.at(-1)}`);
      },
      HELPER: ({ times: nth }) => say(`Answer ${nth}`),
    });
    expect(lastWord(await session.turn('ROOT one'))).toBe('Root: Answer 1');
    expect(lastWord(await session.turn('two'))).toBe('Root: Answer 2');
    expect(times.HELPER).toBe(2);
  });
});

describe('agents in the background', () => {
  test('the session is idle once, after all of them, with nothing new in its data; activity lists them', async () => {
    const doors = { B1: gate(), B2: gate() };
    const { session } = await world({
      ROOT: ({ results, messages }) =>
        results.length === 0 ? begin(['B1', 'B2'], { mode: 'background' }) : say(`Root ${messages.length}`),
      B1: () => doors.B1.opened.then(() => say('one')),
      B2: () => doors.B2.opened.then(() => say('two')),
    });
    await session.send('ROOT go');
    await session.next('assistant.idle');
    const { waitingOn } = await session.call<{ waitingOn: { kind: string; agentName?: string }[] }>(
      'session.metadata.activity',
    );
    expect(waitingOn.filter(({ kind }) => kind === 'agent')).toHaveLength(2);
    expect(typesOf(session.events)).not.toContain('session.idle');
    doors.B1.open();
    await session.next('system.notification');
    await session.next(
      'assistant.message',
      ({ agentId, data }) => agentId === undefined && data.content === 'Root 2',
    );
    doors.B2.open();
    await session.next('session.idle');
    const idles = session.events.filter(({ type }) => type === 'session.idle');
    expect(idles.map(({ data }) => data)).toEqual([{}]);
    expect(lastWord(session.events)).toBe('Root 3');
  });

  test('a prompt that comes meanwhile is answered at once, and the end of an agent stands between calls', async () => {
    const door = gate();
    const { session, model } = await world({
      ROOT: ({ results, messages }) => {
        const last = messages.at(-1) ?? '';
        if (results.length === 0) return begin(['B1'], { mode: 'background' });
        return say(last.includes('system_notification') ? 'Read' : `To ${messages.length}`);
      },
      B1: () => door.opened.then(() => say('one')),
    });
    await session.send('ROOT go');
    await session.next('assistant.idle');
    await session.send('Meanwhile');
    await session.next('assistant.message', ({ data }) => data.content === 'To 2');
    door.open();
    await session.next('session.idle');
    expect(lastWord(session.events)).toBe('Read');
    expect(model.refusals).toEqual([]);
  });
});

test('hooks receive the agent, where it began and how it ended, with a transcript that can be read', async () => {
  const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }));
  const invoked = hooked(client);
  const { model } = await agentModel({
    ROOT: beginAndReport(['ONE', 'TWO']),
    ONE: () => say('one'),
    TWO: () => say('two'),
  });
  models.push(model);
  const session = await client.create({ ...model.settings, hooks: true });
  await session.turn('ROOT go');
  const starts = inputsOf(invoked, 'subagentStart');
  const stops = inputsOf(invoked, 'subagentStop');
  expect(starts).toHaveLength(2);
  expect(
    stops.map(({ agentName, stopReason, response }) => [agentName, stopReason, response]).sort(),
  ).toEqual([
    ['general-purpose', 'completed', 'one'],
    ['general-purpose', 'completed', 'two'],
  ]);
  for (const { transcriptPath, agentId, sessionId } of [...starts, ...stops]) {
    expect(transcriptPath).toMatch(/transcript\.jsonl$/);
    expect(sessionId).toBe(agentId);
  }
  const lines = readFileSync(stops[1].transcriptPath, 'utf8').trim().split('\n');
  const events = lines.map((line) => JSON.parse(line) as AnyEvent);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  expect(typesOf(events)).toContain('subagent.completed');
});

test('a session does not grow with the agents that ever worked in it: old ones are forgotten, and say so', async () => {
  const many = 40;
  const { session, model } = await world(
    {
      ROOT: ({ results, messages }) => {
        const wanted = Number(/go (\d+)/.exec(messages.at(-1) ?? '')?.[1] ?? 0);
        if (results.length < wanted) return begin([`WORKER-${wanted}`]);
        return say('Done');
      },
      WORKER: ({ results }) => (results.length === 0 ? call('look') : say('Looked')),
    },
    {
      tools: [{ name: 'look', description: 'Looks', parameters: { type: 'object' }, skipPermission: true }],
      largeOutput: { enabled: false },
      infiniteSessions: { enabled: false },
    },
  );
  for (let number = 1; number <= many; number += 1) {
    await session.send(`ROOT go ${number}`);
    const { data } = await session.next('external_tool.requested');
    await session.answerTool(data.requestId, { result: `page ${'dolor '.repeat(25_000)}` });
    await session.untilIdle();
  }
  const [oldest, newest] = [1, many].map((number) => `WORKER-${number}`);
  const tasks = await tasksOf(session);
  expect(Object.keys(tasks)).toHaveLength(many);
  expect(tasks[oldest ?? '']).toMatchObject({ status: 'completed', result: 'Looked', turns: 1 });
  const { sessionId } = session;
  await session.call('session.destroy');
  const sizes = await snapshotSizes(sessionId);
  expect(sizes.length).toBeGreaterThan(2);
  expect(Math.max(...sizes)).toBeLessThan(3_000_000);
  const again = await runtime.client.resume(sessionId, model.settings);
  const send = (id: string | undefined) => again.call('session.tasks.sendMessage', { id, message: 'More' });
  expect(await send(tasks[oldest ?? '']?.id)).toMatchObject({ sent: false });
  expect(await send(tasks[newest ?? '']?.id)).toEqual({ sent: true });
  await again.untilIdle();
  expect((await tasksOf(again))[newest ?? '']).toMatchObject({ turns: 2 });
}, 60_000);

test('an agent that began first and ends last is not one that ended long ago, nor after kill -9', async () => {
  const door = gate();
  const made = await agentModel({
    ROOT: ({ results }) => {
      if (results.length === 0) return begin(['LONG'], { mode: 'background' });
      if (results.length === 1) return begin(Array.from({ length: 13 }, (_, index) => `WORKER-A${index}`));
      if (results.length === 14) return begin(Array.from({ length: 13 }, (_, index) => `WORKER-B${index}`));
      return say('Done');
    },
    LONG: ({ messages, times }) =>
      times === 1 ? door.opened.then(() => say('The secret word is plum')) : say(`Of ${messages.length}`),
    WORKER: () => say('Worked'),
  });
  models.push(made.model);
  const process = runtime.spawn({ flags: ['--stdio'] });
  const session = await (await runtime.connect(process)).create(made.model.settings);
  await session.send('ROOT go');
  await session.next(
    'assistant.message',
    ({ data, agentId }) => agentId === undefined && data.content === 'Done',
  );
  door.open();
  await session.next('session.idle');
  const { LONG } = await tasksOf(session);
  await process.signal('SIGKILL');
  const again = await runtime.client.resume(session.sessionId, made.model.settings);
  const sent = await again.call('session.tasks.sendMessage', { id: LONG?.id, message: 'More' });
  expect(sent).toEqual({ sent: true });
  await again.untilIdle();
  expect((await tasksOf(again)).LONG).toMatchObject({ turns: 2, latestResponse: 'Of 2' });
});

/** Of the session's snapshots, as they are stored. */
async function snapshotSizes(sessionId: string): Promise<readonly number[]> {
  const database = openDatabase(join(runtime.home.path, 'groundcrew.db'));
  const rows = database
    .prepare(
      `SELECT coalesce(octet_length(r.json), octet_length(b.json)) AS size FROM record r
         JOIN session s ON s.number = r.session
         LEFT JOIN blob b ON b.session = r.session AND b.hash = r.blob_hash
       WHERE s.id = '${sessionId}' AND r.type = 'snapshot'`,
    )
    .all() as unknown as readonly { readonly size: number }[];
  database.close();
  return rows.map(({ size }) => size);
}
