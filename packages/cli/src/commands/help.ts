import { entryOf, UsageError } from '../flags/arguments.js';
import { headlessFlags } from '../flags/headless-arguments.js';
import { peerFlagNames } from '../flags/peer-flags.js';
import { type Command, defineCommand, show } from './command.js';

const environment: readonly (readonly [string, string])[] = [
  ['GROUNDCREW_HOME', 'where sessions, config.json and permissions.json are; default: ~/.groundcrew'],
  ['GROUNDCREW_MODEL', 'the model that answers'],
  ['GROUNDCREW_BASE_URL', 'a model service that speaks chat completions, with GROUNDCREW_API_KEY'],
  [
    'GROUNDCREW_NATS',
    'nats://… makes this runtime one of several nodes on that PostgreSQL; GROUNDCREW_LABELS has its labels',
  ],
  ['GROUNDCREW_STORE', 'postgres://… keeps all sessions in PostgreSQL; default: a file in the home'],
  ['GROUNDCREW_LOG', 'a file for diagnostics, as lines of JSON'],
];

/** `groundcrew help`: what there is, or one command in full. */
export function help(commands: Readonly<Record<string, () => Promise<Command>>>): Command {
  return defineCommand({
    usage: ['groundcrew help [command]'],
    summary: 'Lists the commands, or explains one',
    flags: {},
    mostWords: 1,
    run: async ({ words: [name] }, terminal) => {
      if (name === undefined) return show(await overview(commands), terminal);
      const load = entryOf(commands, name);
      if (!load) throw new UsageError(`Unknown command ${name}. Run groundcrew help to see what there is.`);
      return show((await load()).help(), terminal);
    },
  });
}

async function overview(commands: Readonly<Record<string, () => Promise<Command>>>): Promise<string> {
  const all = await Promise.all(Object.values(commands).map((load) => load()));
  const rows = all.map(({ usage, summary }) => [usage[0] ?? '', summary] as const);
  return [
    'groundcrew: an agent-session runtime',
    '',
    ...table(rows),
    '',
    'groundcrew --version prints the version; groundcrew COMMAND --help explains a command, groundcrew help chat the conversation.',
    'Settings: flags, then the environment, then config.json in the home.',
    '',
    ...table(environment),
    '',
    'For clients of the session protocol: groundcrew --headless [--stdio | --port N] [flags]',
    '',
    ...table(headlessFlags),
    '',
    'Flags of the Copilot CLI that are accepted for compatibility, by --headless, -p and chat; without effect unless the command lists them:',
    '',
    ...wrapped(peerFlagNames.accepted),
    '',
    'Those that protect are refused, with what to do instead:',
    '',
    ...wrapped(peerFlagNames.refused),
    '',
  ].join('\n');
}

/** Words in lines of a usual width. */
function wrapped(words: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const word of words) {
    const line = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && line.length <= 98) lines[lines.length - 1] = line;
    else lines.push(`  ${word}`);
  }
  return lines;
}

function table(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`);
}
