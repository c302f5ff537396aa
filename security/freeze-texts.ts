import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LiveRuntime, say, type WireSession } from '@groundcrew/testkit';
import type { FreezeCase } from './freeze-case.js';

/** Each of these was read once for every part of it. */
export const freezeTexts: readonly FreezeCase[] = [
  {
    name: 'logs collected of a prompt of many dots',
    prepare: async (runtime) => {
      const { session } = await runtime.session([say('x')]);
      await session.turn('a.'.repeat(100_000));
      const outputDirectory = folder(runtime, 'collected');
      return () =>
        session.call('session.debug.collectLogs', { destination: { kind: 'directory', outputDirectory } });
    },
  },
  {
    name: 'a header that begins many variables and ends none',
    prepare: async (runtime) => {
      const model = runtime.script(say('x'));
      const provider = {
        baseUrl: model.baseUrl,
        apiKey: 'k',
        headers: { 'x-odd': '$'.concat('{A:-').repeat(100_000) },
      };
      const session = await runtime.client.create({ model: 'scripted', provider });
      return () => session.turn('Hi');
    },
  },
  {
    name: 'a file of a project with thousands of MCP servers',
    prepare: async (runtime) => {
      const workingDirectory = folder(runtime, 'servers');
      const servers = Array.from({ length: 9000 }, (_, n) => [`s${n}`, { command: 'no' }]);
      writeFileSync(
        join(workingDirectory, '.mcp.json'),
        JSON.stringify({ mcpServers: Object.fromEntries(servers) }),
      );
      return () => runtime.client.call('mcp.discover', { workingDirectory });
    },
  },
  {
    name: 'a form of thousands of choices that are all chosen',
    prepare: async (runtime) => {
      const choices = Array.from({ length: 24_000 }, (_, n) => `choice ${n}`);
      const items = { type: 'string', enum: choices };
      const properties = { all: { type: 'array', items, default: choices.toReversed(), maxItems: 1 } };
      const { session } = await runtime.session([say('x')], { requestElicitation: true });
      const form = { message: 'Which?', requestedSchema: { type: 'object', properties } };
      return async () => {
        const { message } = await session.failure('session.ui.elicitation', form);
        if (!/at most 1 choices/.test(String(message)))
          throw new Error(`another failure: ${String(message)}`);
      };
    },
  },
  {
    name: 'thousands of files of instructions',
    prepare: async (runtime) => {
      const workingDirectory = folder(runtime, 'instructed');
      const directory = folder(runtime, 'instructed/.github/instructions');
      for (let n = 0; n < 2000; n += 1)
        writeFileSync(join(directory, `${n}.instructions.md`), `---\napplyTo: "**/*.ts"\n---\nBe good.`);
      const { session } = await runtime.session([say('x'), say('y')], { workingDirectory });
      return async () => {
        await session.turn('Hi');
        await session.turn('Again');
      };
    },
  },
  {
    name: 'skills, agents, hooks and instructions of more projects than anyone has',
    prepare: async (runtime) => {
      const projectPaths = Array.from({ length: 40_000 }, (_, n) => `project-${n}`);
      const methods = ['skills', 'agents', 'instructions'].flatMap((of) => [
        `${of}.discover`,
        `${of}.getDiscoveryPaths`,
      ]);
      return async () => {
        for (const method of [...methods, 'hooks.discover']) {
          const { message } = await runtime.client.failure(method, { projectPaths });
          if (!/At most 200 directories/.test(String(message)))
            throw new Error(`${method}: ${String(message)}`);
          await runtime.client.call(method, { projectPaths: projectPaths.slice(0, 200) });
        }
      };
    },
  },
  {
    name: 'a search for one word many times, and for many words',
    prepare: async (runtime) => {
      const { session } = await runtime.session([say('x')]);
      await session.turn('a b '.repeat(8000));
      const many = Array.from({ length: 8000 }, (_, n) => `a w${n}`).join(' ');
      return async () => {
        for (const query of ['a '.repeat(2000), many, '你'.repeat(100_000), 'x'.repeat(1_000_000)])
          await runtime.client.call('sessions.search', { query });
      };
    },
  },
  {
    name: 'a compaction of a prompt that begins many notices and reminders and ends none',
    prepare: async (runtime) => {
      const { session } = await runtime.session([say('x'), say('y'), say('<overview>short</overview>')]);
      await session.turn(
        `${'<tools_changed_notice>'.repeat(10_000)}${'<system_reminder>'.repeat(8_000)}</system_reminder>x`,
      );
      await session.turn('more');
      return () => compacts(session);
    },
  },
  {
    name: 'a summary that begins many titles and ends none',
    prepare: async (runtime) => {
      const summary = say('<checkpoint_title>'.repeat(100_000));
      const { session } = await runtime.session([say('x'), say('y'), summary]);
      await session.turn('Hello');
      await session.turn('more');
      return () => compacts(session);
    },
  },
  {
    name: 'hundreds of agents with settings as long and as deep as they get',
    prepare: async (runtime) => {
      const workingDirectory = folder(runtime, 'agents');
      const directory = folder(runtime, 'agents/.github/agents');
      const keys = Array.from({ length: 1800 }, (_, n) => `k${n}: 1`).join('\n');
      const settings = ['['.repeat(16_000), '{a: '.repeat(4000), '- '.repeat(8000), `x\n${keys}`];
      for (let n = 0; n < 200; n += 1)
        writeFileSync(
          join(directory, `a${n}.agent.md`),
          `---\nname: a${n}\ndescription: ${settings[n % 4]}\n---\nx`,
        );
      return async () => {
        const projectPaths = [workingDirectory];
        const { agents, errors } = await runtime.client.call('agents.discover', { projectPaths });
        const counts = [agents, errors].map((each) => (Array.isArray(each) ? each.length : 0));
        // Of each agent that could be read 20 fields are named, and the others counted.
        if (counts.join() !== '50,1200') throw new Error(`agents and errors: ${counts.join()}`);
      };
    },
  },
];

async function compacts(session: WireSession): Promise<void> {
  const answer = await session.failure('session.history.compact', {});
  const { success } = { ...(answer.result as { success?: boolean } | undefined) };
  if (success !== true) throw new Error(`another answer: ${JSON.stringify(answer).slice(0, 300)}`);
}

function folder(runtime: LiveRuntime, name: string): string {
  const path = join(runtime.workingDirectory, name);
  mkdirSync(path, { recursive: true });
  return path;
}
