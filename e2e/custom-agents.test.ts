import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
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

test('a file that describes no agent is a warning with file, line and reason, whatever is in it', async () => {
  const workingDirectory = join(runtime.home.path, 'odd-files');
  const directory = join(workingDirectory, '.groundcrew/agents');
  mkdirSync(join(directory, 'folder.agent.md'), { recursive: true });
  const description = 'description: x\n';
  const files: Readonly<Record<string, readonly [text: string | Buffer, line: number, reason: string]>> = {
    'binary.agent.md': [Buffer.from([0xff, 0xfe, 0, 1]), 1, 'the file is not a text file'],
    'empty.agent.md': ['', 1, 'the frontmatter that describes the agent is missing'],
    'flag.agent.md': [`---\n${description}infer: "no"\n---\nHm.`, 3, 'infer must be true or false'],
    'huge.agent.md': ['x'.repeat(300_000), 1, 'the file is longer than 262144 characters'],
    'infinite.agent.md': [
      `---\n${description}max-calls: .inf\n---\nHm.`,
      3,
      'max-calls must be a number, 0 or more',
    ],
    'list.agent.md': ['---\n- a\n---\nHm.', 2, 'the frontmatter is not a list of `name: value` lines'],
    'notes.md': ['# How agents are written here\n', 1, 'the frontmatter that describes the agent is missing'],
    'open.agent.md': [`---\n${description}Hm.`, 1, 'the line --- that ends the frontmatter is missing'],
    'silent.agent.md': [`---\n${description}---\n\n`, 1, 'the file has no prompt below its frontmatter'],
    'tab.agent.md': [`---\n${description}\ttools: view\n---\nHm.`, 3, 'Tabs are not allowed as indentation'],
    'twice.agent.md': [`---\n${description}${description}---\nHm.`, 3, 'Map keys must be unique'],
    'unnamed.agent.md': [
      `---\nname: __proto__\n---\nHm.`,
      2,
      'name must be up to 64 letters, digits, blanks, - _ or .',
    ],
  };
  for (const [name, [text]] of Object.entries(files)) writeFileSync(join(directory, name), text);
  writeFileSync(join(directory, 'undescribed.agent.md'), '---\nmodel: scripted\n---\nHm.');
  symlinkSync('/etc/hosts', join(directory, 'link.agent.md'));
  symlinkSync(join(directory, 'nowhere'), join(directory, 'dangling.agent.md'));
  const { session } = await runtime.session([say('hi')], { workingDirectory });
  const events = await session.turn('Hello');
  const messages = events.flatMap(({ type, data }) =>
    type === 'session.warning' ? [(data as { message: string }).message] : [],
  );
  const at = (name: string, line: number, reason: string) => `${join(directory, name)}:${line}: ${reason}`;
  expect(messages).toEqual([
    at('link.agent.md', 1, 'the file is a link to a place outside of the project'),
    ...Object.entries(files)
      .map(([name, [, line, reason]]) => at(name, line, reason))
      .slice(0, -1),
    at('undescribed.agent.md', 1, 'description is missing: other agents could not know when to ask this one'),
    ...Object.entries(files)
      .map(([name, [, line, reason]]) => at(name, line, reason))
      .slice(-1),
  ]);
  expect(await names(session)).toEqual(['undescribed']);
});

test('what an agent asks for and the session does not have is a warning: of clients at once, of files when it begins', async () => {
  const workingDirectory = join(runtime.home.path, 'hopeful');
  mkdirSync(join(workingDirectory, '.github/agents'), { recursive: true });
  writeFileSync(
    join(workingDirectory, '.github/agents/filed.agent.md'),
    '---\ndescription: Hopes\ntools: view, read, tracker/*, bash\nskills: other-skill\n---\nHope.',
  );
  const { session } = await runtime.session([say('one'), say('two'), say('three')], {
    workingDirectory,
    customAgents: [
      agent('hopeful', { tools: ['view', 'serch', 'tracker/*', '*', 'bash'], skills: ['no-such-skill'] }),
    ],
  });
  const warnings = () =>
    session.events.flatMap(({ type, data }) =>
      type === 'session.warning' ? [(data as { message: string }).message] : [],
    );
  await session.turn('Hello');
  const ofClient =
    'The option \'customAgents.tools\' has no effect for "serch": the session has no such tool.';
  expect(warnings()).toEqual([ofClient]);
  for (const name of ['hopeful', 'filed']) {
    await session.call('session.agent.select', { name });
    await session.turn(`Hello ${name}`);
  }
  expect(warnings()).toEqual([
    ofClient,
    'The agent hopeful names skills that the session does not have: no-such-skill.',
    'The agent filed names tools that the session does not have: read.',
    'The agent filed names skills that the session does not have: other-skill.',
  ]);
});
