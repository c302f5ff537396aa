import { resolve } from 'node:path';
import { HostSkills } from '@groundcrew/runtime';
import { homeDirectory } from '../config/home.js';
import { entryOf, UsageError } from '../flags/arguments.js';
import { type FlagValues, switchFlag, textFlag } from '../flags/flags.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { visible } from '../terminal/visible.js';
import { asksForHelp, type Command, defineCommand, show } from './command.js';

const flags = {
  dir: textFlag('--dir', 'DIR', 'a directory with skills, as an app would name it'),
  cwd: textFlag('--cwd', 'DIR', 'the project; default: the current directory'),
  json: switchFlag('--json', 'print it as JSON'),
};

const ls = defineCommand({
  usage: ['groundcrew skills ls [--dir DIR] [--cwd DIR] [--json]'],
  summary: 'Lists the skills that a session here would have, in the order of precedence',
  flags,
  run: async ({ flags: given }, terminal) => {
    const { skills, errors } = await found(given, terminal);
    const rows = skills.map(({ name, source, enabled, path, description }) => ({
      name,
      source,
      enabled,
      path,
      description,
    }));
    for (const error of errors) terminal.errorOutput.write(`${visible(error)}\n`);
    if (given.json) return show(JSON.stringify(rows, undefined, 2), terminal);
    const width = Math.max(0, ...rows.map(({ name }) => name.length)) + 2;
    const lines = rows.map(
      ({ name, source, enabled, description }) =>
        `${enabled ? '*' : ' '} ${name.padEnd(width)}${source}  ${description.slice(0, 80)}`,
    );
    return show(lines.length === 0 ? 'There is no skill here' : lines.map(visible).join('\n'), terminal);
  },
});

const showOne = defineCommand({
  usage: ['groundcrew skills show NAME [--dir DIR] [--cwd DIR] [--json]'],
  summary: 'Prints a skill: where it is, what it says of itself, and its text',
  flags,
  mostWords: 1,
  run: async ({ flags: given, words }, terminal) => {
    const [name] = words;
    if (name === undefined) throw new UsageError('groundcrew skills show needs the name of a skill');
    const { host, skills: all } = await found(given, terminal);
    const skill = all.find((each) => each.name === name);
    if (!skill) {
      terminal.errorOutput.write(`There is no skill ${visible(name)} here: groundcrew skills ls\n`);
      return exitCodes.failed;
    }
    const body = await host.bodyOf(skill);
    const { shown: _, ...facts } = skill;
    if (given.json) return show(JSON.stringify({ ...facts, body }, undefined, 2), terminal);
    const { description, path, source, enabled, allowedTools = [], license, metadata = {} } = skill;
    const lines = [
      `${name}: ${description}`,
      `${path} (${source}${enabled ? '' : ', switched off'})`,
      ...(allowedTools.length > 0 ? [`written for the tools ${allowedTools.join(', ')}`] : []),
      ...(license === undefined ? [] : [`license ${license}`]),
      ...Object.entries(metadata).map(([field, value]) => `${field}: ${value}`),
      '',
      ...body.split('\n'),
    ];
    return show(lines.map(visible).join('\n'), terminal);
  },
});

const check = defineCommand({
  usage: ['groundcrew skills check [--dir DIR] [--cwd DIR] [--json]'],
  summary: 'Says what is wrong with the skills here, with file and line',
  flags,
  notes: 'Exit code 0: nothing is wrong. 1: some skill could not be loaded, or has a mistake.',
  run: async ({ flags: given }, terminal) => {
    const { skills, errors, warnings, notes } = await found(given, terminal);
    const isFine = errors.length + warnings.length === 0;
    const lines = [
      ...errors.map((error) => `error: ${error}`),
      ...warnings.map((warning) => `warning: ${warning}`),
      ...notes.map((note) => `note: ${note}`),
      `${skills.length} skills, ${errors.length} errors, ${warnings.length} warnings`,
    ];
    const text = given.json
      ? JSON.stringify({ skills: skills.length, errors, warnings, notes }, undefined, 2)
      : lines.map(visible).join('\n');
    show(text, terminal);
    return isFine ? exitCodes.done : exitCodes.failed;
  },
});

const subcommands: Readonly<Record<string, Command>> = { ls, show: showOne, check };

/** `groundcrew skills`: what is there for models to take up. */
export const skills: Command = {
  usage: ['groundcrew skills ls|show|check'],
  summary: 'Lists, shows and checks skills',
  help: () => [ls, showOne, check].map((command) => command.help()).join('\n'),
  start: async (argv, terminal) => {
    const [name = 'ls', ...rest] = argv;
    const command = entryOf(subcommands, name);
    if (command) return command.start(rest, terminal);
    if (asksForHelp(argv)) return show(skills.help(), terminal);
    throw new UsageError(`groundcrew skills needs ls, show or check, not ${name}`);
  },
};

async function found({ dir, cwd }: FlagValues<typeof flags>, { environment }: Terminal) {
  const host = new HostSkills(homeDirectory(environment, { isHeadless: false }));
  const discovered = await host.here(resolve(cwd ?? '.'), dir === undefined ? [] : [resolve(dir)]);
  return { host, ...discovered };
}
