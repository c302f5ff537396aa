import { resolve } from 'node:path';
import { explainInNewSession } from '@groundcrew/runtime';
import { homeDirectory } from '../config/home.js';
import { permissionsPath, readRulesFile } from '../config/permissions-file.js';
import { standingSandbox } from '../config/sandbox-choice.js';
import { entryOf, UnknownOption, UsageError } from '../flags/arguments.js';
import { choiceFlag, type FlagValues, switchFlag, textFlag } from '../flags/flags.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { visible } from '../terminal/visible.js';
import { asksForHelp, type Command, defineCommand, show } from './command.js';

type ExplainedCall = Parameters<typeof explainInNewSession>[0];

const checkFlags = {
  read: textFlag('--read', 'PATH', 'ask about reading a file or directory'),
  write: textFlag('--write', 'PATH', 'ask about writing a file'),
  url: textFlag('--url', 'URL', 'ask about fetching an address'),
  tool: textFlag('--tool', 'NAME', 'ask about a tool by its name'),
  cwd: textFlag('--cwd', 'DIR', 'where the session would work; default: the current directory'),
  mode: {
    ...choiceFlag('--mode', ['manual', 'assisted', 'allow-all'], 'the mode it would be in; default: manual'),
    placeholder: 'MODE',
  },
  json: switchFlag('--json', 'print it as JSON'),
};

const check = defineCommand({
  usage: [
    "groundcrew permissions check 'COMMAND' [--json]",
    'groundcrew permissions check --read PATH | --write PATH | --url URL | --tool NAME',
  ],
  summary: 'Says what would happen to a call in a new session here, and why; nothing is run',
  flags: checkFlags,
  notes:
    'Exit code 0: it would run. 3: a user would be asked. 1: it would be denied. 2: wrong usage, or a\npermissions.json with a mistake.',
  mostWords: 1,
  run: async ({ flags, words }, terminal) => {
    const explained = callIn(flags, words);
    const explanation = await explanationOf(explained, flags, terminal);
    const output = flags.json
      ? JSON.stringify(inJson(explained, explanation), undefined, 2)
      : inWords(explained, explanation);
    show(output, terminal);
    return codes[explanation.type];
  },
});

const subcommands: Readonly<Record<string, Command>> = { check };

/** `groundcrew permissions`: what may run. */
export const permissions: Command = {
  usage: ["groundcrew permissions check 'COMMAND'"],
  summary: 'Says what would happen to a command, file or address, and why',
  help: () => check.help(),
  start: async (argv, terminal) => {
    const [name = '', ...rest] = argv;
    const command = entryOf(subcommands, name);
    if (command) return command.start(rest, terminal);
    if (asksForHelp(argv)) return show(check.help(), terminal);
    if (name.startsWith('-')) throw new UnknownOption(name);
    throw new UsageError(`groundcrew permissions needs check${name === '' ? '' : `, not ${name}`}`);
  },
};

/** Neither yes nor no. */
const asked = 3;
const codes = { allow: exitCodes.done, ask: asked, deny: exitCodes.failed };

type Flags = FlagValues<typeof checkFlags>;

function callIn({ read, write, url, tool }: Flags, [command]: readonly string[]): ExplainedCall {
  const kinds: readonly (ExplainedCall | undefined)[] = [
    command === undefined ? undefined : { type: 'command', command },
    read === undefined ? undefined : { type: 'read', path: read },
    write === undefined ? undefined : { type: 'write', path: write },
    url === undefined ? undefined : { type: 'url', url },
    tool === undefined ? undefined : { type: 'tool', toolName: tool },
  ];
  const [explained, ...more] = kinds.filter((each) => each !== undefined);
  if (explained?.type === 'url' && !URL.canParse(explained.url))
    throw new UsageError(`--url needs an address, not ${explained.url}`);
  if (explained && more.length === 0) return explained;
  throw new UsageError(
    "groundcrew permissions check needs one thing to ask about: 'COMMAND', --read, --write, --url or --tool",
  );
}

/** Throws UsageError. */
async function explanationOf(
  explained: ExplainedCall,
  { cwd, mode }: Flags,
  terminal: Terminal,
): Promise<Explanation> {
  const home = homeDirectory(terminal.environment, { isHeadless: false });
  return explainInNewSession(explained, {
    homeDirectory: home,
    workingDirectory: resolve(terminal.workingDirectory, cwd ?? '.'),
    userRules: readRulesFile(permissionsPath(home)),
    sandbox: standingSandbox(terminal.environment, home) ?? {},
    environment: terminal.environment,
    ...(mode && { mode }),
  });
}

type Explanation = Awaited<ReturnType<typeof explainInNewSession>>;

const outcomes = { allow: 'runs', ask: 'asks', deny: 'denied' };

function inWords(explained: ExplainedCall, { type, because, reading, held, open }: Explanation): string {
  const lines = [`${outcomes[type]}: ${aboutOf(explained)}`, `because: ${because}`];
  for (const { identifier, readOnly } of reading?.commands ?? [])
    lines.push(`command: ${identifier}${readOnly ? ' (only reads)' : ''}`);
  for (const path of reading?.possiblePaths ?? []) lines.push(`path: ${path}`);
  for (const url of reading?.possibleUrls ?? []) lines.push(`address: ${url}`);
  for (const rule of held) lines.push(`held by the sandbox: ${rule}`);
  for (const rule of open) lines.push(`not held while it runs: ${rule}`);
  return lines.map(visible).join('\n');
}

function aboutOf(explained: ExplainedCall): string {
  switch (explained.type) {
    case 'command':
      return explained.command;
    case 'read':
    case 'write':
      return `${explained.type} ${explained.path}`;
    case 'url':
      return explained.url;
    case 'tool':
      return explained.toolName;
  }
}

function inJson(explained: ExplainedCall, { type, because, rule, reading, held, open }: Explanation) {
  return {
    verdict: type,
    because,
    ...(rule && { rule }),
    about: explained,
    ...(reading && {
      commands: reading.commands,
      paths: reading.possiblePaths,
      urls: reading.possibleUrls,
      problems: reading.problems,
      heldPaths: held,
      openPaths: open,
    }),
  };
}
