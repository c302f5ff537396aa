import { resolve } from 'node:path';
import { HostAgents } from '@groundcrew/runtime';
import { homeDirectory } from '../config/home.js';
import { entryOf, UsageError } from '../flags/arguments.js';
import { type FlagValues, switchFlag, textFlag } from '../flags/flags.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { visible } from '../terminal/visible.js';
import { asksForHelp, type Command, defineCommand, show } from './command.js';

const flags = {
  cwd: textFlag('--cwd', 'DIR', 'the project; default: the current directory'),
  json: switchFlag('--json', 'print it as JSON'),
};

const ls = defineCommand({
  usage: ['groundcrew agents ls [--cwd DIR] [--json]'],
  summary: 'Lists the agents that a session here would have, in the order of precedence',
  flags,
  notes: 'Exit code 0. 1: some file describes no agent; stderr says which, with its line and the reason.',
  run: async ({ flags: given }, terminal) => {
    const { agents, problems } = await found(given, terminal);
    for (const problem of problems) terminal.errorOutput.write(`${visible(problem)}\n`);
    const code = problems.length === 0 ? exitCodes.done : exitCodes.failed;
    const rows = agents.map(({ prompt: _, ...agent }) => agent);
    if (given.json) show(JSON.stringify(rows, undefined, 2), terminal);
    else {
      const width = Math.max(0, ...rows.map(({ name }) => name.length)) + 2;
      const lines = rows.map(
        ({ name, source = '', description }) =>
          `${name.padEnd(width)}${source.padEnd(9)}${description.slice(0, 80)}`,
      );
      show(lines.map(visible).join('\n'), terminal);
    }
    return code;
  },
});

const showOne = defineCommand({
  usage: ['groundcrew agents show NAME [--cwd DIR] [--json]'],
  summary: 'Prints an agent: where it is, what it may use and take, and its prompt',
  flags,
  mostWords: 1,
  run: async ({ flags: given, words }, terminal) => {
    const [name] = words;
    if (name === undefined) throw new UsageError('groundcrew agents show needs the name of an agent');
    const { agents } = await found(given, terminal);
    const agent = agents.find((each) => each.name === name);
    if (!agent) {
      terminal.errorOutput.write(`There is no agent ${visible(name)} here: groundcrew agents ls\n`);
      return exitCodes.failed;
    }
    if (given.json) return show(JSON.stringify(agent, undefined, 2), terminal);
    const { description, path, source, tools, skills = [], model, limits, prompt = '' } = agent;
    const lines = [
      `${name}: ${description}`,
      path === undefined ? `(${source})` : `${path} (${source})`,
      tools ? `tools: ${tools.join(', ')}` : 'all tools',
      ...(skills.length > 0 ? [`skills: ${skills.join(', ')}`] : []),
      ...(model === undefined ? [] : [`model: ${model}`]),
      ...(limits ? [`limits: ${JSON.stringify(limits)}`] : []),
      '',
      ...prompt.split('\n'),
    ];
    return show(lines.map(visible).join('\n'), terminal);
  },
});

const subcommands: Readonly<Record<string, Command>> = { ls, show: showOne };

/** `groundcrew agents`: lists agents that can lead a session, and those that it may start as sub-agents. */
export const agents: Command = {
  usage: ['groundcrew agents ls|show'],
  summary: 'Lists and shows agents',
  help: () => [ls, showOne].map((command) => command.help()).join('\n'),
  start: async (argv, terminal) => {
    const [name = 'ls', ...rest] = argv;
    const command = entryOf(subcommands, name);
    if (command) return command.start(rest, terminal);
    if (asksForHelp(argv)) return show(agents.help(), terminal);
    throw new UsageError(`groundcrew agents needs ls or show, not ${name}`);
  },
};

function found({ cwd }: FlagValues<typeof flags>, { environment }: Terminal) {
  const host = new HostAgents(homeDirectory(environment, { isHeadless: false }));
  return host.here(resolve(cwd ?? '.'));
}
