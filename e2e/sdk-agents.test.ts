import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, defineAgent, RuntimeConnection, type SessionEvent } from '@groundcrew/sdk';
import { type RuleModel, temporaryDirectory } from '@groundcrew/testkit';
import { afterAll, expect, test } from 'vitest';
import { agentModel, begin, call, gate, say } from './agent-world.js';
import { runtimePath } from './sdk-world.js';

const home = temporaryDirectory();
const models: RuleModel[] = [];
const work = join(home.path, 'work');
mkdirSync(work, { recursive: true });
const connection = RuntimeConnection.forStdio({ path: runtimePath });
const client = new Client({ connection, workingDirectory: work, baseDirectory: home.path });
afterAll(async () => {
  await client.stop();
  await Promise.all(models.map((model) => model.close()));
  home.remove();
});

async function modelOf(rules: Parameters<typeof agentModel>[0]) {
  const made = await agentModel(rules);
  models.push(made.model);
  return made;
}

test('an agent that cannot be one is refused before any runtime sees it', () => {
  expect(defineAgent('reviewer', { prompt: 'Review.' })).toEqual({ name: 'reviewer', prompt: 'Review.' });
  expect(() => defineAgent('', { prompt: 'x' })).toThrow('An agent cannot be named ""');
  expect(() => defineAgent('../etc', { prompt: 'x' })).toThrow('An agent cannot be named');
  expect(() => defineAgent('a', { prompt: ' ' })).toThrow('The agent a has no prompt');
});

test('agents are listed, selected and deselected', async () => {
  const { model, systems } = await modelOf({ ROOT: () => say('ok') });
  const reviewer = defineAgent('reviewer', { prompt: 'Review as a pirate.', description: 'Reviews' });
  await using session = await client.createSession({ ...model.settings, customAgents: [reviewer] });
  expect((await session.agents.list()).map(({ name }) => name)).toEqual(['reviewer']);
  expect((await session.agents.list({ includeBuiltIn: true })).map(({ name }) => name)).toEqual([
    'reviewer',
    'explore',
    'task',
    'general-purpose',
    'code-review',
  ]);
  expect(await session.agents.current()).toBe(undefined);
  expect(await session.agents.select('reviewer')).toMatchObject({ name: 'reviewer', description: 'Reviews' });
  expect(await session.agents.current()).toMatchObject({ name: 'reviewer' });
  await session.sendAndWait('ROOT go');
  expect(systems.ROOT).toContain('Review as a pirate.');
  await session.agents.deselect();
  expect(await session.agents.current()).toBe(undefined);
  await expect(session.agents.select('nobody')).rejects.toThrow("Custom agent 'nobody' not found");
  expect(await session.agents.reload()).toHaveLength(1);
});

test('the events of one agent are its own, from the first to its end, whenever one begins to read', async () => {
  const door = gate();
  const { model } = await modelOf({
    ROOT: () => say('root'),
    OUTER: async ({ results }) => {
      if (results.length === 0) return begin(['INNER']);
      await door.opened;
      return say('outer');
    },
    INNER: ({ results }) => (results.length === 0 ? call('list_agents') : say('inner')),
  });
  await using session = await client.createSession({ ...model.settings });
  const id = await session.tasks.start({ agentType: 'general-purpose', name: 'one', prompt: 'OUTER' });
  const early = collect(session.tasks.events(id));
  await new Promise<void>((resolve) => {
    session.on('tool.execution_complete', ({ agentId }) => agentId === id && resolve());
  });
  const [task] = await session.tasks.list();
  expect(task).toMatchObject({ id, status: 'running', displayName: 'one' });
  expect(await session.tasks.progress(id)).toEqual(['task']);
  const middle = collect(session.tasks.events(id));
  door.open();
  const read = await Promise.all([early, middle]);
  await session.tasks.settled();
  const late = await collect(session.tasks.events(id));
  const durable = (events: readonly SessionEvent[]) =>
    events.filter(({ ephemeral }) => !ephemeral).map((event) => event.id);
  for (const events of read) expect(durable(events)).toEqual(durable(late));
  expect([late[0]?.type, late.at(-1)?.type]).toEqual(['subagent.started', 'subagent.completed']);
  expect(new Set(late.map(({ agentId }) => agentId))).toEqual(new Set([id]));
  expect(await session.tasks.send(id, 'more')).toBe(true);
  await session.tasks.settled();
  expect((await session.tasks.get(id))?.turns).toBe(2);
  expect(await session.tasks.cancel(id)).toBe(false);
  expect(await session.tasks.promote(id)).toBe(false);
  expect(await session.tasks.remove(id)).toBe(true);
  expect(await session.tasks.get(id)).toBe(undefined);
  expect(await collect(session.tasks.events('nobody'))).toEqual([]);
});

test('a name that no option of agents has is warned about', async () => {
  const warnings: string[] = [];
  const strict = new Client({
    connection,
    workingDirectory: work,
    baseDirectory: home.path,
    onWarning: (message) => void warnings.push(message),
  });
  const { model } = await modelOf({ ROOT: () => say('x') });
  const subagents = { maxConcurency: 3 } as object;
  await strict.createSession({ ...model.settings, subagents }).catch(() => undefined);
  await strict.stop();
  expect(warnings.join('\n')).toContain('maxConcurrency');
});

test('the program lists and shows agents, and says what is wrong with files', async () => {
  const project = join(home.path, 'project');
  mkdirSync(join(project, '.github/agents'), { recursive: true });
  const file = (name: string) => join(project, '.github/agents', name);
  writeFileSync(
    file('tidy.agent.md'),
    '---\ndescription: Tidies up\ntools: view, edit\nmax-calls: 5\n---\nBe tidy.\n',
  );
  const environment = { PATH: process.env.PATH, HOME: home.path, GROUNDCREW_HOME: home.path };
  const run = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, [runtimePath, 'agents', ...args, '--cwd', project], {
      env: environment,
    }).then(
      ({ stdout }) => ({ stdout, stderr: '', code: 0 }),
      (error: { stdout: string; stderr: string; code: number }) => error,
    );
  const { stdout } = await run('ls');
  expect(stdout.split('\n').map((line) => line.split(/\s+/)[0])).toEqual([
    'tidy',
    'explore',
    'task',
    'general-purpose',
    'code-review',
    '',
  ]);
  expect((await run('show', 'tidy')).stdout).toBe(
    `tidy: Tidies up\n${file('tidy.agent.md')} (project)\ntools: view, edit\nlimits: {"maxCalls":5}\n\nBe tidy.\n`,
  );
  writeFileSync(file('bad.agent.md'), '---\ndescription: x\ninfer: perhaps\n---\nHm.\n');
  const { code, stderr } = await run('ls');
  expect([code, stderr]).toEqual([1, `${file('bad.agent.md')}:3: infer must be true or false\n`]);
  expect((await run('show', 'nobody')).code).toBe(1);
});

test('the program has what a session has that works below the root of a repository', async () => {
  const project = join(home.path, 'repository');
  const below = join(project, 'packages/one');
  const put = (path: string, text: string) => {
    mkdirSync(join(project, path, '..'), { recursive: true });
    writeFileSync(join(project, path), text);
  };
  put('.git/HEAD', 'ref: refs/heads/main\n');
  put('.github/agents/explore.agent.md', '---\ndescription: Explores our way\n---\nLook.');
  put('packages/one/.groundcrew/agents/near.agent.md', '---\ndescription: Is near\n---\nBe near.');
  put(
    '.github/skills/far/SKILL.md',
    '---\nname: far\ndescription: Is far\nlicense: MIT\nmetadata:\n  owner: us\n---\nGo far.',
  );
  const run = async (...args: readonly string[]) => {
    const env = { PATH: process.env.PATH, HOME: home.path, GROUNDCREW_HOME: home.path };
    const options = { env, cwd: below };
    return (await promisify(execFile)(process.execPath, [runtimePath, ...args], options)).stdout;
  };
  const session = await client.createSession({ workingDirectory: below });
  const listed = (await session.agents.list()).map(({ name }) => name);
  const shown = JSON.parse(await run('agents', 'ls', '--json')) as readonly { name: string }[];
  expect(shown.map(({ name }) => name)).toEqual([...listed, 'task', 'general-purpose', 'code-review']);
  expect(listed).toEqual(['near', 'explore']);
  expect(await run('agents', 'show', 'explore')).toContain('explore: Explores our way\n');
  expect(await run('skills', 'ls')).toMatch(/^\* far +inherited +Is far$/m);
  expect(await run('skills', 'show', 'far')).toBe(
    `far: Is far\n${project}/.github/skills/far/SKILL.md (inherited)\nlicense MIT\nowner: us\n\nGo far.\n`,
  );
});

async function collect(events: AsyncIterable<SessionEvent>): Promise<readonly SessionEvent[]> {
  const all: SessionEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}
