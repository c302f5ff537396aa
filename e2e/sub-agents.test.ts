import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyEvent } from '@groundcrew/protocol';
import { type CompletionMessage, liveRuntime, RuleModel, story } from '@groundcrew/testkit';
import { afterAll, expect, test } from 'vitest';

const runtime = liveRuntime();
const models: RuleModel[] = [];
afterAll(() => Promise.all(models.map((model) => model.close())));

/** A model that answers each agent by what it was asked first, and by how many results it has had. */
async function byPrompt(
  rule: (prompt: string, results: readonly string[], all: readonly CompletionMessage[]) => object,
) {
  const model = await RuleModel.open((messages) => {
    const users = messages
      .filter(({ role }) => role === 'user')
      .map(({ content }) => JSON.stringify(content));
    const results = messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []));
    return rule(users[0] ?? '', results, messages) as ReturnType<Parameters<typeof RuleModel.open>[0]>;
  });
  models.push(model);
  return model;
}

const task = (args: object, id = 'c1') => ({
  id,
  name: 'task',
  arguments: { name: 'helper', agent_type: 'explore', description: 'Looks', prompt: 'SUB do it', ...args },
});
const of = (events: readonly AnyEvent[], agentId: string | undefined) =>
  story(events.filter((event) => event.agentId === agentId));

test('a sync agent works in a conversation of its own, and its last message is the result', async () => {
  const model = await byPrompt((prompt, results) => {
    if (prompt.includes('SUB'))
      return results.length === 0
        ? {
            calls: [{ id: 's1', name: 'view', arguments: { path: join(runtime.workingDirectory, 'a.txt') } }],
          }
        : { chunks: ['It says hello'] };
    return results.length === 0 ? { calls: [task({ mode: 'sync' })] } : { chunks: ['Done'] };
  });
  writeFileSync(join(runtime.workingDirectory, 'a.txt'), 'hello');
  const session = await runtime.client.create({ ...model.settings, requestPermission: true });
  await session.send('ROOT go');
  const { data } = await session.next('permission.requested').catch(() => ({ data: { requestId: '' } }));
  if (data.requestId) await session.decide(data.requestId, { kind: 'approve-once' });
  await session.next('session.idle');
  const started = session.events.find(({ type }) => type === 'subagent.started');
  expect(started?.data).toMatchObject({
    toolCallId: 'c1',
    agentName: 'explore',
    agentDisplayName: 'Explore',
  });
  const agentId = started?.agentId;
  expect(of(session.events, undefined).filter((line) => !line.includes('permission'))).toEqual([
    'session.start',
    'user.message "ROOT go" idle 0',
    'assistant.turn_start 0',
    'assistant.message "" task#c1',
    'tool.execution_start task#c1',
    'session.background_tasks_changed~',
    'session.background_tasks_changed~',
    'tool.execution_complete c1 ok "It says hello"',
    'assistant.turn_end 0',
    'assistant.turn_start 1',
    'assistant.message "Done"',
    'assistant.turn_end 1',
    'session.idle~',
  ]);
  expect(of(session.events, agentId).filter((line) => !line.includes('permission'))).toEqual([
    'subagent.started',
    'user.message "SUB do it" idle 0',
    'assistant.turn_start 0',
    'assistant.message "" view#s1',
    'tool.execution_start view#s1',
    expect.stringMatching(/^tool.execution_complete s1 ok/),
    'assistant.turn_end 0',
    'assistant.turn_start 1',
    'assistant.message "It says hello"',
    'assistant.turn_end 1',
    'subagent.completed',
  ]);
  const own = session.events.filter((event) => event.agentId === agentId);
  expect(
    own.filter(({ data: each }) => (each as { parentToolCallId?: string }).parentToolCallId !== 'c1'),
  ).toEqual([]);
  expect(model.refusals).toEqual([]);
});

test('a background agent is reported when it ends, and the session is idle after that', async () => {
  const model = await byPrompt((prompt, results, all) => {
    if (prompt.includes('SUB')) return { chunks: ['Found it'] };
    if (results.length === 0) return { calls: [task({})] };
    const isReported = all.some(
      ({ role, content }) => role === 'user' && JSON.stringify(content).includes('<system_notification>'),
    );
    if (!isReported) return { chunks: ['Waiting'] };
    const agentId = /agent_id: ([\w-]+)/.exec(results[0] ?? '')?.[1];
    return results.length === 1
      ? { calls: [{ id: 'c2', name: 'read_agent', arguments: { agent_id: agentId } }] }
      : { chunks: [`Read: ${results[1]?.split('\n\n')[1]}`] };
  });
  const session = await runtime.client.create({ ...model.settings });
  await session.turn('ROOT go');
  const lines = of(session.events, undefined);
  expect(lines.filter((line) => line.startsWith('session.idle'))).toHaveLength(1);
  expect(lines).toContain('system.notification');
  expect(lines.at(-2)).toMatch(/^assistant.turn_end /);
  expect(lines.at(-3)).toBe('assistant.message "Read: [Turn 0]\\nFound it"');
  expect(model.refusals).toEqual([]);
});

test('what agents stream goes to clients that want it; what comes of it goes to all', async () => {
  const model = await byPrompt((prompt, results) => {
    if (prompt.includes('SUB')) return { chunks: ['Piece ', 'by piece'], reasoning: ['Hm'] };
    return results.length === 0 ? { calls: [task({ mode: 'sync' })] } : { chunks: ['Root ', 'too'] };
  });
  const other = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }));
  const settings = { ...model.settings, streaming: true };
  const whole = await runtime.client.create(settings);
  await whole.turn('ROOT go');
  const reduced = await other.create({ ...settings, includeSubAgentStreamingEvents: false });
  await reduced.turn('ROOT go');
  const streamed = (events: readonly AnyEvent[], isOfAgent: boolean) =>
    events.filter(
      ({ type, agentId }) => /delta|message_start/.test(type) && (agentId !== undefined) === isOfAgent,
    );
  expect(streamed(whole.events, true).length).toBeGreaterThan(2);
  for (const event of streamed(whole.events, true))
    expect(event.data).toMatchObject({ parentToolCallId: 'c1' });
  expect(streamed(reduced.events, true)).toEqual([]);
  expect(streamed(reduced.events, false).length).toBeGreaterThan(1);
  const said = reduced.events.filter(
    ({ type, agentId }) => type === 'assistant.message' && agentId !== undefined,
  );
  expect(said.map(({ data }) => (data as { content: string }).content)).toEqual(['Piece by piece']);
});
