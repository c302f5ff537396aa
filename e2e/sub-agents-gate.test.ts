import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime, type RuleModel } from '@groundcrew/testkit';
import { afterAll, describe, expect, test } from 'vitest';
import { agentModel, begin, beginAndReport, call, lastWord, say } from './agent-world.js';
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

const bash = (command: string, id = 'b1') => call('bash', { command, description: 'x' }, id);
const target = (name: string) => join(runtime.workingDirectory, name);

/** An agent that runs a command, one of its own that does, too, and what both read. */
const nested = (command: string) => ({
  ROOT: beginAndReport(['OUTER']),
  OUTER: ({ results }: { results: readonly string[] }) => {
    if (results.length === 0) return bash(command, 'b1');
    return results.length === 1 ? begin(['INNER']) : say(results.join(' / '));
  },
  INNER: ({ results }: { results: readonly string[] }) =>
    results.length === 0 ? bash(command, 'b2') : say(results.join('')),
});

describe('a sub-agent passes the gate of its parent', () => {
  test('hooks of the client see its calls, deny them, and change what they ask for', async () => {
    const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }));
    const invoked = hooked(client, {
      preToolUse: ({ toolName, toolArgs }) => {
        if (toolName !== 'bash') return undefined;
        const { command } = JSON.parse(typeof toolArgs === 'string' ? toolArgs : JSON.stringify(toolArgs));
        return command.includes('denied')
          ? { permissionDecision: 'deny', permissionDecisionReason: 'no' }
          : undefined;
      },
    });
    const { model } = await agentModel(nested(`touch ${target('denied.txt')}`));
    models.push(model);
    const session = await client.create({ ...model.settings, hooks: true });
    await session.call('session.permissions.setApproveAll', { enabled: true });
    const said = lastWord(await session.turn('ROOT go'));
    expect(said).toBe('Root: Denied by preToolUse hook: no / Denied by preToolUse hook: no');
    expect(existsSync(target('denied.txt'))).toBe(false);
    const agents = new Set(inputsOf(invoked, 'preToolUse').map(({ sessionId }) => sessionId));
    expect(agents.size).toBe(3);
  });

  test('hooks that fail deny, in every agent', async () => {
    const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }));
    hooked(client, {
      preToolUse: ({ toolName }) => {
        if (toolName === 'bash') throw new Error('broken');
        return undefined;
      },
    });
    const { model } = await agentModel(nested(`touch ${target('unguarded.txt')}`));
    models.push(model);
    const session = await client.create({ ...model.settings, hooks: true });
    await session.call('session.permissions.setApproveAll', { enabled: true });
    await session.turn('ROOT go');
    expect(existsSync(target('unguarded.txt'))).toBe(false);
  });

  test('what was approved once is asked again in the next agent, what was approved for the session is not', async () => {
    const { session } = await world(nested(`touch ${target('asked.txt')}`));
    await session.send('ROOT go');
    const first = await session.next('permission.requested');
    await session.decide(first.data.requestId, { kind: 'approve-once' });
    const second = await session.next('permission.requested');
    expect(second.data.requestId).not.toBe(first.data.requestId);
    const { permissionRequest } = second.data;
    const identifiers = (permissionRequest as { commands?: { identifier: string }[] }).commands ?? [];
    await session.decide(second.data.requestId, {
      kind: 'approve-for-session',
      approval: { kind: 'commands', commandIdentifiers: identifiers.map(({ identifier }) => identifier) },
    });
    await session.next('session.idle');
    rmSync(target('asked.txt'), { force: true });
    const asked = session.events.filter(({ type }) => type === 'permission.requested').length;
    expect(asked).toBe(2);
  });

  test('what was approved for the session by the root holds for its agents, and the other way round', async () => {
    const command = `touch ${target('both.txt')}`;
    const { session } = await world({
      ROOT: ({ results }) => {
        if (results.length === 0) return bash(command);
        return results.length === 1 ? begin(['OUTER']) : say('Root done');
      },
      OUTER: ({ results }) => (results.length === 0 ? bash(command) : say('ok')),
    });
    await session.send('ROOT go');
    const { data } = await session.next('permission.requested');
    const { commands = [] } = data.permissionRequest as { commands?: { identifier: string }[] };
    await session.decide(data.requestId, {
      kind: 'approve-for-session',
      approval: { kind: 'commands', commandIdentifiers: commands.map(({ identifier }) => identifier) },
    });
    await session.next('session.idle');
    expect(session.events.filter(({ type }) => type === 'permission.requested')).toHaveLength(1);
    expect(existsSync(target('both.txt'))).toBe(true);
  });

  test('plan mode holds back what it would change, however deep', async () => {
    const { session } = await world(nested(`touch ${target('planned.txt')}`));
    await session.call('session.permissions.setApproveAll', { enabled: true });
    await session.call('session.mode.set', { mode: 'plan' });
    const said = lastWord(await session.turn('ROOT go'));
    expect(said.match(/The call of bash was not run: the session is in plan mode/g)).toHaveLength(2);
    expect(existsSync(target('planned.txt'))).toBe(false);
  });

  test('plan mode that begins while an agent works holds its next call back', async () => {
    const { session } = await world({
      ROOT: beginAndReport(['OUTER'], { mode: 'background' }),
      OUTER: ({ results }) =>
        results.length < 2
          ? bash(`touch ${target(`later-${results.length}`)}`, `b${results.length}`)
          : say('x'),
    });
    await session.send('ROOT go');
    const first = await session.next('permission.requested');
    await session.call('session.mode.set', { mode: 'plan' });
    await session.decide(first.data.requestId, { kind: 'approve-once' });
    await session.next('session.idle');
    expect(existsSync(target('later-1'))).toBe(false);
  });

  test('rules of the home deny', async () => {
    const rules = join(runtime.home.path, 'permissions.json');
    writeFileSync(rules, JSON.stringify({ deny: [{ command: 'touch' }] }));
    const { session } = await world(nested(`touch ${target('ruled.txt')}`));
    await session.call('session.permissions.setMode', { mode: 'allow-all' });
    const said = lastWord(await session.turn('ROOT go'));
    rmSync(rules);
    expect(said.match(/Permission denied by rules/g)).toHaveLength(2);
    expect(existsSync(target('ruled.txt'))).toBe(false);
  });

  test('tools that the app excludes, and those that an agent does not name, it cannot call', async () => {
    const command = `touch ${target('excluded.txt')}`;
    const { session } = await world(
      {
        ROOT: ({ results }) =>
          results.length === 0 ? begin(['OUTER'], { agent_type: 'reader' }) : say(`Root: ${results}`),
        OUTER: ({ results }) => {
          if (results.length === 0) return bash(command);
          if (results.length === 1) return call('view', { path: target('none') }, 'v1');
          return results.length === 2
            ? call('task', { name: 'x', prompt: 'INNER', agent_type: 'task', description: 'x' }, 't1')
            : say(results.join(' / '));
        },
        INNER: () => say('never'),
      },
      {
        excludedTools: ['view'],
        customAgents: [{ name: 'reader', prompt: 'Read.', description: 'Reads', tools: ['view', 'grep'] }],
      },
    );
    await session.call('session.permissions.setApproveAll', { enabled: true });
    const said = lastWord(await session.turn('ROOT go'));
    expect(said).toMatch(
      /Tool 'bash' does not exist.*Tool 'view' does not exist.*Tool 'task' does not exist/s,
    );
    expect(existsSync(target('excluded.txt'))).toBe(false);
  });

  test('an agent that is disabled, or not to be chosen, cannot be begun by any name', async () => {
    const { session } = await world(
      {
        ROOT: ({ results }) =>
          results.length === 0
            ? {
                calls: ['hidden', 'explore', 'general-purpose', '__proto__'].map((agent, index) => ({
                  id: `t${index}`,
                  name: 'task',
                  arguments: { name: 'x', prompt: 'SUB', agent_type: agent, description: 'x', mode: 'sync' },
                })),
              }
            : say(results.map((text) => (text === 'begun' ? text : 'refused')).join(' ')),
        SUB: () => say('begun'),
      },
      {
        customAgents: [{ name: 'hidden', prompt: 'x', description: 'x', infer: false }],
        excludedBuiltinAgents: ['explore'],
        subagents: { disabledSubagents: ['general-purpose'] },
      },
    );
    expect(lastWord(await session.turn('ROOT go'))).toBe('refused refused refused refused');
    expect(await session.call('session.agent.select', { name: 'hidden' })).toMatchObject({
      agent: { name: 'hidden' },
    });
  });
});

test('headers of a prompt go with agents that are waited for, and not with those in the background', async () => {
  const { session, headers } = await world({
    ROOT: ({ results, messages }) => {
      if (results.length === 0)
        return {
          calls: [...(begin(['FORE']).calls ?? []), ...(begin(['BACK'], { mode: 'background' }).calls ?? [])],
        };
      return say(`Root ${messages.length}`);
    },
    FORE: ({ results }) => (results.length === 0 ? begin(['DEEP']) : say('fore')),
    BACK: ({ results }) => (results.length === 0 ? begin(['BELOW']) : say('back')),
    DEEP: () => say('deep'),
    BELOW: () => say('below'),
  });
  await session.turn('ROOT go', { requestHeaders: { 'x-turn': 'secret' } });
  const sent = (name: string) => [...new Set(headers[name]?.map((each) => each['x-turn']))];
  expect({ fore: sent('FORE'), deep: sent('DEEP'), back: sent('BACK'), below: sent('BELOW') }).toEqual({
    fore: ['secret'],
    deep: ['secret'],
    back: [undefined],
    below: [undefined],
  });
});

test('a working directory stays the session’s in every agent', async () => {
  const workingDirectory = join(runtime.home.path, 'elsewhere');
  mkdirSync(workingDirectory, { recursive: true });
  const { session } = await world(nested('pwd'), { workingDirectory });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  expect(lastWord(await session.turn('ROOT go')).match(/elsewhere/g)).toHaveLength(2);
});
