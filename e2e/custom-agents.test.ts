import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime, providerOf, type ScriptedModel, say, type WireSession } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { testServer } from './mcp-world.js';

const runtime = liveRuntime({ flags: ['--port', '0'] });

const agent = (name: string, more: object = {}) => ({ name, prompt: `You are ${name}.`, ...more });

async function names(session: WireSession): Promise<readonly string[]> {
  const { agents } = await session.call<{ agents: readonly { name: string }[] }>('session.agent.list');
  return agents.map(({ name }) => name);
}

function request(model: ScriptedModel, index: number) {
  const { messages, tools = [], model: name } = model.requests[index]?.body ?? { messages: [] };
  return { system: String(messages[0]?.content), tools: tools.map((tool) => tool.function.name), name };
}

test('two clients have the union of their agents; one name for two different ones is an error', async () => {
  const model = runtime.script(say('hi'));
  const [one, two] = [await runtime.connect(), await runtime.connect()];
  const server = { srv: testServer() };
  const shared = agent('shared', { mcpServers: server });
  const ours = await one.create({ ...providerOf(model), customAgents: [agent('mine'), shared] });
  const { sessionId } = ours;
  const refused = async (other: object) =>
    (await two.failure('session.resume', { sessionId, ...providerOf(model), customAgents: [other] })).message;
  const clash = (name: string) =>
    `Request session.resume failed with message: Custom agent name clash: ${name} was described otherwise by another connection`;
  expect(await refused(agent('mine', { prompt: 'You are somebody else.' }))).toBe(clash('mine'));
  expect(await refused(agent('shared', { mcpServers: { srv: testServer({ tools: ['echo'] }) } }))).toBe(
    clash('shared'),
  );
  expect(await names(ours)).toEqual(['mine', 'shared']);
  const theirs = await two.resume(sessionId, {
    ...providerOf(model),
    customAgents: [agent('yours'), shared],
  });
  expect((await names(theirs)).toSorted()).toEqual(['mine', 'shared', 'yours']);
  expect((await names(ours)).toSorted()).toEqual(['mine', 'shared', 'yours']);
});

test('on resume agents that are left out stay, and those that are given replace those of before', async () => {
  const model = runtime.script(say('one'), say('two'));
  const first = runtime.spawn({ flags: ['--stdio'] });
  const client = await runtime.connect(first, { hasGaps: true });
  const before = await client.create({
    ...providerOf(model),
    customAgents: [agent('mine'), agent('other')],
    agent: 'mine',
  });
  await before.turn('Go');
  await first.signal('SIGKILL');
  const after = await runtime.client.resume(before.sessionId, providerOf(model));
  expect(await names(after)).toEqual(['mine', 'other']);
  expect(await after.call('session.agent.getCurrent')).toMatchObject({ agent: { name: 'mine' } });
  await after.turn('Go on');
  expect(request(model, 1).system).toContain('You are mine.');
  const again = await runtime.client.resume(before.sessionId, {
    ...providerOf(model),
    customAgents: [agent('other', { prompt: 'You are new.' })],
  });
  expect(await names(again)).toEqual(['other']);
});

test('an agent of a file leads from the start; one that is selected counts from the next message on', async () => {
  const workingDirectory = join(runtime.home.path, 'led');
  mkdirSync(join(workingDirectory, '.groundcrew/agents'), { recursive: true });
  writeFileSync(
    join(workingDirectory, '.groundcrew/agents/filed.agent.md'),
    '---\ndescription: Of a file\ntools: view\n---\nYou are of a file.\n',
  );
  const { session, model } = await runtime.session([say('1'), say('2'), say('3')], {
    workingDirectory,
    agent: 'filed',
    customAgents: [agent('hidden', { infer: false, tools: ['glob'] })],
  });
  await session.turn('One');
  await session.call('session.agent.select', { name: 'hidden' });
  await session.turn('Two');
  await session.call('session.agent.deselect');
  await session.turn('Three');
  expect(request(model, 0).system).toContain('You are of a file.');
  expect(request(model, 0).tools.toSorted()).toEqual(['sql', 'view']);
  expect(request(model, 1).system).toContain('You are hidden.');
  expect(request(model, 1).tools.toSorted()).toEqual(['glob', 'sql']);
  expect(request(model, 2).system).not.toContain('You are hidden.');
  const task = model.requests[2]?.body.tools?.find((tool) => tool.function.name === 'task');
  expect(JSON.stringify(task)).toContain('filed');
  expect(JSON.stringify(task)).not.toContain('hidden');
  const events = session.events.filter(({ type }) => /^subagent\.(de)?selected$/.test(type));
  expect(events.map(({ type }) => type)).toEqual([
    'subagent.selected',
    'subagent.selected',
    'subagent.deselected',
  ]);
});

test('tools that are hidden from the default agent are there for its sub-agents and for one that leads', async () => {
  const { session, model } = await runtime.session([say('1'), say('2')], {
    customAgents: [agent('digger')],
    defaultAgent: { excludedTools: ['glob'] },
    excludedBuiltinAgents: ['explore', 'task', 'general-purpose'],
  });
  await session.turn('One');
  await session.call('session.agent.select', { name: 'digger' });
  await session.turn('Two');
  expect(request(model, 0).tools).not.toContain('glob');
  expect(request(model, 1).tools).toContain('glob');
  const task = JSON.stringify(model.requests[0]?.body.tools?.find((tool) => tool.function.name === 'task'));
  expect(task).toContain('code-review');
  expect(task).not.toContain('explore');
});
