import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime, providerOf, type RuleModel, say as replies } from '@groundcrew/testkit';
import { afterAll, expect, test } from 'vitest';
import { agentModel, begin, call, lastWord, say } from './agent-world.js';
import { isAlive, testServer, until } from './mcp-world.js';

const runtime = liveRuntime();
const models: RuleModel[] = [];
afterAll(() => Promise.all(models.map((model) => model.close())));

/** A server that notes its process, and agents of whom one has it. */
function described(name: string) {
  const pidFile = join(runtime.home.path, `${name}.pid`);
  const script = join(runtime.home.path, `${name}.sh`);
  const { command, args } = testServer({ tools: ['look'] });
  writeFileSync(script, `echo $$ > ${pidFile}\nexec ${command} '${args[0]}' '${args[1]}'\n`);
  const server = { command: 'sh', args: [script], tools: ['*'] };
  const customAgents = [
    { name: 'served', description: 'Has a server', prompt: 'Look.', mcpServers: { own: server } },
    { name: 'plain', description: 'Has none', prompt: 'Look.' },
  ];
  return { customAgents, pid: () => Number(readFileSync(pidFile, 'utf8')) };
}

test('a sub-agent has servers of its own, no other agent has them, and they end with it', async () => {
  const { customAgents, pid } = described('worker');
  const { model } = await agentModel({
    ROOT: ({ results }) => {
      if (results.length === 0) return begin(['SERVED'], { agent_type: 'served' });
      if (results.length === 1) return begin(['PLAIN'], { agent_type: 'plain' });
      return results.length === 2 ? call('own-look', {}, 'r1') : say(results.join(' | '));
    },
    SERVED: ({ results }) =>
      results.length === 0 ? call('own-look', {}, 's1') : say(`served: ${results[0]}`),
    PLAIN: ({ results }) => (results.length === 0 ? call('own-look', {}, 'p1') : say(`plain: ${results[0]}`)),
  });
  models.push(model);
  const session = await runtime.client.create({ ...model.settings, customAgents });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  const said = lastWord(await session.turn('ROOT go')).split(' | ');
  expect(said[0]).toMatch(/^served: (?!Tool)/);
  expect(said[1]).toMatch(/^plain: Tool 'own-look' does not exist/);
  expect(said[2]).toMatch(/^Tool 'own-look' does not exist/);
  await until(() => !isAlive(pid()));
  const { servers } = await session.call<{ servers: { name: string }[] }>('session.mcp.list');
  expect(servers.map(({ name }) => name)).not.toContain('own');
  expect(session.events.filter(({ type }) => type === 'session.warning')).toEqual([]);
  expect(model.refusals).toEqual([]);
});

test('the servers of an agent that leads are there from the next message on, and end when another leads', async () => {
  const { customAgents, pid } = described('leader');
  const model = runtime.script(replies('one'), replies('two'), replies('three'));
  const session = await runtime.client.create({ ...providerOf(model), customAgents });
  const toolsAt = (index: number) =>
    (model.requests[index]?.body.tools ?? [])
      .map(({ function: { name } }) => name)
      .filter((name) => name.startsWith('own'));
  await session.turn('One');
  await session.call('session.agent.select', { name: 'served' });
  await session.turn('Two');
  expect(isAlive(pid())).toBe(true);
  await session.call('session.agent.deselect');
  await session.turn('Three');
  expect([toolsAt(0), toolsAt(1), toolsAt(2)]).toEqual([[], ['own-look'], []]);
  await until(() => !isAlive(pid()));
});

test('the servers of an agent end with the session', async () => {
  const { customAgents, pid } = described('closed');
  const model = runtime.script(replies('one'));
  const session = await runtime.client.create({ ...providerOf(model), customAgents, agent: 'served' });
  await session.turn('One');
  expect(isAlive(pid())).toBe(true);
  await session.call('session.destroy');
  await until(() => !isAlive(pid()));
});

test('an agent names tools of a server as server/tool', async () => {
  const [served] = described('named').customAgents;
  const { model } = await agentModel({
    ROOT: ({ results }) => {
      if (results.length === 0) return begin(['ONE'], { agent_type: 'one' });
      return results.length === 1 ? begin(['NONE'], { agent_type: 'none' }) : say(results.join(' | '));
    },
    ONE: ({ results }) => (results.length === 0 ? call('own-look', {}, 's1') : say(String(results[0]))),
    NONE: ({ results }) => (results.length === 0 ? call('own-look', {}, 's1') : say(String(results[0]))),
  });
  models.push(model);
  const customAgents = [
    { ...served, name: 'one', tools: ['own/look'] },
    { ...served, name: 'none', tools: ['view'] },
  ];
  const session = await runtime.client.create({ ...model.settings, customAgents });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  const [one, none] = lastWord(await session.turn('ROOT go')).split(' | ');
  expect(one).not.toContain('does not exist');
  expect(none).toContain("Tool 'own-look' does not exist");
});
